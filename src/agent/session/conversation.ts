import type { SessionMessage } from '../model/messages.ts';
import type { LedgerEntry } from '../preview/ledger.ts';
import { ConversationTree, type TreeNode } from '../tree/conversationTree.ts';
import { messageIdOf } from '../tree/nodeId.ts';
import type { RevertRecord } from '../tree/revert.ts';
import type { SessionState } from './events.ts';
import { Recorder, type SessionLogSink } from './recorder.ts';
import { newSessionId } from './sessionLog.ts';
import {
  changedSettings,
  resolutionOf,
  SessionTrail,
  type Resolution,
  type SettingsInForce,
} from './sessionTrail.ts';
import type { StoredSession } from './storedSession.ts';

export interface ConversationOptions {
  /** Where a conversation of this id is written. */
  readonly logFor: (id: string) => SessionLogSink;
  readonly onLogFailure: (error: unknown) => void;
}

/** One conversation: the tree of its messages, the one owner of them, and the log that all of it can be rebuilt from. */
export class Conversation {
  readonly id: string;
  readonly tree: ConversationTree;
  /** What happened in it beside its messages. */
  readonly trail: SessionTrail;
  readonly #recorder: Recorder;
  readonly #previews: Map<string, boolean>;
  #title: string | undefined;

  /** An empty one, or one as its log has it. Nothing is written before something happens. */
  constructor({ logFor, onLogFailure }: ConversationOptions, stored?: StoredSession) {
    this.id = stored?.id ?? newSessionId();
    this.tree = stored?.tree ?? new ConversationTree();
    this.trail = stored?.trail ?? new SessionTrail();
    this.#title = stored?.title;
    this.#previews = new Map(stored?.previews);
    this.#recorder = new Recorder(logFor(this.id), onLogFailure);
  }

  /** The name that a person gave it. */
  get title(): string | undefined {
    return this.#title;
  }

  rename(title: string): void {
    this.#title = title;
    this.#recorder.append({ type: 'title', title });
  }

  append(message: SessionMessage): TreeNode {
    const node = this.tree.append(message);
    this.#recorder.append({ type: 'message', ...node });
    return node;
  }

  /** Keeps the record of a revert and, if it was applied, does what it says. */
  revert(record: RevertRecord): void {
    this.tree.apply(record);
    this.#recorder.append({ type: 'revert', record });
  }

  changed(state: SessionState): void {
    this.#recorder.append({ type: 'state', state });
  }

  /** The next answer is made with these settings, which are kept where the trunk was made with others. */
  answersWith(settings: SettingsInForce): void {
    if (changedSettings(this.trail.settings(this.tree) ?? {}, settings).length === 0) return;
    this.trail.change(this.tree, settings);
    this.#recorder.append({ type: 'settings', settings });
  }

  /** Keeps what became of those previews that were staged in it. */
  resolved(entries: readonly LedgerEntry[]): void {
    this.keep(entries.filter(({ previewId }) => this.#previews.has(previewId)).map(resolutionOf));
  }

  /** Keeps what became of its previews, also what it learns only now. */
  keep(resolutions: readonly Resolution[]): void {
    for (const resolution of resolutions) {
      this.trail.resolve(this.tree, resolution);
      this.#recorder.append({ type: 'resolution', resolution });
    }
  }

  /** A preview was staged in it, and the model is asked to resolve it or not. */
  staged(previewId: string, asked: boolean): void {
    this.#previews.set(previewId, asked);
    this.#recorder.append({ type: 'preview', previewId, asked });
  }

  /** Whether the model was asked to resolve a preview; `undefined` for one that was not staged here. */
  wasAsked(previewId: string): boolean | undefined {
    return this.#previews.get(previewId);
  }

  changedPlan(on: boolean): void {
    this.#recorder.append({ type: 'plan', on });
  }

  /** The id that previews know the last answer on the trunk by; `undefined` before the first one. */
  get answerId(): string | undefined {
    const id = this.tree.idAt(this.tree.lastOf('assistant'));
    return id === undefined ? undefined : messageIdOf(id);
  }
}
