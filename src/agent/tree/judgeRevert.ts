import type { SessionMessage } from '../model/messages.ts';
import type { ConversationTree } from './conversationTree.ts';
import { renderNodeId, type NodeId } from './nodeId.ts';
import { REVERT_TOOL, type RevertRecord, type RevertRequest } from './revert.ts';

export const ALREADY_REVERTED = 'another revert of the same turn was applied';
export const STOPPED = 'the user stopped the turn';

/** What is to become of a request on the trunk as it is now. Nothing happens by it; see `ConversationTree.apply`. */
export function judgeRevert(tree: ConversationTree, request: RevertRequest, now = new Date()): RevertRecord {
  const reason = request.actor === 'model' ? modelMayNot(tree, request.target) : humanCannot(tree, request);
  if (reason !== undefined) return refusedRevert(request, reason, now);
  const abandonedNodeIds = tree.leaving(request.target) ?? [];
  return { ...request, abandonedNodeIds, applied: true, reason: null, timestamp: now.toISOString() };
}

/** The record of a request that is not applied. */
export function refusedRevert(request: RevertRequest, reason: string, now = new Date()): RevertRecord {
  return { ...request, abandonedNodeIds: [], applied: false, reason, timestamp: now.toISOString() };
}

/** Told to the model with its next request. */
export function refusalText({ target, reason }: RevertRecord): string {
  const where = target === null ? 'the beginning' : renderNodeId(target);
  return `Your revert to ${where} was not applied: ${reason}. Nothing has changed; go on from here.`;
}

/** Why a model may not go there; the person's words are never dropped by it. */
function modelMayNot(tree: ConversationTree, target: NodeId | null): string | undefined {
  const found = target === null ? undefined : tree.get(target);
  if (!found || found.message.role === 'local') return `there is no node ${nameOf(target)}`;
  if (!tree.isOnTrunk(found.id)) return `${nameOf(target)} is not on the trunk: it was abandoned before`;
  const span = tree.after(found.id);
  const prompt = span.find(id => tree.get(id)?.message.role === 'user');
  if (prompt !== undefined)
    return `the user's prompt ${nameOf(prompt)} comes after ${nameOf(target)}, and what the user said is never dropped`;
  if (span.every(id => isAside(tree.get(id)?.message)))
    return `nothing but the revert itself comes after ${nameOf(target)}`;
  return undefined;
}

function humanCannot(tree: ConversationTree, { target }: RevertRequest): string | undefined {
  if (target !== null && !tree.has(target)) return `there is no node ${nameOf(target)}`;
  return target === tree.active ? `nothing comes after ${nameOf(target)}` : undefined;
}

/** What no branch is made of: calls of the revert itself, their results, and what the runtime says. */
function isAside(message: SessionMessage | undefined): boolean {
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

function nameOf(target: NodeId | null): string {
  return target === null ? 'the beginning' : renderNodeId(target);
}
