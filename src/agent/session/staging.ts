import type { Localiser } from '../base/localiser.ts';
import type { Conversation } from '../conversation/conversation.ts';
import type { ToolChoices } from '../forcing/toolChoices.ts';
import type { Overlay } from '../preview/overlay.ts';
import type { PendingAction } from '../preview/pendingAction.ts';
import type { CallRef, Preview, PreviewOrigin } from '../preview/preview.ts';
import type { PreviewStore } from '../preview/previewStore.ts';
import { queueResolveHandler, type QueuedPreview } from '../preview/queueResolveHandler.ts';
import type { Invoker } from '../preview/resolve/invoker.ts';

export interface StagingOptions {
  readonly store: PreviewStore;
  readonly invoker: Invoker;
  readonly overlay: Overlay;
  readonly l10n: Localiser;
  readonly conversation: () => Conversation;
  readonly choices: Pick<ToolChoices, 'remind'>;
}

/** Who a preview is staged for. */
export interface StagedFor {
  /** The model's call that stages it, if any. Its conversation may have been closed since. */
  readonly call?: CallRef | undefined;
  /** Whether the model is asked to resolve it. If not, it only hears the outcome. */
  readonly asksModel: boolean;
  /** Whether the user asked for it: the session does not continue by itself once it is resolved. */
  readonly isForUser?: boolean;
}

/** Stages the previews of a session, and has the model asked about those that concern the open conversation. */
export class Staging {
  readonly #options: StagingOptions;

  constructor(options: StagingOptions) {
    this.#options = options;
  }

  /** Stages a preview that concerns the conversation that made the call or that the action names, else the open one. */
  stage(action: PendingAction, { call, asksModel, isForUser = false }: StagedFor): QueuedPreview {
    const { store, invoker, overlay, l10n, conversation, choices } = this.#options;
    const { sessionId, ...made } = call ?? { sessionId: action.sessionId ?? conversation().id };
    const origin: PreviewOrigin = {
      sessionId,
      ...(call === undefined && action.agent ? { agent: action.agent } : {}),
      ...('toolCallId' in made ? { call: made } : {}),
      asksModel,
    };
    const remind = (preview: Preview): void => {
      const open = conversation();
      // A tool may still run after its conversation or branch was left.
      if (!open.previews.concerns(preview.id)) return;
      open.recordStaged(preview.id);
      if (!isForUser) open.previews.addToReview(preview.id);
      if (asksModel) choices.remind(preview);
    };
    return queueResolveHandler({ store, invoker, overlay, l10n, remind }, action, origin);
  }
}
