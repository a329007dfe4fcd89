import * as vscode from 'vscode';
import { Emitter, type Event } from '../../agent/base/event.ts';
import type { HostConsent } from '../../agent/session/tools/web/fetchPage.ts';
import { showInfo } from '../toast.ts';

/** Under which the hosts of this workspace are kept: not in its settings, which anyone may write who writes its files. */
const HERE = 'redline.fetchHosts';

/** The hosts that the user's settings name. */
interface UserHosts {
  readonly fetchHosts: readonly string[];
}

/** For how long the user lets the model read from a host; `undefined`: not at all. */
export type Allowed = 'once' | 'session' | 'always' | undefined;

/** A question to the user. */
export interface HostQuestion {
  readonly id: number;
  readonly host: string;
  /** The whole address, which the host would get. */
  readonly url: string;
}

/** Asks the user which hosts the model may read, and remembers the answers as long as they hold. */
export class HostConsents implements HostConsent {
  readonly #memory: vscode.Memento;
  readonly #settings: UserHosts;
  readonly #sessionId: () => string;
  /** The hosts that were allowed for a conversation, by its id, until the window closes. */
  readonly #inSession = new Map<string, Set<string>>();
  /** The question that is open; the next one waits for it. */
  #asking: Promise<unknown> = Promise.resolve();

  #question: (HostQuestion & { readonly answer: (allowed: Allowed) => void }) | undefined;
  #asked = 0;
  readonly #changed = new Emitter<void>();

  /** Fires when a question is asked, answered or dropped. */
  readonly onDidChange: Event<void> = this.#changed.event;

  /** @param sessionId gives the id of the conversation that is open. */
  constructor(memory: vscode.Memento, settings: UserHosts, sessionId: () => string) {
    this.#memory = memory;
    this.#settings = settings;
    this.#sessionId = sessionId;
  }

  readonly isAvailable = (): boolean => vscode.workspace.isTrusted;

  readonly isNamed = (host: string): boolean =>
    this.#settings.fetchHosts.some(named => named.trim().toLowerCase() === host);

  readonly ask = (host: string, url: string, signal: AbortSignal): Promise<boolean> => {
    const answer = this.#asking.then(() => (signal.aborted ? false : this.#ask(host, url, signal)));
    this.#asking = answer.catch(() => undefined);
    return answer;
  };

  /** The hosts that are always allowed in this workspace. */
  get here(): readonly string[] {
    const stored: unknown = this.#memory.get(HERE);
    return Array.isArray(stored) ? stored.filter(each => typeof each === 'string') : [];
  }

  /** Asks again about every host that was allowed, and says so. */
  async forget(): Promise<void> {
    this.#inSession.clear();
    await this.#memory.update(HERE, undefined);
    void showInfo(vscode.l10n.t('The agent asks again before it reads from a host.'));
  }

  async #ask(host: string, url: string, signal: AbortSignal): Promise<boolean> {
    const sessionId = this.#sessionId();
    if (this.here.includes(host) || this.#inSession.get(sessionId)?.has(host)) return true;
    const answer = await this.#answerTo(host, url, signal);
    // The request is over; the answer may have been meant for it alone.
    if (signal.aborted) return false;
    if (answer === 'session')
      this.#inSession.set(sessionId, (this.#inSession.get(sessionId) ?? new Set()).add(host));
    if (answer === 'always') await this.#memory.update(HERE, [...new Set([...this.here, host])]);
    return answer !== undefined;
  }

  /** The question that waits for the user. */
  get question(): HostQuestion | undefined {
    return this.#question;
  }

  /** The user answers the question, if it is still the one with this id. */
  answer(id: number, allowed: Allowed): void {
    if (this.#question?.id === id) this.#question.answer(allowed);
  }

  #answerTo(host: string, url: string, signal: AbortSignal): Promise<Allowed> {
    return new Promise(resolve => {
      const answer = (allowed: Allowed): void => {
        signal.removeEventListener('abort', drop);
        this.#question = undefined;
        this.#changed.fire();
        resolve(allowed);
      };
      const drop = (): void => answer(undefined);
      signal.addEventListener('abort', drop);
      this.#question = { id: ++this.#asked, host, url, answer };
      this.#changed.fire();
    });
  }
}
