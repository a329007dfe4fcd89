import { isJsonObject, isRecord } from '../../../base/json.ts';
import type { ProviderAnswer, ProviderEvent } from '../chatProvider.ts';
import type { TokenUsage, ToolCall } from '../messages.ts';
import { CallIds } from '../toolCalls.ts';
import { KnownFault, ReportedError } from './faults.ts';
import { splitAtClosingTag, ThinkTags } from './thinkTags.ts';

/** Parts of an answer that only the server itself needs, in the next request; see `serverQuirks.ts`. */
export interface AnswerLeftovers {
  /** OpenRouter's `reasoning_details`, put together. */
  readonly reasoningDetails: readonly Record<string, unknown>[];
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
/** Gemini's endpoint says why after a colon, such as `content_filter: RECITATION`. */
const FILTER_REASON = /^(?:content_filter|sensitive|safety)\b/;
/** Gemini throws away a call that it finds malformed: `function_call_filter: MALFORMED_FUNCTION_CALL`. */
const FAILED_REASON = /^(?:error|abort|network_error|insufficient_system_resource|function_call_filter)\b/;

/**
 * Assembles the chunks of one streamed chat completion. Pure: no clock, no network.
 *
 * Tool calls: a delta belongs to the call at its `index`. Without an index (Gemini) it belongs to the call with its id; without
 * both, to the newest call, unless it has a name, which starts a new call. An index that is reused with another id and a name, or
 * with a name after complete arguments, also starts a new call (some servers number every call 0). Ids that are missing, empty or
 * already used in the conversation are replaced by `call_<n>`.
 *
 * Reasoning comes in `reasoning_content`, `reasoning`, parts of type `thinking` (Mistral), or in tags at the beginning of the text;
 * if a server sends it twice in one delta, the first form counts.
 *
 * The end: any `finish_reason` ends an answer, the last one if there are several. So does `[DONE]` alone if the answer is not empty
 * and all arguments are complete; a stream with neither is broken. `stop` with calls counts as `toolCalls` (Gemini, some OpenAI
 * models, forced calls). An answer cut short by a content filter or a server fault is an error, because nobody knows what is missing.
 * A `length` answer keeps its calls unchanged: the arguments of the last one may be malformed or empty. Otherwise empty arguments
 * become `{}`.
 */
export class ChatAccumulator {
  readonly #ids: CallIds;
  readonly #maxChars: number;
  readonly #slots: CallSlot[] = [];
  readonly #byIndex = new Map<number, CallSlot>();
  readonly #tags = new ThinkTags();
  readonly #details: Record<string, unknown>[] = [];
  #text = '';
  #reasoning = '';
  #chars = 0;
  #finishReason: string | undefined;
  /** Whether more of the answer came after a `finish_reason`. */
  #goesOn = false;
  #usage: TokenUsage | undefined;

  /**
   * @param usedIds the ids of all calls in the conversation so far.
   * @param maxChars the limit of text, reasoning (in all its forms) and arguments together, in characters.
   */
  constructor(usedIds: Iterable<string>, maxChars: number) {
    this.#ids = new CallIds(usedIds);
    this.#maxChars = maxChars;
  }

  /** Whether nothing of the answer has arrived yet. */
  get isEmpty(): boolean {
    return this.#chars === 0 && this.#slots.length === 0;
  }

  /** Whether the server has sent a `finish_reason` that ends the answer: some gateways send one with each piece. */
  get finished(): boolean {
    return this.#finishReason !== undefined && !this.#goesOn;
  }

