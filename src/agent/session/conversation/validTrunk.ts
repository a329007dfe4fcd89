import { messageOf } from '../../base/errors.ts';
import { interruptions } from '../model/interruptions.ts';
import type { AssistantMessage, SessionMessage, ToolCall, ToolResultMessage } from '../model/messages.ts';
import type { ConversationTree } from './conversationTree.ts';
import type { NodeId } from './nodeId.ts';

/** One message of a request and the node that it comes from; `null` if it is made up for the request. */
export interface Line {
  readonly id: NodeId | null;
  readonly message: SessionMessage;
}

/** The notice for the user and the model when a session is reopened that ended in the middle of a turn. */
export const INTERRUPTED =
  'This session was interrupted: the window was reloaded or closed in the middle of a turn.';

/**
 * The trunk in a form that every provider accepts: each call has exactly one result right after it, in the order of the calls. A
 * call whose result is on an abandoned branch is removed from its message; a call whose result was never stored gets a result that
 * says so; a result without its call is left out, and so are local messages.
 * @param from the position to begin at: the lines of the messages before it, and of the results of their calls, are left out.
 */
export function validTrunk(tree: ConversationTree, from = 0): Line[] {
  const lines: Line[] = [];
  const { messages } = tree;
  for (let at = from; at < messages.length; at++) {
    const message = messages[at];
    if (message === undefined || message.role === 'local' || message.role === 'tool') continue;
    const id = tree.idAt(at) ?? null;
    if (message.role !== 'assistant' || message.toolCalls.length === 0 || id === null) {
      lines.push({ id, message });
      continue;
    }
    const results = resultsAfter(tree, at);
    const calls = message.toolCalls.filter(call => results.has(call.id) || !hasResult(tree, id, call));
    lines.push({ id, message: withCalls(message, calls) });
    for (const call of calls) lines.push(results.get(call.id) ?? { id: null, message: unknownResult(call) });
  }
  return lines;
}

/**
 * The messages that make the stored history valid after the process ended: a result for each call of the last answer
 * that has none and, if a turn was running, a notice. Older gaps are filled in each request; see {@link validTrunk}.
 */
export function messagesAfterInterruption(
  tree: ConversationTree,
  { wasRunning }: { readonly wasRunning: boolean },
): readonly SessionMessage[] {
  const results = missingResults(tree);
  if (!wasRunning) return results;
  return [...results, { role: 'steering', kind: 'notice', text: INTERRUPTED, previewIds: [] }];
}

/** The messages that make the history valid after a bug of ours ended a turn: the missing results, and an error. */
export function messagesAfterFault(tree: ConversationTree, error: unknown): readonly SessionMessage[] {
  const failed = { role: 'assistant', text: '', toolCalls: [], stopReason: 'error' } as const;
  return [...missingResults(tree), { ...failed, error: `Something went wrong: ${messageOf(error)}` }];
}

/** Stands in for the results of the last answer's calls that were never stored. */
function missingResults(tree: ConversationTree): readonly SessionMessage[] {
  return callsWithoutResult(tree).map(unknownResult);
}

/** The calls of the last answer on the trunk that have no result on any branch. */
function callsWithoutResult(tree: ConversationTree): readonly ToolCall[] {
  const id = tree.idAt(tree.lastPositionOf('assistant'));
  const answer = id === undefined ? undefined : tree.get(id)?.message;
  if (answer?.role !== 'assistant' || id === undefined) return [];
  const results = tree.resultsOf(id);
  return answer.toolCalls.filter(call => !results.has(call.id));
}

/** Stands in for a result that was never stored. */
function unknownResult(call: ToolCall): ToolResultMessage {
  return {
    role: 'tool',
    toolCallId: call.id,
    toolName: call.name,
    content: call.name === 'ask_user' ? interruptions.unanswered : interruptions.unknown,
    isError: true,
  };
}

/** The results on the trunk right after an answer; for each call the first one. */
function resultsAfter(tree: ConversationTree, answerAt: number): Map<string, Line> {
  const results = new Map<string, Line>();
  for (let at = answerAt + 1; ; at++) {
    const message = tree.messages[at];
    if (message?.role !== 'tool' && message?.role !== 'local') return results;
    if (message.role === 'tool' && !results.has(message.toolCallId))
      results.set(message.toolCallId, { id: tree.idAt(at) ?? null, message });
  }
}

/** Whether the call has a result on any branch. */
function hasResult(tree: ConversationTree, id: NodeId, call: ToolCall): boolean {
  return tree.resultsOf(id).has(call.id);
}

function withCalls(message: AssistantMessage, calls: readonly ToolCall[]): AssistantMessage {
  if (calls.length === message.toolCalls.length) return message;
  return { ...message, toolCalls: calls, ...(calls.length === 0 ? { stopReason: 'stop' } : {}) };
}
