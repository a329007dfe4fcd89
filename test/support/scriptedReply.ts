import type { ChatBody } from './scriptedChecks.ts';

export interface ScriptedCall {
  readonly name: string;
  /** An object is sent as JSON; a string is sent unchanged and may be malformed. */
  readonly arguments: object | string;
  /** Default: `call_` and a number that is unique in the conversation. */
  readonly id?: string;
}

/** An answer of the model. It is sent in small chunks, as real servers do. */
export interface ScriptedAnswer {
  readonly text?: string;
  readonly toolCalls?: readonly ScriptedCall[];
  /** Default: `tool_calls` with calls; `stop` without, and for a named choice, as OpenAI does. `null` leaves it out. */
  readonly finishReason?: string | null;
  readonly usage?: { readonly inputTokens: number; readonly outputTokens: number };
}

interface Completion {
  readonly model: string;
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly finishReason: string | null;
  /** Undefined unless the request asked for it. */
  readonly usage: object | undefined;
}

/** Fills in the defaults of an answer. */
export function completionOf(answer: ScriptedAnswer, body: ChatBody): Completion {
  const earlier = body.messages.flatMap(message =>
    message.role === 'assistant' ? (message.tool_calls ?? []) : [],
  );
  const calls = (answer.toolCalls ?? []).map((call, index) => ({
    id: call.id ?? `call_${earlier.length + index + 1}`,
    name: call.name,
    arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
  }));
  const text = answer.text ?? '';
  const plain = calls.length === 0 || typeof body.tool_choice === 'object' ? 'stop' : 'tool_calls';
  const input = answer.usage?.inputTokens ?? Math.ceil(JSON.stringify(body.messages).length / 4);
  const output =
    answer.usage?.outputTokens ??
    Math.ceil((text.length + calls.reduce((sum, call) => sum + call.arguments.length, 0)) / 4);
  return {
    model: body.model,
    text,
    calls,
    finishReason: answer.finishReason === undefined ? plain : answer.finishReason,
    usage: body.stream_options?.include_usage
      ? { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
      : undefined,
  };
}

/** The data of the events of a stream, with `[DONE]` at the end. */
export function* streamOf({
  model,
  text,
  calls,
  finishReason,
  usage,
}: Completion): Generator<string, void, undefined> {
  const chunk = (choices: object[], more: object = {}): string =>
    JSON.stringify({
      id: 'chatcmpl-scripted',
      object: 'chat.completion.chunk',
      created: 0,
      model,
      choices,
      ...more,
    });
  const delta = (value: object, reason: string | null = null): string =>
    chunk([{ index: 0, delta: value, finish_reason: reason }], usage && { usage: null });
  yield delta({ role: 'assistant', content: calls.length > 0 && text === '' ? null : '' });
  for (const piece of piecesOf(text, 7)) yield delta({ content: piece });
  for (const [index, call] of calls.entries()) {
    const head = { index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } };
    yield delta({ tool_calls: [head] });
    for (const piece of piecesOf(call.arguments, 11)) {
      yield delta({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
  }
  if (finishReason !== null) yield delta({}, finishReason);
  if (usage) yield chunk([], { usage });
  yield '[DONE]';
}

/** Splits a text into at most 256 pieces. A surrogate pair may be split, as real servers do. */
function* piecesOf(text: string, length: number): Generator<string, void, undefined> {
  const size = Math.max(length, Math.ceil(text.length / 256));
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}
