import * as vscode from 'vscode';
import type { HostConsent } from '../../agent/session/tools/web/fetchPage.ts';
import { showInfo } from '../toast.ts';

/** Under which the hosts of this workspace are kept: not in its settings, which anyone may write who writes its files. */
const HERE = 'redline.fetchHosts';

/** The hosts that the user's settings name. */
interface UserHosts {
  readonly fetchHosts: readonly string[];
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

  /** The hosts that are allowed in this workspace for good. */
  get here(): readonly string[] {
    const stored: unknown = this.#memory.get(HERE);
    return Array.isArray(stored) ? stored.filter(each => typeof each === 'string') : [];
  }

  /** Asks anew about every host that was allowed, and says so. */
  async forget(): Promise<void> {
    this.#inSession.clear();
    await this.#memory.update(HERE, undefined);
    void showInfo(vscode.l10n.t('The agent asks again before it reads from a host.'));
  }

  async #ask(host: string, url: string, signal: AbortSignal): Promise<boolean> {
    const sessionId = this.#sessionId();
    if (this.here.includes(host) || this.#inSession.get(sessionId)?.has(host)) return true;
    const { askForHost } = await import('./askForHost.ts');
    const answer = await askForHost(host, url);
    // What was asked for is over; the answer may have been meant for it alone.
    if (signal.aborted) return false;
    if (answer === 'session')
      this.#inSession.set(sessionId, (this.#inSession.get(sessionId) ?? new Set()).add(host));
    if (answer === 'always') await this.#memory.update(HERE, [...new Set([...this.here, host])]);
    return answer !== undefined;
  }
}
