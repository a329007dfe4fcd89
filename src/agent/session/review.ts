import { DisposableStore, type Disposable } from '../base/disposable.ts';
import type { Conversation } from '../conversation/conversation.ts';
import type { Fact } from '../preview/feed.ts';
import { isOpen, type Preview } from '../preview/preview.ts';
import type { PreviewStore } from '../preview/previewStore.ts';
import type { Inbox } from './waiting/inbox.ts';
import { factMessage } from './outcomes.ts';

export interface ReviewOptions {
  readonly store: PreviewStore;
  readonly inbox: Inbox;
  readonly conversation: () => Conversation;
  /** Called after each resolution or expiry, whether or not it concerns the open conversation. */
  readonly onOutcome: () => void;
}

/**
 * Puts into the inbox what the user and other extensions do with the previews of the open conversation, and knows when
 * the current review is over: once everything that was staged since the last prompt is resolved.
 */
export class Review implements Disposable {
  readonly #options: ReviewOptions;
  readonly #owned = new DisposableStore();

  constructor(options: ReviewOptions) {
    this.#options = options;
    this.#owned.add(options.store.onDidStage(preview => this.#followStaged(preview)));
    this.#owned.add(options.store.feed.onDidHappen(facts => this.#follow(facts)));
  }

  /** Whether a preview of this conversation can still be resolved. */
  get hasOpen(): boolean {
    return this.#options.conversation().previews.hasOpen;
  }

  /**
   * Whether outcomes of the current review wait to be told and nothing is left to resolve. The decision on a plan ends
   * the review even if other previews are pending.
   */
  get isOver(): boolean {
    const { store, inbox, conversation } = this.#options;
    const { previews } = conversation();
    const resolved = inbox.ofKind('outcome').flatMap(({ previewIds }) => previewIds);
    const decided = resolved.filter(id => previews.isInReview(id));
    return decided.some(id => isDecidedPlan(store.get(id))) || (decided.length > 0 && !previews.hasOpen);
  }

  /** Ends the current review: after a newer prompt, Stop or Discard All. */
  end(): void {
    this.#options.conversation().previews.endReview();
  }

  dispose(): void {
    this.#owned.dispose();
  }

  #followStaged({ id, origin, kind }: Preview): void {
    const conversation = this.#options.conversation();
    // A tool may still run after its conversation or branch was left.
    if (!conversation.previews.concerns(id)) return;
    conversation.recordStaged(id);
    // The session does not continue by itself for what the user asked for.
    if (origin?.asksModel || kind === 'plan') conversation.previews.addToReview(id);
  }

  #follow(facts: readonly Fact[]): void {
    const { store, inbox, conversation, onOutcome } = this.#options;
    conversation().recordResolutions(facts.flatMap(fact => (fact.kind === 'attempt' ? fact.entry : [])));
    const { previews } = conversation();
    for (const fact of facts) {
      const message = factMessage(fact, store, previews);
      if (!message) continue;
      if (fact.kind === 'revision' && fact.partId !== undefined) this.#addPart(fact.previewId, fact.partId);
      // Of several unsent rebases only the last one is told.
      const isRebase = fact.kind === 'revision' && fact.by === 'rebase';
      inbox.add(message, isRebase ? `rebase ${fact.previewId}` : undefined);
    }
    if (facts.some(({ kind }) => kind !== 'revision')) onOutcome();
  }

  #addPart(wholeId: string, partId: string): void {
    const { previews } = this.#options.conversation();
    if (previews.isInReview(wholeId)) previews.addToReview(partId);
    // Recorded too, because a part may outlive the preview that it was split off from.
    this.#options.conversation().recordStaged(partId);
  }
}

/** Whether it is a plan that the user approved or sent back. An approval that failed leaves it pending. */
function isDecidedPlan(preview: Preview | undefined): boolean {
  return preview?.kind === 'plan' && !isOpen(preview);
}
