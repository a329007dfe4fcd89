import type { Conversation } from '../conversation/conversation.ts';
import type { PendingAction } from '../preview/pendingAction.ts';
import type { CallRef, PreviewOrigin } from '../preview/preview.ts';
import type { QueuedPreview } from '../preview/previewStore.ts';
import { queueResolveHandler, type ResolveHost } from '../preview/queueResolveHandler.ts';

export interface StagingOptions extends ResolveHost {
  readonly conversation: () => Conversation;
}

/** Who a preview is staged for. */
export interface StagedFor {
  /** The model's call that stages it, if any. Its conversation may have been closed since. */
  readonly call?: CallRef | undefined;
  /** Whether the model is asked to resolve it. If not, it only hears the outcome. */
  readonly asksModel: boolean;
}

/** Stages a preview that concerns the conversation that made the call or that the action names, else the open one. */
export function stageIn(
  { conversation, ...host }: StagingOptions,
  action: PendingAction,
  { call, asksModel }: StagedFor,
): QueuedPreview {
  const { sessionId, ...made } = call ?? { sessionId: action.sessionId ?? conversation().id };
  const origin: PreviewOrigin = {
    sessionId,
    ...(call === undefined && action.agent ? { agent: action.agent } : {}),
    ...('toolCallId' in made ? { call: made } : {}),
    asksModel,
  };
  return queueResolveHandler(host, action, origin);
}
