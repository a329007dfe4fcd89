import { isRecord, parsedJson } from '../base/json.ts';
import type { AssistantMessage, ToolCall, ToolResultMessage } from './model/messages.ts';

/**
 * The call of an answer that its length limit has cut: only the last one can be, and none of its arguments have arrived as a whole
 * object. Some servers make an empty one of those.
 */
export function cutCallOf({ toolCalls }: AssistantMessage): ToolCall | undefined {
  const last = toolCalls.at(-1);
  const args = last && parsedJson(last.arguments);
  return isRecord(args) && Object.keys(args).length > 0 ? undefined : last;
}

/** The result of a call that was cut. Told anything else, a model sends the same arguments again. */
export function cutResult(call: ToolCall): ToolResultMessage {
  return {
    role: 'tool',
    toolCallId: call.id,
    toolName: call.name,
    content: `Not run: your answer reached its length limit before the arguments of ${call.name} were complete. Call it again with less, such as one file or one part of a file at a time.`,
    isError: true,
  };
}
