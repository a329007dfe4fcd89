import type { SessionMessage } from '../model/messages.ts';
import type { ConversationTree } from './conversationTree.ts';
import { renderNodeId, type NodeId } from './nodeId.ts';
import { replacesContent, REVERT_TOOL, tagKindOf, type RevertRecord, type RevertRequest } from './revert.ts';

export const ALREADY_REVERTED = 'another revert of the same turn was applied';
export const STOPPED = 'the user stopped the turn';
export const LEFT = 'another conversation was opened';
export const PLANNING = 'plan mode is on, in which nothing may be abandoned';

/** Decides whether a request can be applied to the current trunk. Changes nothing; see `ConversationTree.apply`. */
export function validateRevert(
  tree: ConversationTree,
  request: RevertRequest,
  now = new Date(),
): RevertRecord {
  const reason = request.actor === 'model' ? modelMayNot(tree, request) : humanCannot(tree, request);
  if (reason !== undefined) return refusedRevert(request, reason, now);
  const abandonedNodeIds = tree.nodesLeaving(request.target) ?? [];
  return { ...request, abandonedNodeIds, applied: true, reason: null, timestamp: now.toISOString() };
}

/** The record of a refused request. */
export function refusedRevert(request: RevertRequest, reason: string, now = new Date()): RevertRecord {
  return { ...request, abandonedNodeIds: [], applied: false, reason, timestamp: now.toISOString() };
}

/**
 * The message that tells the model, with its next request, why its revert was refused.
 * @param instead the last one of the same turn that was applied, if any.
 */
export function refusalText({ target, reason }: RevertRecord, instead?: RevertRecord): string {
  const now = instead
    ? `The conversation was reverted to ${targetName(instead.target)} instead; continue from there.`
    : 'Nothing has changed; continue from here.';
  return `Your revert to ${targetName(target)} was not applied: ${reason}. ${now}`;
}

/** The reason why the model may not go to a node; `undefined` if it may. It can never drop prompts of the user. */
function modelMayNot(tree: ConversationTree, { target, category }: RevertRequest): string | undefined {
  const found = target === null ? undefined : tree.get(target);
  if (!found || found.message.role === 'local') return `there is no node ${targetName(target)}`;
  if (!tree.isOnTrunk(found.id)) return `${targetName(target)} is not on the trunk: it was abandoned before`;
  const span = tree.nodesAfter(found.id);
  const prompt = span.find(id => tree.get(id)?.message.role === 'user');
  if (prompt !== undefined)
    return `the user's prompt ${targetName(prompt)} comes after ${targetName(target)}, and what the user said is never dropped`;
  const isShortened =
    category !== null &&
    replacesContent({ kind: tagKindOf(category) }) &&
    found.message.role === 'tool' &&
    !isNoWork(found.message);
  if (!isShortened && span.every(id => isNoWork(tree.get(id)?.message)))
    return `nothing but the revert itself comes after ${targetName(target)}`;
  return undefined;
}

function humanCannot(tree: ConversationTree, { target }: RevertRequest): string | undefined {
  if (target !== null && !tree.has(target)) return `there is no node ${targetName(target)}`;
  return target === tree.active ? `nothing comes after ${targetName(target)}` : undefined;
}

/** Whether a message is not work that a revert could abandon: it is a revert call, its result, or a message of the runtime. */
function isNoWork(message: SessionMessage | undefined): boolean {
  switch (message?.role) {
    case 'steering':
    case 'local':
    case undefined:
      return true;
    case 'user':
      return false;
    case 'tool':
      return message.toolName === REVERT_TOOL;
    case 'assistant':
      return message.toolCalls.length > 0
        ? message.toolCalls.every(call => call.name === REVERT_TOOL)
        : message.text === '';
  }
}

/** The name of a revert's target, for the model. */
export function targetName(target: NodeId | null): string {
  return target === null ? 'the beginning' : renderNodeId(target);
}
