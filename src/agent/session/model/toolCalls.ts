import { isJsonObject } from '../../base/json.ts';
import type { ChatRequest, ToolSpec } from './chatProvider.ts';
import type { ImageFile, ToolCall, ToolResultMessage } from './messages.ts';

/** Replaces an empty tool result, because several servers refuse an empty message. */
const EMPTY_RESULT = '(no output)';

/**
 * A text as every server takes it. Blanks alone count as nothing, since Claude refuses each request whose history has such a text.
 * NUL and half a surrogate pair, from a file, an output or a paste, become U+FFFD: servers whose JSON parser or database knows
 * neither refuse this and every later request.
 */
export function sendableText(text: string): string {
  return text.trim() === '' ? '' : text.toWellFormed().replaceAll('\0', '\ufffd');
}

/** The result of a call as every server takes it. */
export function sendableResult(content: string): string {
  return sendableText(content) || EMPTY_RESULT;
}

/** A result as the model reads it. */
export function resultText(
  { content, image }: ToolResultMessage,
  isSent: (image: ImageFile) => boolean,
): string {
  const text = sendableResult(content);
  return image && !isSent(image) ? `${text} You cannot see it: images are not sent to you.` : text;
}

/** The name of a call as every server takes it: a model may have invented one with other characters. */
export function sendableName(name: string): string {
  return name.replace(/[^\w-]/g, '_').slice(0, 64) || '_';
}

/**
 * The arguments of a call as JSON text of an object. Others become `{}`: servers parse the arguments of the history and
 * refuse the whole request over one bad call, and the call's result already tells the model what was wrong with them.
 */
export function sendableArguments(call: ToolCall): string {
  return isJsonObject(call.arguments) ? sendableJson(call.arguments) : '{}';
}

/** In JSON text, both halves of a surrogate pair, one alone, NUL, or any other escape. */
const ESCAPES = /\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u(?:[dD][89a-fA-F]..|0000)|\\./g;

/** {@link sendableText} for the strings in JSON text; the rest stays as it was written. */
function sendableJson(json: string): string {
  return json
    .toWellFormed()
    .replace(ESCAPES, found => (found.length === '\\u0000'.length ? '\\ufffd' : found));
}

/** The description and the parameters of a tool, which may be foreign, as every server takes them; see {@link sendableText}. */
export function sendableSpec({ name, description, parameters }: ToolSpec): ToolSpec {
  const json = JSON.stringify(parameters);
  const sent = sendableJson(json);
  return {
    name,
    description: sendableText(description),
    parameters: sent === json ? parameters : (JSON.parse(sent) as ToolSpec['parameters']),
  };
}

/** Gives each call of an answer an id that no other call of the conversation has. */
export class CallIds {
  readonly #used: Set<string>;

  /** @param used the ids of all calls in the conversation so far, as {@link callIdsIn} finds them. */
  constructor(used: Iterable<string>) {
    this.#used = new Set(used);
  }

  /** The model's own id, or `call_<n>` if that is empty or taken. */
  take(id: string): string {
    let free = id;
    for (let n = this.#used.size + 1; free === '' || this.#used.has(free); n++) free = `call_${n}`;
    this.#used.add(free);
    return free;
  }
}

/** The ids of all calls in the messages of a request. */
export function callIdsIn({ messages }: ChatRequest): string[] {
  return messages.flatMap(message => {
    if (message.role === 'assistant') return message.toolCalls.map(call => call.id);
    return message.role === 'tool' ? [message.toolCallId] : [];
  });
}