  /**
   * Takes one parsed chunk, or the whole completion of a server that does not stream.
   * @returns the events to display.
   * @throws ReportedError for an error object, KnownFault if the answer exceeds the limit.
   */
  push(chunk: unknown): ProviderEvent[] {
    if (Array.isArray(chunk)) return chunk.flatMap(part => this.push(part));
    if (!isRecord(chunk)) return [];
    if (chunk['error']) throw new ReportedError(chunk['error']);
    if (chunk['object'] === 'error') throw new ReportedError(chunk);
    this.#usage = usageIn(chunk) ?? usageIn(chunk['x_groq']) ?? this.#usage;
    const choices: unknown[] = Array.isArray(chunk['choices']) ? chunk['choices'] : [];
    const choice = choices.find(one => isRecord(one) && (one['index'] ?? 0) === 0);
    if (!isRecord(choice)) return [];
    if (choice['error']) throw new ReportedError(choice['error']);
    this.#usage = usageIn(choice) ?? this.#usage;
    const before = this.#chars;
    const events = this.#takeDelta(choice);
    if (this.#finishReason !== undefined && this.#chars > before) this.#goesOn = true;
    const reason = choice['finish_reason'];
    if (typeof reason === 'string' && reason !== '') {
      this.#finishReason = reason;
      events.push(...this.#takeHeld());
    }
    if (this.#chars > this.#maxChars) {
      const size = `${Math.round(this.#maxChars / 1_048_576)} MB`;
      throw new KnownFault('broken', l10n =>
        l10n.t('The answer grew past {0} and was stopped. None of it was used.', size),
      );
    }
    return events;
  }

  /**
   * The complete answer.
   * @param sawDone whether the stream ended with `[DONE]`.
   * @throws KnownFault if the stream ended too early, or the server gave up.
   */
  finish(sawDone: boolean): CollectedAnswer {
    const reason = this.#finishReason;
    this.#takeHeld();
    this.#moveUnopened();
    if (reason !== undefined && FILTER_REASON.test(reason)) {
      throw new KnownFault('badRequest', l10n =>
        l10n.t("The server's content filter stopped the answer ({0}).", reason),
      );
    }
    if (reason !== undefined && FAILED_REASON.test(reason)) {
      throw new KnownFault('server', l10n =>
        l10n.t('The server gave up in the middle of its answer ({0}).', reason),
      );
    }
    const slots = this.#slots.filter(slot => slot.name !== '' || slot.arguments.trim() !== '');
    const whole = slots.every(slot => slot.arguments.trim() === '' || isJsonObject(slot.arguments));
    const said = this.#text !== '' || slots.length > 0;
    if (reason === undefined && !(sawDone && said && whole)) {
      throw new KnownFault('broken', l10n => l10n.t('The response was interrupted and ignored.'));
    }
    if (slots.some(slot => slot.name === '')) {
      throw new KnownFault('broken', l10n =>
        l10n.t('The server sent a tool call without a name. None of its answer was used.'),
      );
    }
    const cut = reason !== undefined && LENGTH_REASONS.has(reason);
    const extraContent = new Map<string, unknown>();
    const toolCalls = slots.map((slot): ToolCall => {
      const id = this.#ids.take(slot.wireId);
      if (slot.extraContent !== undefined) extraContent.set(id, slot.extraContent);
      return { id, name: slot.name, arguments: slot.arguments.trim() === '' && !cut ? '{}' : slot.arguments };
    });
    const stopReason = cut ? 'length' : toolCalls.length > 0 ? 'toolCalls' : 'stop';
    return {
      answer: {
        text: this.#text,
        ...(this.#reasoning.trim() !== '' && { reasoning: this.#reasoning }),
        toolCalls,
        stopReason,
        ...(this.#usage && { usage: this.#usage }),
      },
      leftovers: { reasoningDetails: this.#details, extraContent },
    };
  }

  #takeDelta(choice: Record<string, unknown>): ProviderEvent[] {
    const untouched = this.#text === '' && this.#slots.length === 0;
    const delta = isRecord(choice['delta']) ? choice['delta'] : untouched ? choice['message'] : undefined;
    if (!isRecord(delta)) return [];
    const said = this.#tags.push(textIn(delta['content']) + textIn(delta['refusal']));
    const thought =
      textIn(delta['reasoning_content']) || textIn(delta['reasoning']) || thinkingIn(delta['content']);
    const events = this.#take(said.text, thought + said.reasoning);
    if (Array.isArray(delta['reasoning_details']))
      for (const detail of delta['reasoning_details']) this.#takeDetail(detail);
    const calls: unknown[] = Array.isArray(delta['tool_calls']) ? delta['tool_calls'] : [];
    for (const call of calls) this.#takeCall(call);
    if (isRecord(delta['function_call'])) this.#takeCall({ index: 0, function: delta['function_call'] });
    return events;
  }

  #take(text: string, reasoning: string): ProviderEvent[] {
    this.#text += text;
    this.#reasoning += reasoning;
    this.#chars += text.length + reasoning.length;
    return [
      ...(reasoning === '' ? [] : [{ type: 'reasoning', delta: reasoning } as const]),
      ...(text === '' ? [] : [{ type: 'text', delta: text } as const]),
    ];
  }

  /** Takes the held text that might have been part of a tag, but was not. */
  #takeHeld(): ProviderEvent[] {
    const { text, reasoning } = this.#tags.end();
    return this.#take(text, reasoning);
  }

  /** Moves reasoning whose opening tag was not sent out of the text. */
  #moveUnopened(): void {
    if (this.#reasoning !== '') return;
    const { text, reasoning } = splitAtClosingTag(this.#text);
    this.#text = text;
    this.#reasoning = reasoning;
  }

  /** Adds to the detail with the same index and type, whose texts come in pieces and whose signature comes last. */
  #takeDetail(detail: unknown): void {
    if (!isRecord(detail)) return;
    const { index, type } = detail;
    const known = this.#details.find(
      one => index !== undefined && one['index'] === index && one['type'] === type,
    );
    this.#chars += JSON.stringify(detail).length;
    if (!known) {
      this.#details.push({ ...detail });
      return;
    }
    for (const [name, value] of Object.entries(detail)) {
      const pieces = name === 'text' || name === 'summary' || name === 'data';
      if (pieces) known[name] = textIn(known[name]) + textIn(value);
      else known[name] = value ?? known[name];
    }
  }

  #takeCall(call: unknown): void {
    if (!isRecord(call)) return;
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
    if (slot.name === '') slot.name = name;
    // LM Studio documents that a name may come in pieces. A server that repeats the whole name is a different case.
    else if (id === '' && !begun && name !== slot.name) slot.name += name;
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
}

/** The text of a string or of a list of parts (Mistral). Parts of other types are ignored. */
function textIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return '';
  return value.map(part => (isRecord(part) && part['type'] === 'text' ? textIn(part['text']) : '')).join('');
}

/** The text of the parts of type `thinking` (Mistral). */
function thinkingIn(content: unknown): string {
  if (!Array.isArray(content)) return '';
  return content
    .map(part => (isRecord(part) && part['type'] === 'thinking' ? textIn(part['thinking']) : ''))
    .join('');
}

/** The arguments as text: some gateways send them as an object. */
function argumentsIn(value: unknown): string {
  if (typeof value === 'string') return value;
  return isRecord(value) ? JSON.stringify(value) : '';
}

/** The `usage` of a chunk, of its choice (Kimi) or of `x_groq` in it (Groq). */
function usageIn(part: unknown): TokenUsage | undefined {
  if (!isRecord(part) || !isRecord(part['usage'])) return undefined;
  const { prompt_tokens: inputTokens, completion_tokens: outputTokens } = part['usage'];
  if (typeof inputTokens !== 'number' || typeof outputTokens !== 'number') return undefined;
  return { inputTokens, outputTokens };
}
