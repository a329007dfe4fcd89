import { inTime, untilAborted } from '../../../base/async.ts';
import { isJsonObject, isRecord } from '../../../base/json.ts';
import type {
  ChatProvider,
  ChatRequest,
  ProviderAnswer,
  ProviderEvent,
  ProviderFailure,
} from '../chatProvider.ts';
import { asksAboutImages } from '../images.ts';
import type { TokenUsage, ToolCall } from '../messages.ts';
import { loadImages, RefusedImages, refusesAnImage, refusesImages, type SentImage } from '../sentImages.ts';
import { windowInRefusal } from '../tooLong.ts';
import { CallIds, callIdsIn } from '../toolCalls.ts';
import { failureCodeOf, faultOf, UnusableAnswer } from './fault.ts';
import { toModelRequest, withoutImageData } from './messages.ts';
import type {
  AnswerPart,
  LanguageModel,
  LanguageModelProviderOptions,
  ModelMessage,
  RequestSize,
} from './port.ts';
import { TokenCounter } from './tokenCount.ts';

const MAX_ANSWER_CHARS = 16 * 1_048_576;
const COUNT_MS = 1_000;

/** State kept from one request to the next. */
interface Memory {
  readonly counter: TokenCounter;
  /** Whether the model has refused images, even if VS Code says that it takes them. */
  refusesImages: boolean;
  readonly refusedImages: RefusedImages;
}

/** Creates the `stream` function of a provider, which remembers token counts and whether images were refused. */
export function languageModelStream(options: LanguageModelProviderOptions): ChatProvider['stream'] {
  const memory: Memory = {
    counter: new TokenCounter(),
    refusesImages: false,
    refusedImages: new RefusedImages(),
  };
  return (request, signal, onSent) => streamAnswer(options, memory, request, signal, onSent);
}

/** A request that is being made. */
interface Sent {
  readonly model: LanguageModel;
  /** Settles with `undefined` if the model cannot count. */
  readonly tokens: Promise<number | undefined>;
}

async function* streamAnswer(
  options: LanguageModelProviderOptions,
  memory: Memory,
  request: ChatRequest,
  signal: AbortSignal,
  onSent?: (body: unknown) => void,
): AsyncGenerator<ProviderEvent, void, undefined> {
  const { find, name, logger, maxAnswerChars = MAX_ANSWER_CHARS } = options;
  // Also cancels the request when the reader leaves this stream early.
  const own = new AbortController();
  const { counter, refusedImages } = memory;
  const both = AbortSignal.any([signal, own.signal]);
  let last: ProviderEvent = { type: 'aborted' };
  let sent: Sent | undefined;
  try {
    const model = await untilAborted(signal, find);
    if (!model) throw new UnusableAnswer('missing', `VS Code offers no language model ${name}.`);
    const { messages } = request;
    const isBlind = !model.takesImages || memory.refusesImages;
    const all = await untilAborted(signal, () => loadImages(isBlind ? [] : messages, options.readImage));
    const accepted = refusedImages.accepted(all);
    for (;;) {
      const images = imagesToSend(model, memory, all, messages);
      const translated = toModelRequest(request, images);
      onSent?.(withoutImageData(translated));
      const now = { model, tokens: countQuietly(() => counter.countRequest(model, translated, both)) };
      sent = now;
      const collect = new AnswerCollector(callIdsIn(request), maxAnswerChars);
      try {
        const parts = await untilAborted(signal, () => model.send(translated, both));
        yield* readParts(parts, collect, signal);
      } catch (error) {
        if (signal.aborted || images.size === 0 || !collect.isEmpty) throw error;
        const refusal = refusalOfImages(error);
        if (!refusal) throw error;
        logger.info(`No image could be sent to ${name}: ${faultOf(error).detail}`);
        if (refusal === 'model') memory.refusesImages = true;
        else refusedImages.learn(error, images, accepted, messages);
        continue;
      }
      const answer = collect.answer();
      const usage = await untilAborted(signal, () => usageOf(options, counter, now, answer, both));
      if (!signal.aborted) last = { type: 'done', answer: usage ? { ...answer, usage } : answer };
      break;
    }
  } catch (error) {
    if (!signal.aborted) {
      const failure = await failureFor(options, error, sent);
      logger.warn(failure.detail);
      last = { type: 'error', failure };
    }
  } finally {
    own.abort();
  }
  yield last;
}

/**
 * The images to send.
 * @param all images of the conversation.
 * @throws UnusableAnswer, or the refusal, if an image of the prompt cannot be sent.
 */
function imagesToSend(
  { takesImages }: LanguageModel,
  memory: Memory,
  all: ReadonlyMap<string, SentImage>,
  messages: ChatRequest['messages'],
): ReadonlyMap<string, SentImage> {
  const isBlind = !takesImages || memory.refusesImages;
  const refusal = isBlind ? undefined : memory.refusedImages.refusalOfAsked(messages);
  if (refusal instanceof Error) throw refusal;
  if (isBlind ? asksAboutImages(messages) : refusal !== undefined)
    throw new UnusableAnswer('noImages', 'The images of the prompt cannot be sent.');
  return isBlind ? new Map() : memory.refusedImages.accepted(all);
}

/**
 * Whether the model refuses images, or one of them cannot be used. VS Code decodes images before it sends them; if that fails, it
 * throws a DOM event.
 */
function refusalOfImages(error: unknown): 'model' | 'image' | undefined {
  if (isRecord(error) && error['isTrusted'] === true) return 'image';
  const { kind, detail } = faultOf(error);
  if (kind !== 'unknown') return undefined;
  return refusesImages(detail) ? 'model' : refusesAnImage(detail) ? 'image' : undefined;
}

