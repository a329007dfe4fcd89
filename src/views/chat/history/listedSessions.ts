import type { SessionLogs } from '../../../agent/session/conversation/storage/sessionLogs.ts';
import type { SessionSummary } from '../../../agent/session/conversation/storage/sessionSummary.ts';
import type { Session } from '../../../agent/session/session.ts';

/** The most sessions that the view lists; *Open Session…* offers all. */
const MAX_LISTED = 100;

/** A session as the History view lists it. */
export interface ListedSession extends SessionSummary {
  readonly id: string;
  readonly isOpen: boolean;
  /** `undefined` for the open one while it has no log. */
  readonly usedAt: Date | undefined;
}

/** Lists the stored sessions. The summary of a log is read again only when the log has changed. */
export class ListedSessions {
  readonly #sessions: SessionLogs;
  readonly #session: Session;
  readonly #known = new Map<string, { readonly stamp: string; readonly summary: SessionSummary }>();

  constructor(sessions: SessionLogs, session: Session) {
    this.#sessions = sessions;
    this.#session = session;
  }

  /**
   * The open session, then the others, most recently used first. Unreadable logs are left out. @throws as `SessionLogs.list` does.
   */
  async list(): Promise<readonly ListedSession[]> {
    const files = (await this.#sessions.list()).slice(0, MAX_LISTED);
    const others: ListedSession[] = [];
    for (const { id, usedAt, bytes } of files) {
      if (id === this.#session.id) continue;
      const summary = await this.#summaryOf(id, `${usedAt.getTime()} ${bytes}`).catch(() => undefined);
      if (summary) others.push({ id, usedAt, isOpen: false, ...summary });
    }
    const open = this.#open(files.find(({ id }) => id === this.#session.id)?.usedAt);
    return this.#session.tree.size === 0 ? others : [open, ...others];
  }

  #open(usedAt: Date | undefined): ListedSession {
    const { id, title, tree } = this.#session;
    const roles = tree.trunk.map(node => tree.roleOf(node));
    const first = tree.trunk[roles.findIndex(role => role === 'user' || role === 'local')];
    const message = first === undefined ? undefined : tree.get(first)?.message;
    const firstWords = message && 'text' in message ? message.text : '';
    const messages = roles.filter(role => role === 'user' || role === 'assistant').length;
    return { id, title, firstWords, usedAt, isOpen: true, messages };
  }

  async #summaryOf(id: string, stamp: string): Promise<SessionSummary> {
    const known = this.#known.get(id);
    if (known?.stamp === stamp) return known.summary;
    const summary = await this.#sessions.summarize(id);
    this.#known.set(id, { stamp, summary });
    return summary;
  }
}
