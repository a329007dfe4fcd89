import { createHash } from 'node:crypto';
import type { WireMessage } from './messages.ts';

/** The shape that a server wants the list of messages in, beyond the common format. */
export interface WireShape {
  /**
   * Users and assistants must take turns, and a user may not follow a tool (Mistral, templates of Mistral and Gemma).
   */
  readonly alternates: boolean;
  /** The ids of calls must be nine letters and digits (Mistral), or at least not as other models write them (Claude, OpenAI). */
  readonly shortIds: boolean;
  /** There is no system role (Gemma 2). */
  readonly systemAsUser: boolean;
}

/** The assistant's filler text between a tool's result and the user's next message, where it has said nothing. */
const BRIDGE = 'OK.';

/** Brings messages into the shape that a server wants. */
export function reshape(messages: readonly WireMessage[], shape: WireShape): WireMessage[] {
  let shaped = [...messages];
  if (shape.systemAsUser) shaped = shaped.map(asUser);
  if (shape.systemAsUser || shape.alternates) shaped = withTurns(shaped);
  if (shape.shortIds) shaped = shaped.map(withShortIds);
  return shaped;
}

function asUser(message: WireMessage): WireMessage {
  return message.role === 'system' ? { ...message, role: 'user' } : message;
}

/** Joins neighbouring messages of the user, and bridges the gap between a tool and the user. */
function withTurns(messages: readonly WireMessage[]): WireMessage[] {
  const shaped: WireMessage[] = [];
  for (const message of messages) {
    const last = shaped.at(-1);
    if (message.role === 'user' && last?.role === 'user') {
      shaped[shaped.length - 1] = { ...last, content: joined(last.content, message.content) };
      continue;
    }
    if (message.role === 'user' && last?.role === 'tool') shaped.push({ role: 'assistant', content: BRIDGE });
    shaped.push(message);
  }
  return shaped;
}

type Content = Extract<WireMessage, { role: 'user' }>['content'];

function joined(first: Content, second: Content): Content {
  if (typeof first === 'string' && typeof second === 'string') return `${first}\n\n${second}`;
  return [...partsOf(first), ...partsOf(second)];
}

function partsOf(content: Content): Exclude<Content, string> {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function withShortIds(message: WireMessage): WireMessage {
  if (message.role === 'tool') return { ...message, tool_call_id: shortId(message.tool_call_id) };
  if (message.role !== 'assistant' || !message.tool_calls) return message;
  return { ...message, tool_calls: message.tool_calls.map(call => ({ ...call, id: shortId(call.id) })) };
}

/** Always the same nine letters and digits for an id; the id itself if it has that form. */
function shortId(id: string): string {
  return /^[a-zA-Z0-9]{9}$/.test(id) ? id : createHash('sha256').update(id).digest('hex').slice(0, 9);
}
