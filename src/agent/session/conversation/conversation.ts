import type { SessionMessage, ToolCall } from '../model/messages.ts';
import type { LedgerEntry } from '../../hold/preview/ledger.ts';
import type { CallRef } from '../../hold/preview/preview.ts';
import type { PreviewStore } from '../../hold/preview/previewStore.ts';
import {
  changedSettings,
  missedResolutions,
  resolutionOf,
  AuditTrail,
  type HeardAttempt,
  type SettingsInForce,
} from './auditTrail.ts';
import { ConversationPreviews } from './conversationPreviews.ts';
import { ConversationTree, type TreeNode } from './conversationTree.ts';
import { messageIdOf } from './nodeId.ts';
import type { RevertRecord } from './revert.ts';
import type { RecordEntry } from './storage/recorder.ts';
import type { SessionState } from './storage/sessionEntry.ts';
import { newSessionId } from './storage/sessionLogs.ts';
import type { StoredSession } from './storage/storedSession.ts';

/** One conversation. It owns the tree of its messages and writes the log from which all of it can be rebuilt. */
export class Conversation {
  readonly id: string;
  readonly tree: ConversationTree;
  /** Events of the conversation besides its messages. */
  readonly trail: AuditTrail;
  /** The previews that concern the conversation. */
  readonly previews: ConversationPreviews;
  readonly #store: PreviewStore;
  readonly #record: RecordEntry;
  #title: string | undefined;
  #hasWaiting: boolean;

  /**
   * Starts an empty conversation, or continues a stored one. Nothing is written until something happens.
   * @param recordFor returns the writer for the log of the conversation with this id.
   */
  constructor(store: PreviewStore, recordFor: (id: string) => RecordEntry, stored?: StoredSession) {
    this.id = stored?.id ?? newSessionId();
    this.tree = stored?.tree ?? new ConversationTree();
    this.trail = stored?.trail ?? new AuditTrail();
    this.#title = stored?.title;
    this.#hasWaiting = !!stored?.waiting.length;
    this.#store = store;
    this.previews = new ConversationPreviews(this.id, this.tree, store);
    this.#record = recordFor(this.id);
    this.previews.restoreReview(stored?.inReview ?? []);
  }

  /** The name that the user gave it. */
  get title(): string | undefined {
    return this.#title;
  }

  rename(title: string): void {
    this.#title = title;
    this.#record({ type: 'title', title });
  }

  append(message: SessionMessage): TreeNode {
    const node = this.tree.append(message);
    this.#record({ type: 'message', ...node });
    return node;
  }

  /** Records a revert and, unless it was refused, moves the trunk. */
  applyRevert(record: RevertRecord): void {
    this.tree.apply(record);
    this.#record({ type: 'revert', record });
  }

  recordState(state: SessionState): void {
    this.#record({ type: 'state', state });
  }

  /** Ends the review as a whole: no preview staged so far wakes the session any more. @param state the session's from here on */
  endReview(state: SessionState): void {
    if (this.previews.endReview()) this.#record({ type: 'state', state, reviewEnded: true });
  }

  /** Records the settings of the next answer if they differ from those recorded for the trunk. */
  recordSettings(settings: SettingsInForce): void {
    if (changedSettings(this.trail.settings(this.tree) ?? {}, settings).length === 0) return;
    this.trail.recordSettings(this.tree, settings);
    this.#record({ type: 'settings', settings });
  }

  /** Records the outcomes of previews that were staged in this conversation, on any branch. */
  recordResolutions(entries: readonly LedgerEntry[]): void {
    const isOurs = ({ previewId }: LedgerEntry): boolean =>
      this.#store.get(previewId)?.origin?.sessionId === this.id;
    this.#keep(entries.filter(isOurs).map(resolutionOf));
  }

  /** Records the outcomes that were added to the ledger while the conversation was not open. */
  recordMissedResolutions(): void {
    this.#keep(missedResolutions(this, this.#store));
  }

  #keep(resolutions: readonly HeardAttempt[]): void {
    for (const resolution of resolutions) {
      this.trail.recordResolution(this.tree, resolution);
      this.#record({ type: 'resolution', resolution });
    }
  }

  /** Records that a preview was staged in it. */
  recordStaged(previewId: string): void {
    this.#record({ type: 'preview', previewId });
  }

  /** Makes the review wait for a preview that the model amended or voted on, even if its review has ended. */
  joinReview(previewId: string): void {
    if (this.previews.reviewedSince(previewId) === undefined) this.recordStaged(previewId);
    this.previews.addToReview(previewId);
  }

  /**
   * Records which prompts wait for their turn, so that the next window has them if this one closes.
   * @param isBusy whether a prompt has to wait; else one that is added is sent at once
   */
  recordWaiting(prompts: StoredSession['waiting'], isBusy: boolean): void {
    const doWait = prompts.length > 0;
    if (!this.#hasWaiting && !(isBusy && doWait)) return;
    this.#hasWaiting = doWait;
    this.#record({ type: 'waiting', prompts });
  }

  recordPlanMode(on: boolean): void {
    this.#record({ type: 'plan', on });
  }

  /** The reference to a call of the last answer on the trunk. */
  callRefOf({ id: toolCallId }: ToolCall): CallRef {
    const message = this.tree.idAt(this.tree.lastPositionOf('assistant'));
    return { sessionId: this.id, messageId: message === undefined ? '' : messageIdOf(message), toolCallId };
  }
}
