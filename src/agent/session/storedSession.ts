import type { LogReader } from '../base/jsonLines.ts';
import { ConversationTree } from '../tree/conversationTree.ts';
import type { SessionState } from './events.ts';
import type { SessionLogEntry } from './sessionEntry.ts';
import { SessionTrail } from './sessionTrail.ts';
import { messageHead, StoredLine, type LinesOf } from './storedLine.ts';

/** A session as its log has it, and nothing else: belongs to whoever takes the session up. */
export interface StoredSession {
  readonly id: string;
  readonly tree: ConversationTree;
  /** The name that a person gave it. */
  readonly title?: string;
  /** Whether the process ended in the middle of a turn. */
  readonly interrupted: boolean;
  /** The previews that were staged in it or split off those, and whether the model is asked to resolve them. */
  readonly previews: ReadonlyMap<string, boolean>;
  /** Whether the session was in plan mode. */
  readonly planMode: boolean;
  /** What happened in it beside its messages. */
  readonly trail: SessionTrail;
}

/** Rebuilds a session from the entries of its log. Messages stay lines until somebody reads them. */
export class SessionReader implements LogReader<SessionLogEntry> {
  readonly #tree = new ConversationTree();
  readonly #trail = new SessionTrail();
  readonly #previews = new Map<string, boolean>();
  readonly #onLost: (id: number) => void;
  #log: LinesOf | undefined;
  #title: string | undefined;
  #state: SessionState = 'idle';
  #planMode = false;

  /** @param onLost told of a message that cannot be read after all, when somebody wants to. */
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
        break;
      case 'plan':
        this.#planMode = entry.on;
        break;
      case 'preview':
        this.#previews.set(entry.previewId, entry.asked);
        break;
      case 'settings':
        this.#trail.change(this.#tree, entry.settings);
        break;
      case 'resolution':
        this.#trail.resolve(this.#tree, entry.resolution);
        break;
    }
  }

  /** What came of the entries so far. */
  session(id: string): StoredSession {
    const title = this.#title;
    return {
      id,
      tree: this.#tree,
      ...(title === undefined ? {} : { title }),
      interrupted: this.#state === 'running',
      previews: this.#previews,
      planMode: this.#planMode,
      trail: this.#trail,
    };
  }
}
