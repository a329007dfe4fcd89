import { promptText } from '../attachments.ts';
import type { ChatRequest, ToolChoice, ToolSpec } from '../chatProvider.ts';
import { imagesOf } from '../images.ts';
import type { AssistantMessage, SessionMessage, UserMessage } from '../messages.ts';
import type { SentImage } from '../sentImages.ts';
import { resultText, sendableArguments, sendableName, sendableSpec, sendableText } from '../toolCalls.ts';
import type { MessagePart, ModelMessage, ModelRequest } from './port.ts';

/** The images that are sent, by their files. */
type SentImages = ReadonlyMap<string, SentImage>;

/**
 * Translates a request into the two roles that VS Code's language models know:
 * - the system prompt is the first message, in the user role. There is no other place for it;
 * - steering messages are sent in the user role, where they stand in the conversation, as with every other provider;
 * - the results of one answer's calls are together in one user message, right after that answer, as some models require; the next
 *   message stays separate;
 * - an image of a prompt is sent after its words if it is given, one of a result after all results of the answer; else a note tells
 *   the model about it;
 * - empty messages are left out, and calls are made sendable, as `toolCalls.ts` says. Local messages are never sent.
 */
export function toModelRequest(request: ChatRequest, images: SentImages = new Map()): ModelRequest {
  const { system, messages } = request;
  return {
    messages: [...(system === '' ? [] : [userText(system)]), ...toModelMessages(messages, images)],
    ...toModelTools(request.tools, request.toolChoice),
  };
}

/** A copy of a request in which the type and size of each image stand for its data. */
export function withoutImageData({ messages, ...rest }: ModelRequest): object {
  const described = (part: MessagePart): object =>
    part.type === 'image'
      ? { type: 'image', image: `[${part.image.type}, ${part.image.data.length} bytes]` }
      : part;
  return { messages: messages.map(({ role, parts }) => ({ role, parts: parts.map(described) })), ...rest };
}

function toModelMessages(messages: readonly SessionMessage[], images: SentImages): ModelMessage[] {
  const translated: ModelMessage[] = [];
  let results: MessagePart[] | undefined;
  let shown: MessagePart[] = [];
  for (const [at, message] of messages.entries()) {
    switch (message.role) {
      case 'tool':
        if (!results) translated.push({ role: 'user', parts: (results = []) });
        results.push({
          type: 'result',
          callId: message.toolCallId,
          text: resultText(message, ({ file }) => images.has(file)),
        });
        shown.push(...imageParts(message, images));
        if (shown.length > 0 && messages[at + 1]?.role !== 'tool') {
          translated.push({ role: 'user', parts: shown });
          shown = [];
        }
        continue;
      case 'local':
        continue;
      case 'user': {
        const parts = promptParts(message, images);
        if (parts.length > 0) translated.push({ role: 'user', parts });
        break;
      }
      case 'steering':
        if (sendableText(message.text) !== '') translated.push(userText(message.text));
        break;
      case 'assistant': {
        const parts = partsOf(message);
        if (parts.length > 0) translated.push({ role: 'assistant', parts });
        break;
      }
    }
    results = undefined;
  }
  return translated;
}

function promptParts(message: UserMessage, images: SentImages): MessagePart[] {
  const text = sendableText(promptText(message, ({ file }) => images.has(file)));
  return [...(text === '' ? [] : [{ type: 'text', text } as const]), ...imageParts(message, images)];
}

function imageParts(message: SessionMessage, images: SentImages): MessagePart[] {
  const sent = imagesOf(message).flatMap(({ image }) => images.get(image.file) ?? []);
  return sent.map(image => ({ type: 'image', image }));
}

function userText(text: string): ModelMessage {
  return { role: 'user', parts: [{ type: 'text', text: sendableText(text) }] };
}

function partsOf({ text, toolCalls }: AssistantMessage): MessagePart[] {
  const calls = toolCalls.map((call): MessagePart => ({
    type: 'call',
    id: call.id,
    name: sendableName(call.name),
    arguments: sendableArguments(call),
  }));
  const said = sendableText(text);
  return said === '' ? calls : [{ type: 'text', text: said }, ...calls];
}

/**
 * A tool that must be called is sent alone with `required`, which is the only way to name it. `required` with several
 * tools becomes `auto`, because most models refuse it. With `none`, no tools are sent.
 */
function toModelTools(
  offered: readonly ToolSpec[],
  choice: ToolChoice | undefined,
): Pick<ModelRequest, 'tools' | 'mode'> {
  const tools = offered.map(sendableSpec);
  switch (choice?.type) {
    case 'none':
      return { tools: [], mode: 'auto' };
    case 'tool': {
      const forced = tools.filter(tool => tool.name === choice.name);
      return forced.length === 1 ? { tools: forced, mode: 'required' } : { tools, mode: 'auto' };
    }
    case 'required':
      return { tools, mode: tools.length === 1 ? 'required' : 'auto' };
    case 'auto':
    case undefined:
      return { tools, mode: 'auto' };
  }
}
