import type { LogReader } from '../../../base/log/logFormat.ts';
import { AuditTrail } from '../auditTrail.ts';
import { ConversationTree } from '../conversationTree.ts';
import type { EntryOf, SessionLogEntry, SessionState } from './sessionEntry.ts';
import { messageHead, StoredLine, type LineSource } from './storedLine.ts';

/** A session rebuilt from its log. Its tree and trail become those of the `Conversation` that continues it. */
export interface StoredSession {
  readonly id: string;
  readonly tree: ConversationTree;
  /** The name that the user gave it. */
  readonly title?: string;
  /** Whether the process ended in the middle of a turn. */
  readonly interrupted: boolean;
  /** Whether the session was in plan mode. */
  readonly planMode: boolean;
  /** The prompts that were not sent yet. */
  readonly waiting: EntryOf<'waiting'>['prompts'];
  /** The previews that were staged in it since its review was last ended as a whole. */
  readonly inReview: readonly string[];
  /** Events of the session besides its messages. */
  readonly trail: AuditTrail;
}

/** Rebuilds a session from the entries of its log. Messages stay unparsed lines until their first use. */
export class SessionReader implements LogReader<SessionLogEntry> {
  readonly #tree = new ConversationTree();
  readonly #trail = new AuditTrail();
  readonly #onLost: (id: number) => void;
  readonly #marks = new Set<string>();
  #log: LineSource | undefined;
  #title: string | undefined;
  #state: SessionState = 'idle';
  #planMode = false;
  readonly #inReview = new Set<string>();
  #waiting: StoredSession['waiting'] = [];

  /** @param onLost called with the id of a message that turns out to be malformed at its first use. */
  constructor(onLost: (id: number) => void) {
    this.#onLost = onLost;
  }

  line(bytes: Buffer, start: number, end: number): boolean {
    const head = messageHead(bytes, start, end);
    if (!head) return false;
    if (this.#log?.bytes !== bytes) this.#log = { bytes, onLost: this.#onLost };
    const { id, parentId } = head;
    this.#tree.restore({ id, parentId, message: new StoredLine(head, this.#log, start, end) });
    return true;
  }

  entry(entry: SessionLogEntry): void {
    if (this.#isRepeated(entry)) return;
    switch (entry.type) {
      case 'message':
        this.#tree.restore(entry);
        break;
      case 'revert':
        this.#tree.apply(entry.record);
        break;
      case 'title':
        this.#title = entry.title;
        break;
      case 'state':
        this.#state = entry.state;
        if (entry.reviewEnded) this.#inReview.clear();
        break;
      case 'plan':
        this.#planMode = entry.on;
        break;
      case 'waiting':
        this.#waiting = entry.prompts;
        break;
      case 'preview':
        this.#inReview.add(entry.previewId);
        break;
      case 'settings':
        this.#trail.recordSettings(this.#tree, entry.settings);
        break;
      case 'resolution':
        this.#trail.recordResolution(this.#tree, entry.resolution);
        break;
    }
  }

  /** Whether the line is in the log a second time. A message is known by its id, a line of an older version by its text. */
  #isRepeated(entry: SessionLogEntry): boolean {
    if (entry.type === 'message' || (entry.mark === undefined && entry.type !== 'revert')) return false;
    const mark = entry.mark ?? JSON.stringify(entry);
    const isKnown = this.#marks.has(mark);
    this.#marks.add(mark);
    return isKnown;
  }

  /** The session that results from the entries so far. */
  session(id: string): StoredSession {
    const title = this.#title;
    return {
      id,
      tree: this.#tree,
      ...(title === undefined ? {} : { title }),
      interrupted: this.#state === 'running',
      planMode: this.#planMode,
      waiting: this.#waiting,
      inReview: [...this.#inReview],
      trail: this.#trail,
    };
  }
}
