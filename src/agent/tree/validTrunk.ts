import type { AssistantMessage, SessionMessage, ToolCall, ToolResultMessage } from '../model/messages.ts';
import type { ConversationTree } from './conversationTree.ts';
import type { NodeId } from './nodeId.ts';

/** What a request says in one place, and the node that says it; `null` where none does. */
export interface Line {
  readonly id: NodeId | null;
  readonly message: SessionMessage;
}

/**
 * The trunk as every provider takes it: each call has exactly one result right after it, in the order of the calls. A call
 * whose result left the trunk is taken out of its message; one whose result was never stored gets one that says so; a
 * result without its call is left out. What people did here for themselves is no part of it.
 */
export function validTrunk(tree: ConversationTree): Line[] {
  const lines: Line[] = [];
  const { messages } = tree;
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at];
    if (message === undefined || message.role === 'local' || message.role === 'tool') continue;
    const id = tree.idAt(at) ?? null;
    if (message.role !== 'assistant' || message.toolCalls.length === 0 || id === null) {
      lines.push({ id, message });
      continue;
    }
    const results = resultsAfter(tree, at);
    const calls = message.toolCalls.filter(call => results.has(call.id) || !wasLeft(tree, id, call));
    lines.push({ id, message: withCalls(message, calls) });
    for (const call of calls) lines.push(results.get(call.id) ?? { id: null, message: unknownResult(call) });
  }
  return lines;
}

/** The calls of the last answer on the trunk that have no result, on any branch: it was never stored. */
export function callsWithoutResult(tree: ConversationTree): readonly ToolCall[] {
  const id = tree.idAt(tree.lastOf('assistant'));
  const answer = id === undefined ? undefined : tree.get(id)?.message;
  if (answer?.role !== 'assistant' || id === undefined) return [];
  const results = tree.resultsOf(id);
  return answer.toolCalls.filter(call => !results.has(call.id));
}

/** Stands for a result that nobody knows. */
export function unknownResult(call: ToolCall): ToolResultMessage {
  return {
    role: 'tool',
    toolCallId: call.id,
    toolName: call.name,
    content: 'Interrupted: the result of this call is not known. Check before you repeat it.',
    isError: true,
  };
}

/** The results that stand right behind an answer, the first one of each call. */
function resultsAfter(tree: ConversationTree, answerAt: number): Map<string, Line> {
  const results = new Map<string, Line>();
  for (let at = answerAt + 1; ; at++) {
    const message = tree.messages[at];
    if (message?.role !== 'tool' && message?.role !== 'local') return results;
    if (message.role === 'tool' && !results.has(message.toolCallId))
      results.set(message.toolCallId, { id: tree.idAt(at) ?? null, message });
  }
}

function wasLeft(tree: ConversationTree, id: NodeId, call: ToolCall): boolean {
  return tree.resultsOf(id).has(call.id);
}

function withCalls(message: AssistantMessage, calls: readonly ToolCall[]): AssistantMessage {
  if (calls.length === message.toolCalls.length) return message;
  return { ...message, toolCalls: calls, ...(calls.length === 0 ? { stopReason: 'stop' } : {}) };
}
