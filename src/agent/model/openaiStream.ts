import { isJsonObject, isRecord } from './openaiMessages.ts';
import { BrokenAnswer, KnownFault, ReportedError } from './openaiFailure.ts';
import type { ProviderAnswer, ProviderEvent } from './chatProvider.ts';
import type { TokenUsage, ToolCall } from './messages.ts';

/** What came with an answer for the next request only; see `openaiHabits.ts`. */
export interface AnswerLeftovers {
  readonly reasoning: string;
  /** Gemini's `extra_content` by the final id of the call. */
  readonly extraContent: ReadonlyMap<string, unknown>;
}

export interface CollectedAnswer {
  readonly answer: ProviderAnswer;
  readonly leftovers: AnswerLeftovers;
}

interface CallSlot {
  wireId: string;
  name: string;
  arguments: string;
  extraContent: unknown;
}

const LENGTH_REASONS = new Set(['length', 'max_tokens', 'model_length']);
const FILTER_REASONS = new Set(['content_filter', 'sensitive', 'safety']);
const FAILED_REASONS = new Set(['error', 'abort', 'network_error', 'insufficient_system_resource']);

/**
 * Puts the chunks of one streamed chat completion together. Pure: no clock, no network.
 *
 * Tool calls. A delta belongs to the call at its `index`. Without an index (Gemini) it belongs to the call with its id;
 * without both, to the newest call, unless it brings a name, which begins a call. An index that is used again with
 * another id and a name, or with a name after complete arguments, begins a call as well (servers that number every
 * call 0). Ids that are missing, empty or already used in the conversation are replaced by `call_<n>`.
 *
 * The end. A `finish_reason` ends an answer, whatever it says, and so does `[DONE]` alone if something was said and
 * all arguments are whole; a stream with neither has broken off. `stop` with calls counts as `toolCalls` (Gemini,
 * some of OpenAI's models, forced calls). Answers cut by a content filter or by the server's trouble are errors, since
 * what was cut cannot be told from what was meant. A `length` answer keeps its calls as they stand: the last one's
 * arguments may be malformed or empty. Empty arguments of a finished answer become `{}`.
 */
export class ChatAccumulator {
  readonly #usedIds: Set<string>;
  readonly #maxChars: number;
  readonly #slots: CallSlot[] = [];
  readonly #byIndex = new Map<number, CallSlot>();
  #text = '';
  #reasoning = '';
  #chars = 0;
  #finishReason: string | undefined;
  #usage: TokenUsage | undefined;

  /** `usedIds`: the call ids of the conversation so far. `maxChars` bounds text, reasoning and arguments together. */
  constructor(usedIds: Iterable<string>, maxChars: number) {
    this.#usedIds = new Set(usedIds);
    this.#maxChars = maxChars;
  }

  /** True once the server has said why the answer ended. */
  get finished(): boolean {
    return this.#finishReason !== undefined;
  }

  /**
   * Takes one parsed chunk, or a whole completion of a server that does not stream. Gives what is to be displayed.
   * @throws ReportedError for an error object, BrokenAnswer when the answer outgrows the bound.
   */
  push(chunk: unknown): ProviderEvent[] {
    if (Array.isArray(chunk)) return chunk.flatMap(part => this.push(part));
    if (!isRecord(chunk)) return [];
    if (chunk['error']) throw new ReportedError(chunk['error']);
    if (chunk['object'] === 'error') throw new ReportedError(chunk);
    this.#usage = usageIn(chunk['usage']) ?? this.#usage;
    const choices: unknown[] = Array.isArray(chunk['choices']) ? chunk['choices'] : [];
    const choice = choices.find(one => isRecord(one) && (one['index'] ?? 0) === 0);
    if (!isRecord(choice)) return [];
    if (choice['error']) throw new ReportedError(choice['error']);
    const events = this.#takeDelta(choice);
    const reason = choice['finish_reason'];
    if (typeof reason === 'string' && reason !== '') this.#finishReason = reason;
    if (this.#chars > this.#maxChars) {
      const size = `${Math.round(this.#maxChars / 1_048_576)} MB`;
      throw new BrokenAnswer(`The answer grew past ${size} and was stopped. Nothing of it was used.`);
    }
    return events;
  }

