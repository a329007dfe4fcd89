import { promptText } from './attachments.ts';
import type { AssistantMessage, SessionMessage, ToolCall } from './messages.ts';
import type { ToolChoice, ToolSpec } from './chatProvider.ts';

/** A tool call as it stands in a chat-completions request. */
export interface WireToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
  /** Gemini's place for data that must come back unchanged with the call. */
  readonly extra_content?: unknown;
}

/** A message as it stands in a chat-completions request. */
export type WireMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | {
      readonly role: 'assistant';
      readonly content: string | null;
      readonly tool_calls?: readonly WireToolCall[];
      readonly reasoning_content?: string;
    }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string };

export interface WireTool {
  readonly type: 'function';
  readonly function: {
    readonly name: string;
    readonly description: string;
    readonly parameters: Record<string, unknown>;
  };
}

export type WireToolChoice =
  'auto' | 'none' | 'required' | { readonly type: 'function'; readonly function: { readonly name: string } };

/** What some servers want back with the assistant's messages; see `openaiEcho.ts`. */
export interface WireExtras {
  extraContentOf(callId: string): unknown;
  reasoningOf(message: AssistantMessage): string | undefined;
}

/** Sent in place of an empty tool result: several servers refuse an empty message. */
const EMPTY_RESULT = '(no output)';

/**
 * Translates a session's messages. What no server would take is mended or left out, and nothing else is changed:
 * - an empty system prompt, empty user and steering messages, and assistant messages with neither text nor calls
 *   (answers that failed or were stopped at once) are left out;
 * - arguments that are not a JSON object are sent as `{}`: servers parse the arguments of the history and refuse the
 *   whole request over one bad call, and the call's result already tells the model what was wrong with them;
 * - a tool name that no server allows (a model may invent one) keeps its allowed characters only.
 * Attachments go with the words of their prompt. Steering goes in the user role, as a message of its own. `details`
 * and local messages never leave the session.
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

export function toWireTools(tools: readonly ToolSpec[]): WireTool[] {
  return tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }));
}

/**
 * The `tool_choice` to send, or undefined to send none: without tools, without a choice, and for a tool that is not
 * offered, since every server answers that with an error.
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

/** True for the JSON text of an object. */
export function isJsonObject(text: string): boolean {
  try {
    return isRecord(JSON.parse(text));
  } catch {
    return false;
  }
}

/** True for a plain object, not for null or an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Says what a strict server would find wrong with the messages of a request, one sentence each; empty when nothing.
 * Every tool call has exactly one result, right after its message and in the order of the calls; no result without
 * its call; no empty message; system messages at the head only; ids unique within one message; arguments are JSON objects.
 */
export function validateConversation(messages: readonly unknown[]): string[] {
  const problems: string[] = [];
  let awaited: string[] = [];
  let headEnded = false;
  messages.forEach((message, index) => {
    const say = (problem: string): void => void problems.push(`messages[${index}]: ${problem}`);
    if (!isRecord(message)) return say('is not an object');
    const { role, content } = message;
    if (role !== 'tool' && awaited.length > 0) {
      say(`the results of ${awaited.join(', ')} are missing before this ${String(role)} message`);
      awaited = [];
    }
    if (role !== 'system') headEnded = true;
    else if (headEnded) say('a system message after the head');
    if (role === 'tool') {
      const id = String(message['tool_call_id']);
      if (awaited[0] === id) awaited.shift();
      else if (awaited.includes(id)) {
        say(`the result of ${id} comes before that of ${awaited[0]}`);
        awaited = awaited.filter(other => other !== id);
      } else say(`a result for ${id}, which is not awaited here`);
      if (typeof content !== 'string' || content === '') say('an empty result');
    } else if (role === 'assistant') {
      awaited = checkAssistant(message, say);
    } else if (role === 'user' || role === 'system') {
      if (typeof content !== 'string' || content === '') say(`an empty ${role} message`);
    } else say(`an unknown role ${String(role)}`);
  });
  if (awaited.length > 0) problems.push(`the results of ${awaited.join(', ')} are missing at the end`);
  if (messages.length === 0) problems.push('there are no messages');
  return problems;
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
      name: call.name.replace(/[^\w-]/g, '_').slice(0, 64) || '_',
      arguments: isJsonObject(call.arguments) ? call.arguments : '{}',
    },
    ...(extraContent !== undefined && { extra_content: extraContent }),
  };
}

/** Checks one assistant message and gives the ids of its calls. */
function checkAssistant(message: Record<string, unknown>, say: (problem: string) => void): string[] {
  const { content, tool_calls: calls } = message;
  if (calls === undefined) {
    if (typeof content !== 'string' || content === '') say('an empty assistant message');
    return [];
  }
  if (content !== null && typeof content !== 'string') say('content is neither text nor null');
  if (!Array.isArray(calls) || calls.length === 0) {
    say('tool_calls is not a list with members');
    return [];
  }
  const ids: string[] = [];
  for (const call of calls as unknown[]) {
    const target = isRecord(call) && isRecord(call['function']) ? call['function'] : {};
    const id = isRecord(call) && typeof call['id'] === 'string' ? call['id'] : '';
    if (id === '') say('a tool call without an id');
    else if (ids.includes(id)) say(`two tool calls with the id ${id}`);
    if (isRecord(call) && call['type'] !== 'function') say(`the tool call ${id} is not of type function`);
    if (typeof target['name'] !== 'string' || !/^[\w-]{1,64}$/.test(target['name'])) {
      say(`the tool call ${id} has no usable name`);
    }
    if (typeof target['arguments'] !== 'string' || !isJsonObject(target['arguments'])) {
      say(`the arguments of ${id} are not the text of a JSON object`);
    }
    if (id !== '' && !ids.includes(id)) ids.push(id);
  }
  return ids;
}
