import type { Conversation } from './conversation/conversation.ts';
import { messageIdOf, nodeOfMessageId } from './conversation/nodeId.ts';
import { setOfPrompt, type ChangeSetRef } from '../hold/preview/changeSet.ts';
import type { PendingAction } from '../hold/preview/pendingAction.ts';
import type { CallRef, PreviewOrigin } from '../hold/preview/preview.ts';
import type { QueuedPreview } from '../hold/preview/previewStoreOptions.ts';
import { queueResolveHandler } from '../hold/preview/queueResolveHandler.ts';
import type { SessionContext } from './sessionOptions.ts';

/** The call and the audience that a preview is staged for. */
export interface StagedFor {
  /** The model's call that stages it, if any. Its conversation may have been closed since. */
  readonly call?: CallRef | undefined;
  /** Whether the model must resolve it. If not, it only hears the outcome. */
  readonly asksModel: boolean;
}

/** Stages a preview that concerns the conversation that made the call or that the action names, else the open one. */
export function stageIn(
  session: SessionContext,
  action: PendingAction,
  { call, asksModel }: StagedFor,
): QueuedPreview {
  const { sessionId, ...made } = call ?? { sessionId: action.sessionId ?? session.conversation().id };
  const origin: PreviewOrigin = {
    sessionId,
    ...(call === undefined && action.agent ? { agent: action.agent } : {}),
    ...('toolCallId' in made ? { call: made } : {}),
    asksModel,
    ...(action.changeSet ?? setHere(session.conversation(), sessionId, call, action)),
  };
  return queueResolveHandler(session, action, origin);
}

/**
 * The set of the prompt that the call answers. A preview brought from elsewhere has a conversation of its own, which is its set;
 * a preview that undoes it does not belong to that set.
 */
function setHere(
  { id, tree }: Conversation,
  sessionId: string,
  call: CallRef | undefined,
  { agent, undoes }: PendingAction,
): ChangeSetRef {
  if (!call) return agent && !undoes ? { setId: sessionId } : {};
  if (id !== sessionId) return {};
  // Not the newest prompt: a command that waits for approval may run after a later prompt.
  let node = nodeOfMessageId(call.messageId) ?? null;
  while (node !== null) {
    const found = tree.get(node);
    if (found?.message.role === 'user')
      return setOfPrompt(`${sessionId}/${messageIdOf(node)}`, found.message.text);
    node = found?.parentId ?? null;
  }
  return {};
}