  /**
   * The whole answer. `sawDone` tells that `[DONE]` came.
   * @throws BrokenAnswer when the stream ended too early, KnownFault when the server gave the answer up.
   */
  finish(sawDone: boolean): CollectedAnswer {
    const reason = this.#finishReason;
    if (reason !== undefined && FILTER_REASONS.has(reason)) {
      throw new KnownFault('badRequest', `The server's content filter stopped the answer (${reason}).`);
    }
    if (reason !== undefined && FAILED_REASONS.has(reason)) {
      throw new KnownFault('server', `The server gave up in the middle of its answer (${reason}).`);
    }
    const slots = this.#slots.filter(slot => slot.name !== '' || slot.arguments.trim() !== '');
    const whole = slots.every(slot => slot.arguments.trim() === '' || isJsonObject(slot.arguments));
    const said = this.#text !== '' || slots.length > 0;
    if (reason === undefined && !(sawDone && said && whole)) {
      throw new BrokenAnswer("The server's answer broke off before it was complete. Nothing of it was used.");
    }
    if (slots.some(slot => slot.name === '')) {
      throw new BrokenAnswer('The server sent a tool call without a name. Nothing of its answer was used.');
    }
    const cut = reason !== undefined && LENGTH_REASONS.has(reason);
    const extraContent = new Map<string, unknown>();
    const toolCalls = slots.map((slot): ToolCall => {
      const id = this.#freeId(slot.wireId);
      if (slot.extraContent !== undefined) extraContent.set(id, slot.extraContent);
      return { id, name: slot.name, arguments: slot.arguments.trim() === '' && !cut ? '{}' : slot.arguments };
    });
    const stopReason = cut ? 'length' : toolCalls.length > 0 ? 'toolCalls' : 'stop';
    return {
      answer: { text: this.#text, toolCalls, stopReason, ...(this.#usage && { usage: this.#usage }) },
      leftovers: { reasoning: this.#reasoning, extraContent },
    };
  }

  #takeDelta(choice: Record<string, unknown>): ProviderEvent[] {
    const untouched = this.#text === '' && this.#slots.length === 0;
    const delta = isRecord(choice['delta']) ? choice['delta'] : untouched ? choice['message'] : undefined;
    if (!isRecord(delta)) return [];
    const events: ProviderEvent[] = [];
    const text = textIn(delta['content']) + textIn(delta['refusal']);
    if (text !== '') {
      this.#text += text;
      events.push({ type: 'text', delta: text });
    }
    const reasoning = textIn(delta['reasoning_content']);
    this.#reasoning += reasoning;
    this.#chars += text.length + reasoning.length;
    const calls: unknown[] = Array.isArray(delta['tool_calls']) ? delta['tool_calls'] : [];
    for (const call of calls) events.push(...this.#takeCall(call));
    if (isRecord(delta['function_call']))
      events.push(...this.#takeCall({ index: 0, function: delta['function_call'] }));
    return events;
  }

  #takeCall(call: unknown): ProviderEvent[] {
    if (!isRecord(call)) return [];
    const target = isRecord(call['function']) ? call['function'] : {};
    const id = textIn(call['id']);
    const name = textIn(target['name']);
    const piece = argumentsIn(target['arguments']);
    const slot = this.#slotFor(call['index'], id, name, piece);
    slot.wireId ||= id;
    slot.extraContent = call['extra_content'] ?? slot.extraContent;
    const begun = slot.arguments !== '';
    slot.arguments += piece;
    this.#chars += piece.length;
    if (slot.name === '' && name !== '') {
      slot.name = name;
      return [{ type: 'toolCall', name }];
    }
    // LM Studio documents that a name may come in pieces; a server that repeats the whole name is no such case.
    if (id === '' && !begun && name !== slot.name) slot.name += name;
    return [];
  }

  #slotFor(index: unknown, id: string, name: string, piece: string): CallSlot {
    const numbered = typeof index === 'number';
    let slot: CallSlot | undefined;
    if (numbered) slot = this.#byIndex.get(index);
    else if (id !== '') slot = this.#slots.find(one => one.wireId === id);
    else if (name === '') slot = this.#slots.at(-1);
    if (slot && name !== '') {
      const otherId = id !== '' && slot.wireId !== '' && id !== slot.wireId;
      if (otherId || (piece.trimStart().startsWith('{') && isJsonObject(slot.arguments))) slot = undefined;
    }
    if (slot) return slot;
    const fresh: CallSlot = { wireId: '', name: '', arguments: '', extraContent: undefined };
    this.#slots.push(fresh);
    if (numbered) this.#byIndex.set(index, fresh);
    return fresh;
  }

  #freeId(wireId: string): string {
    let id = wireId;
    for (let n = this.#usedIds.size + 1; id === '' || this.#usedIds.has(id); n++) id = `call_${n}`;
    this.#usedIds.add(id);
    return id;
  }
}

/** Text, or the text parts of a list of parts (Mistral); thinking parts and everything else count as nothing. */
function textIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return '';
  return value.map(part => (isRecord(part) && part['type'] === 'text' ? textIn(part['text']) : '')).join('');
}

/** Some gateways send the arguments as an object in place of its text. */
function argumentsIn(value: unknown): string {
  if (typeof value === 'string') return value;
  return isRecord(value) ? JSON.stringify(value) : '';
}

function usageIn(value: unknown): TokenUsage | undefined {
  if (!isRecord(value)) return undefined;
  const { prompt_tokens: inputTokens, completion_tokens: outputTokens } = value;
  if (typeof inputTokens !== 'number' || typeof outputTokens !== 'number') return undefined;
  return { inputTokens, outputTokens };
}
