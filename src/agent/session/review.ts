import { DisposableStore, type Disposable } from '../base/disposable.ts';
import type { Conversation } from '../conversation/conversation.ts';
import type { SteeringMessage } from '../model/messages.ts';
import { isOpen, type Preview } from '../preview/preview.ts';
import type { PreviewStore, Revision } from '../preview/previewStore.ts';
import type { Inbox } from './inbox.ts';
import { expiryMessage, outcomeMessages } from './outcomes.ts';

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
    const { store, conversation } = options;
    this.#owned.add(store.onDidRevise(revision => this.#followRevision(revision)));
    this.#owned.add(
      store.onDidResolve(entries => {
        conversation().recordResolutions(entries);
        this.#tell(outcomeMessages(entries, store, conversation().previews));
      }),
    );
    this.#owned.add(store.onDidExpire(preview => this.#tell([expiryMessage(preview)])));
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

  #followRevision({ preview, by, part, patch }: Revision): void {
    const { inbox, conversation } = this.#options;
    const { previews } = conversation();
    if (!previews.concerns(preview.id)) return;
    if (part) {
      if (previews.isInReview(preview.id)) previews.addToReview(part.id);
      // Recorded too, because a part may outlive the preview that it was split off from.
      conversation().recordStaged(part.id);
    }
    inbox.addRevision(preview, by, patch);
  }

  #tell(outcomes: readonly SteeringMessage[]): void {
    const { inbox, conversation, onOutcome } = this.#options;
    const { previews } = conversation();
    for (const outcome of outcomes)
      if (outcome.previewIds.some(id => previews.concerns(id))) inbox.add(outcome);
    onOutcome();
  }
}

/** Whether it is a plan that the user approved or sent back. An approval that failed leaves it pending. */
function isDecidedPlan(preview: Preview | undefined): boolean {
  return preview?.kind === 'plan' && !isOpen(preview);
}
