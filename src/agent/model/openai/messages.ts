import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionFunctionTool,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionNamedToolChoice,
  ChatCompletionSystemMessageParam,
  ChatCompletionToolMessageParam,
  ChatCompletionUserMessageParam,
} from 'openai/resources/chat/completions';
import { promptText } from '../attachments.ts';
import type { ToolChoice, ToolSpec } from '../chatProvider.ts';
import type { AssistantMessage, SessionMessage, ToolCall } from '../messages.ts';
import { EMPTY_RESULT, sendableArguments, sendableName } from '../toolCalls.ts';

/** A tool call in a chat-completions request. */
export type WireToolCall = ChatCompletionMessageFunctionToolCall & {
  /** Data from Gemini that must be sent back unchanged with the call. */
  extra_content?: unknown;
};

/** A message in a chat-completions request. All content is text. */
export type WireMessage =
  | ((ChatCompletionSystemMessageParam | ChatCompletionUserMessageParam) & { content: string })
  | (ChatCompletionToolMessageParam & { content: string })
  | (ChatCompletionAssistantMessageParam & {
      content: string | null;
      tool_calls?: WireToolCall[];
      /** The reasoning that DeepSeek and Kimi require back. */
      reasoning_content?: string;
    });

export type WireToolChoice = 'auto' | 'none' | 'required' | ChatCompletionNamedToolChoice;

/** Data that some servers require back with the assistant's messages; see `serverQuirks.ts`. */
export interface WireExtras {
  extraContentOf(callId: string): unknown;
  reasoningOf(message: AssistantMessage): string | undefined;
}

/**
 * Translates a session's messages. Only what servers refuse is corrected or left out:
 * - an empty system prompt, empty user and steering messages, and assistant messages with neither text nor calls
 *   (answers that failed or were stopped at once) are left out;
 * - arguments that are not a JSON object are sent as `{}`: servers parse the arguments of the history and refuse the
 *   whole request over one bad call, and the call's result already tells the model what was wrong with them;
 * - in a tool name that no server allows (a model may invent one) the forbidden characters are replaced. Attachments
 *   become part of their prompt. Steering messages are sent in the user role. `details` and local messages are never
 *   sent.
 */
export function toWireMessages(
  system: string,
  messages: readonly SessionMessage[],
  extras?: WireExtras,
): WireMessage[] {
  const wire: WireMessage[] = [];
  if (system !== '') wire.push({ role: 'system', content: system });
  for (const message of messages) {
    switch (message.role) {
      case 'user': {
        const content = promptText(message);
        if (content !== '') wire.push({ role: 'user', content });
        break;
      }
      case 'steering':
        if (message.text !== '') wire.push({ role: 'user', content: message.text });
        break;
      case 'tool':
        wire.push({
          role: 'tool',
          tool_call_id: message.toolCallId,
          content: message.content || EMPTY_RESULT,
        });
        break;
      case 'assistant':
        if (message.text !== '' || message.toolCalls.length > 0) wire.push(toWireAssistant(message, extras));
        break;
      case 'local':
        break;
    }
  }
  return wire;
}

export function toWireTools(tools: readonly ToolSpec[]): ChatCompletionFunctionTool[] {
  return tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }));
}

/**
 * The `tool_choice` to send. `undefined`, to send none, without tools, without a choice, and for a tool that is not
 * offered, because every server answers that with an error.
 */
export function toWireToolChoice(
  choice: ToolChoice | undefined,
  tools: readonly ToolSpec[],
): WireToolChoice | undefined {
  if (!choice || tools.length === 0) return undefined;
  if (choice.type !== 'tool') return choice.type;
  if (!tools.some(tool => tool.name === choice.name)) return undefined;
  return { type: 'function', function: { name: choice.name } };
}

function toWireAssistant(message: AssistantMessage, extras: WireExtras | undefined): WireMessage {
  const reasoning = extras?.reasoningOf(message);
  return {
    role: 'assistant',
    content: message.text === '' ? null : message.text,
    ...(message.toolCalls.length > 0 && {
      tool_calls: message.toolCalls.map(call => toWireCall(call, extras)),
    }),
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
  };
}

function toWireCall(call: ToolCall, extras: WireExtras | undefined): WireToolCall {
  const extraContent = extras?.extraContentOf(call.id);
  return {
    id: call.id,
    type: 'function',
    function: {
      name: sendableName(call.name),
      arguments: sendableArguments(call),
    },
    ...(extraContent !== undefined && { extra_content: extraContent }),
  };
}
