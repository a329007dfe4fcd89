import { isRecord, parsedJson } from '../base/json.ts';
import type { AssistantMessage, ToolCall, ToolResultMessage } from './model/messages.ts';

/**
 * The call that an answer's length limit has cut off: only the last one can be, if its arguments did not arrive as a whole object.
 * Some servers replace such arguments by an empty object.
 */
export function cutCallOf({ toolCalls }: AssistantMessage): ToolCall | undefined {
  const last = toolCalls.at(-1);
  const args = last && parsedJson(last.arguments);
  return isRecord(args) && Object.keys(args).length > 0 ? undefined : last;
}

/** The result of a call that was cut. With any other result, a model sends the same arguments again. */
export function cutResult(call: ToolCall): ToolResultMessage {
  return {
    role: 'tool',
    toolCallId: call.id,
    toolName: call.name,
    content: `Not run: your answer reached its length limit before the arguments of ${call.name} were complete. Call it again with less, such as one file or one part of a file at a time.`,
    isError: true,
  };
}