/** Feeds the collector and passes on the events to display. Ends at once when the signal fires, even in mid-wait. */
async function* readParts(
  parts: AsyncIterable<AnswerPart>,
  collect: AnswerCollector,
  signal: AbortSignal,
): AsyncGenerator<ProviderEvent, void, undefined> {
  const iterator = parts[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await untilAborted(signal, () => iterator.next());
      if (next.done === true) return;
      const event = collect.take(next.value);
      if (event) yield event;
    }
  } finally {
    // Not awaited: a stream that hangs may never answer.
    void Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}

/** Assembles the parts of one answer. Calls arrive whole. */
class AnswerCollector {
  readonly #ids: CallIds;
  readonly #maxChars: number;
  readonly #calls: ToolCall[] = [];
  #text = '';
  #chars = 0;

  constructor(usedIds: Iterable<string>, maxChars: number) {
    this.#ids = new CallIds(usedIds);
    this.#maxChars = maxChars;
  }

  /**
   * Takes one part. Returns the event to display, if any.
   * @throws UnusableAnswer for a call that cannot be read, and if the answer exceeds the limit.
   */
  take(part: AnswerPart): ProviderEvent | undefined {
    switch (part.type) {
      case 'text':
        if (typeof part.text !== 'string' || part.text === '') return undefined;
        this.#text += part.text;
        this.#grow(part.text.length);
        return { type: 'text', delta: part.text };
      case 'call': {
        const { name } = part;
        if (typeof name !== 'string' || name === '')
          throw new UnusableAnswer('malformed', 'The answer contains a tool call without a name.');
        const text = argumentsText(part.input);
        this.#grow(text.length);
        this.#calls.push({
          id: this.#ids.take(typeof part.id === 'string' ? part.id : ''),
          name,
          arguments: text,
        });
        return undefined;
      }
      case 'other':
        return undefined;
    }
  }

  /** Whether nothing has arrived yet. */
  get isEmpty(): boolean {
    return this.#chars === 0;
  }

  /**
   * The answer, now that the stream has ended without an error. It may be empty: models end their turn that way after a tool result
   * that leaves nothing to say.
   */
  answer(): ProviderAnswer {
    return {
      text: this.#text,
      toolCalls: this.#calls,
      stopReason: this.#calls.length > 0 ? 'toolCalls' : 'stop',
    };
  }

  #grow(chars: number): void {
    this.#chars += chars;
    if (this.#chars > this.#maxChars)
      throw new UnusableAnswer('tooLarge', `The answer has more than ${this.#maxChars} characters.`);
  }
}

/** The arguments as JSON text. VS Code promises an object; some extensions pass JSON text, or nothing. */
function argumentsText(input: unknown): string {
  if (input === undefined || input === null || input === '') return '{}';
  if (typeof input === 'string') return input;
  try {
    const text = JSON.stringify(input);
    if (isJsonObject(text)) return text;
  } catch {
    // Cycles, or a `BigInt`.
  }
  throw new UnusableAnswer(
    'malformed',
    'The answer contains a tool call whose arguments are no JSON object.',
  );
}

async function usageOf(
  { countMs = COUNT_MS }: LanguageModelProviderOptions,
  counter: TokenCounter,
  { model, tokens }: Sent,
  answer: ProviderAnswer,
  signal: AbortSignal,
): Promise<TokenUsage | undefined> {
  const counted = countQuietly(() => counter.countAnswer(model, messageOf(answer), signal));
  const [inputTokens, outputTokens] = await Promise.all([
    readyIn(countMs, tokens),
    readyIn(countMs, counted),
  ]);
  return inputTokens === undefined || outputTokens === undefined ? undefined : { inputTokens, outputTokens };
}

async function failureFor(
  { name, sentence, countMs = COUNT_MS }: LanguageModelProviderOptions,
  error: unknown,
  sent: Sent | undefined,
): Promise<ProviderFailure> {
  const fault = faultOf(error);
  const code = failureCodeOf(fault.kind);
  let size: RequestSize | undefined;
  if (fault.kind === 'tooLong' && sent && sent.model.maxInputTokens > 0) {
    const tokens = await readyIn(countMs, sent.tokens);
    if (tokens !== undefined) size = { tokens, limit: sent.model.maxInputTokens };
  }
  const detail = `${code} (${fault.kind}) from the language model ${name}\n${fault.detail}`;
  // The server's limit may be lower than the one that VS Code reports for the model.
  const contextWindow = fault.kind === 'tooLong' ? (windowInRefusal(fault.detail) ?? size?.limit) : undefined;
  return { code, message: await sentence(fault, size), detail, ...(contextWindow && { contextWindow }) };
}

function messageOf({ text, toolCalls }: ProviderAnswer): ModelMessage {
  const calls = toolCalls.map(
    ({ id, name, arguments: json }) => ({ type: 'call', id, name, arguments: json }) as const,
  );
  return { role: 'assistant', parts: text === '' ? calls : [{ type: 'text', text }, ...calls] };
}

/** A count is for display only, so its failure does not fail the answer. */
function countQuietly(count: () => Promise<number>): Promise<number | undefined> {
  return Promise.resolve()
    .then(count)
    .catch(() => undefined);
}

/** The count if it is ready within the time, else `undefined`. */
function readyIn(ms: number, count: Promise<number | undefined>): Promise<number | undefined> {
  return inTime(
    ms,
    () => count,
    () => undefined,
  );
}
