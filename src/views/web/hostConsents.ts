import * as vscode from 'vscode';
import { stringsIn } from '../../agent/base/json.ts';
import type { Questions } from '../questions.ts';
import { showInfo } from '../toast.ts';

/** Storage key of this workspace's hosts: no setting, since anyone who writes its files can write its settings. */
const HERE = 'redline.fetchHosts';

/** Asks the user which hosts the model may read, and remembers the answers as long as they hold. */
export class HostConsents {
  readonly #memory: vscode.Memento;
  readonly #questions: Questions;
  readonly #sessionId: () => string;
  /** The hosts that were allowed for a conversation, by its id, until the window closes. */
  readonly #inSession = new Map<string, Set<string>>();
  /** The last request for a host; the next one waits for it, since its answer may hold for both. */
  #last: Promise<unknown> = Promise.resolve();

  /** @param sessionId gives the id of the conversation that is open. */
  constructor(memory: vscode.Memento, questions: Questions, sessionId: () => string) {
    this.#memory = memory;
    this.#questions = questions;
    this.#sessionId = sessionId;
  }

  /** Whether the model may read from the host; see `HostConsent`. */
  ask(host: string, url: string, signal: AbortSignal): Promise<boolean> {
    const isAllowed = this.#last.then(() => this.#ask(host, url, signal));
    this.#last = isAllowed.catch(() => undefined);
    return isAllowed;
  }

  /** Forgets every allowed host, so that the agent asks again, and tells the user. */
  async forget(): Promise<void> {
    this.#inSession.clear();
    await this.#memory.update(HERE, undefined);
    void showInfo(vscode.l10n.t('The agent asks again before it reads from a host.'));
  }

  /** The hosts that are always allowed in this workspace. */
  get #here(): readonly string[] {
    const stored: unknown = this.#memory.get(HERE);
    return stringsIn(stored);
  }

  async #ask(host: string, url: string, signal: AbortSignal): Promise<boolean> {
    const sessionId = this.#sessionId();
    if (this.#here.includes(host) || this.#inSession.get(sessionId)?.has(host)) return true;
    const answer = await this.#questions.ask({ about: 'host', host, url }, signal);
    // The request is over; the answer may have been meant for it alone.
    if (signal.aborted) return false;
    if (answer === 'session')
      this.#inSession.set(sessionId, (this.#inSession.get(sessionId) ?? new Set()).add(host));
    if (answer === 'always') await this.#memory.update(HERE, [...new Set([...this.#here, host])]);
    return answer === 'once' || answer === 'session' || answer === 'always';
  }
}
