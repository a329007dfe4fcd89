import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionContentPart,
  ChatCompletionFunctionTool,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionNamedToolChoice,
  ChatCompletionSystemMessageParam,
  ChatCompletionToolMessageParam,
  ChatCompletionUserMessageParam,
} from 'openai/resources/chat/completions';
import { promptText } from '../attachments.ts';
import type { ToolChoice, ToolSpec } from '../chatProvider.ts';
import { imagesOf } from '../images.ts';
import type { AssistantMessage, ImageFile, SessionMessage, ToolCall, UserMessage } from '../messages.ts';
import { resultText, sendableArguments, sendableName, sendableSpec, sendableText } from '../toolCalls.ts';
import { plainSchema } from './plainSchema.ts';

const IMAGES_OF_RESULTS = 'The images of the results above, in their order:';

/** A tool call in a chat-completions request. */
export type WireToolCall = ChatCompletionMessageFunctionToolCall & {
  /** Data from Gemini that must be sent back unchanged with the call. */
  extra_content?: unknown;
};

/** A message in a chat-completions request. All content is text, but for images in the user role. */
export type WireMessage =
  | (ChatCompletionSystemMessageParam & { content: string })
  | (ChatCompletionUserMessageParam & { content: string | ChatCompletionContentPart[] })
  | (ChatCompletionToolMessageParam & { content: string })
  | (Omit<ChatCompletionAssistantMessageParam, 'content' | 'tool_calls'> & {
      content: string | null;
      tool_calls?: WireToolCall[];
      /** The reasoning that DeepSeek and Kimi require back. */
      reasoning_content?: string;
      /** The reasoning that OpenRouter wants back for its models. */
      reasoning_details?: readonly object[];
    });

export type WireToolChoice = 'auto' | 'none' | 'required' | ChatCompletionNamedToolChoice;

/** Data that some servers require back with the assistant's messages; see `serverQuirks.ts`. */
export interface WireExtras {
  extraContentOf(callId: string): unknown;
  reasoningOf(message: AssistantMessage): string | undefined;
  reasoningDetailsOf(message: AssistantMessage): readonly object[] | undefined;
}

/**
 * Translates a session's messages. Only content that servers refuse is corrected or left out:
 * - an empty system prompt, empty user and steering messages, and assistant messages with neither text nor calls (answers that
 *   failed or were stopped at once) are left out; blanks do not count as text;
 * - arguments that are not a JSON object are sent as `{}`: servers parse the arguments of the history and refuse the whole request
 *   over one bad call, and the call's result already tells the model what was wrong with them;
 * - in a tool name that no server allows (a model may invent one) the forbidden characters are replaced.
 *
 * Attachments become part of their prompt; an image is included if its URL is given, else a note tells the model about it. Steering
 * messages are sent in the user role. `details` and local messages are never sent.
 */
export function toWireMessages(
  system: string,
  messages: readonly SessionMessage[],
  extras?: WireExtras,
  imageUrls: ReadonlyMap<string, string> = new Map(),
): WireMessage[] {
  const wire: WireMessage[] = [];
  const isSent = ({ file }: ImageFile): boolean => imageUrls.has(file);
  // Servers take images from the user only, and only after all results of an answer.
  let shown: ChatCompletionContentPart[] = [];
  if (system !== '') wire.push({ role: 'system', content: sendableText(system) });
  for (const [at, message] of messages.entries()) {
    switch (message.role) {
      case 'user': {
        const content = userContent(message, imageUrls);
        if (content.length > 0) wire.push({ role: 'user', content });
        break;
      }
      case 'steering': {
        const content = sendableText(message.text);
        if (content !== '') wire.push({ role: 'user', content });
        break;
      }
      case 'tool':
        wire.push({
          role: 'tool',
          tool_call_id: message.toolCallId,
          content: resultText(message, isSent),
        });
        shown.push(...imageParts(message, imageUrls));
        if (shown.length === 0 || messages[at + 1]?.role === 'tool') break;
        wire.push({ role: 'user', content: [{ type: 'text', text: IMAGES_OF_RESULTS }, ...shown] });
        shown = [];
        break;
      case 'assistant':
        if (sendableText(message.text) !== '' || message.toolCalls.length > 0)
          wire.push(toWireAssistant(message, extras));
        break;
      case 'local':
        break;
    }
  }
  return wire;
}

function userContent(
  message: UserMessage,
  imageUrls: ReadonlyMap<string, string>,
): string | ChatCompletionContentPart[] {
  const text = sendableText(promptText(message, ({ file }) => imageUrls.has(file)));
  const parts = imageParts(message, imageUrls);
  return parts.length === 0 ? text : [{ type: 'text', text }, ...parts];
}

function imageParts(
  message: SessionMessage,
  imageUrls: ReadonlyMap<string, string>,
): ChatCompletionContentPart[] {
  return imagesOf(message).flatMap(({ image }): ChatCompletionContentPart[] => {
    const url = imageUrls.get(image.file);
    return url === undefined ? [] : [{ type: 'image_url', image_url: { url } }];
  });
}

/** @param isPlain whether the server takes a subset of JSON Schema only; see `plainSchema.ts`. */
export function toWireTools(tools: readonly ToolSpec[], isPlain = false): ChatCompletionFunctionTool[] {
  return tools.map(tool => {
    const { name, description, parameters } = sendableSpec(tool);
    return {
      type: 'function',
      function: { name, description, parameters: isPlain ? plainSchema(parameters) : parameters },
    };
  });
}

/**
 * The `tool_choice` to send; `undefined` if there are no tools, there is no choice, or the choice names a tool that is not offered:
 * every server would answer that with an error.
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
  const details = extras?.reasoningDetailsOf(message);
  return {
    role: 'assistant',
    content: sendableText(message.text) || null,
    ...(message.toolCalls.length > 0 && {
      tool_calls: message.toolCalls.map(call => toWireCall(call, extras)),
    }),
    ...(reasoning !== undefined && { reasoning_content: sendableText(reasoning) || reasoning }),
    ...(details !== undefined && { reasoning_details: details }),
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
