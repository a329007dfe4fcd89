import { setTimeout as delay } from 'node:timers/promises';
import { untilAborted } from '../../../base/async.ts';
import { isRecord } from '../../../base/json.ts';
import { english } from '../../../base/localiser.ts';
import type { Logger } from '../../../base/logger.ts';
import { naturally } from '../../../base/phrases.ts';
import type {
  ChatProvider,
  ChatRequest,
  ProviderEvent,
  ProviderFailure,
  RetryCode,
} from '../chatProvider.ts';
import { asksAboutImages } from '../images.ts';
import type { ReadImage } from '../sentImages.ts';
import { callIdsIn } from '../toolCalls.ts';
import { ChatAccumulator } from './accumulator.ts';
import { connect, type OpenAiConnection, type StreamedAnswer } from './client.ts';
import { failureOf, hostOf, statusIn, type FailureContext } from './failure.ts';
import { HttpFailure, KnownFault, RefusedImage, ReportedError } from './faults.ts';
import { toWireMessages, toWireToolChoice, toWireTools } from './messages.ts';
import { windowInAnswer, windowInList } from './modelWindow.ts';
import { loadImageUrls, takesImages, withoutImageData } from './requestImages.ts';
import { retryAfterOf, retryDelay } from './retryAfter.ts';
import { MAX_RETRIES, type OpenAiServer } from './server.ts';
import { isAboutAnImage, ServerQuirks } from './serverQuirks.ts';
import { reshape } from './wireShape.ts';

export interface OpenAiProviderOptions extends OpenAiServer {
  readonly model: string;
  readonly logger: Logger;
  /** The most characters of one answer: text, reasoning and arguments. Default 16 Mi. */
  readonly maxAnswerChars?: number | undefined;
  /** The size of the model's context window in tokens as the user set it, asked before each request; 0 asks the server. */
  readonly contextWindow?: (() => number) | undefined;
  /** Reads an image of the conversation. Without it no image is sent. */
  readonly readImage?: ReadImage | undefined;
}

const MAX_ANSWER_CHARS = 16 * 1_048_576;
/**
 * An event may have four times the characters of an answer, because of escapes, and this many more for the rest of a
 * chunk.
 */
const EVENT_OVERHEAD = 1_048_576;
/** How long to wait for the usage, which may follow a complete answer, in milliseconds. */
const TAIL_MS = 5_000;

/** Creates the `stream` function of a provider, which remembers the server's quirks from one request to the next. */
export function openAiStream(options: OpenAiProviderOptions): ChatProvider['stream'] {
  const quirks = new ServerQuirks();
  return (request, signal, onSent) => streamAnswer(options, quirks, request, signal, onSent);
}

/** Lists the models of a server, sorted by name. */
export async function listOpenAiModels(
  server: OpenAiServer & { readonly signal?: AbortSignal | undefined },
): Promise<{ readonly models: readonly string[] } | { readonly failure: ProviderFailure }> {
  let context = contextOf(server, '');
  const signal = server.signal ?? new AbortController().signal;
  try {
    const connection = await connect({ maxRetries: 1, ...server }, '');
    context = connection.context;
    const list = await untilAborted(signal, () => connection.models(signal));
    const names = list.map(one => (isRecord(one) ? (one['id'] ?? one['name']) : one));
    return { models: [...new Set(names.filter(name => typeof name === 'string'))].sort(naturally) };
  } catch (error) {
    return { failure: failureOf(error, context) };
  }
}

/** The longest time that a request waits for the server's data on the model, in milliseconds. */
const TELL_MS = 5_000;

/**
 * Asks the server for the size of a model's context window; see `windowInList`.
 * @returns the tokens; `undefined` if the server does not report them; `'later'` if it may the next time. Never rejects.
 */
export async function readContextWindow(
  options: OpenAiProviderOptions,
  signal: AbortSignal,
): Promise<number | undefined | 'later'> {
  const { model, logger } = options;
  const limited = untilTold(options, signal);
  try {
    const connection = await connect({ ...options, maxRetries: 0 }, model);
    const { window, ask } = windowInList(
      await untilAborted(limited, () => connection.models(limited)),
      model,
    );
    if (ask === undefined) return window;
    const told = await untilAborted(limited, () => connection.at(ask, limited)).catch(() => undefined);
    // A model that is not loaded yet has no window yet.
    return windowInAnswer(ask, told, model) ?? (ask === '/props' ? window : 'later');
  } catch (error) {
    if (signal.aborted) return 'later';
    const { code, detail } = failureOf(error, contextOf(options, model));
    logger.debug(`${hostOf(options.baseUrl)} did not tell the context window (${code}): ${detail}`);
    return code === 'unreachable' || code === 'unauthorized' ? 'later' : undefined;
  }
}

async function* streamAnswer(
  options: OpenAiProviderOptions,
  quirks: ServerQuirks,
  request: ChatRequest,
  signal: AbortSignal,
  onSent?: (body: unknown) => void,
): AsyncGenerator<ProviderEvent, void, undefined> {
  let context = contextOf(options, options.model);
  let last: ProviderEvent = { type: 'aborted' };
  try {
    if (options.model.trim() === '') throw new KnownFault('noModel', l10n => l10n.t('No model is chosen.'));
    const connection = await untilAborted(signal, () => connect(options, options.model));
    context = connection.context;
    for (let retries = 0; ; retries++) {
      const streamed = yield* eventsDuring<ProviderEvent, StreamedAnswer>(tell =>
        untilAborted(signal, () => send(options, connection, quirks, request, signal, { tell, onSent })),
      );
      const collect = new ChatAccumulator(callIdsIn(request), options.maxAnswerChars ?? MAX_ANSWER_CHARS);
      try {
        yield* readAnswer(options, streamed, collect, signal);
      } catch (error) {
        // Some servers begin the stream before they know whether the model's host answers.
        const refusal = collect.isEmpty && !signal.aborted ? refusalIn(error) : undefined;
        const delayMs = refusal && retryDelay(refusal, retries);
        if (!refusal || delayMs === undefined || retries >= (options.maxRetries ?? MAX_RETRIES)) throw error;
        yield { type: 'retrying', delayMs, code: retryCodeOf(refusal) };
        await delay(delayMs, undefined, { signal });
        continue;
      }
      const { answer, leftovers } = collect.finish(streamed.sawDone());
      quirks.remember(answer, leftovers);
      if (!signal.aborted) last = { type: 'done', answer };
      break;
    }
  } catch (error) {
    if (!signal.aborted) {
      const failure = failureOf(error, context);
      options.logger.warn(failure.detail);
      last = { type: 'error', failure };
    }
  }
  yield last;
}

/** Sends the request, and sends it again as long as a refusal teaches a new quirk. */
async function send(
  options: OpenAiProviderOptions,
  connection: OpenAiConnection,
  quirks: ServerQuirks,
  request: ChatRequest,
  signal: AbortSignal,
  { tell, onSent }: { tell(event: ProviderEvent): void; onSent: ((body: unknown) => void) | undefined },
): Promise<StreamedAnswer> {
  const choice = toWireToolChoice(request.toolChoice, request.tools);
  if (request.toolChoice?.type === 'tool' && choice === undefined) {
    options.logger.warn(`The tool ${request.toolChoice.name} is not offered and was not forced.`);
  }
  const maxEventChars = (options.maxAnswerChars ?? MAX_ANSWER_CHARS) * 4 + EVENT_OVERHEAD;
  const { refusedImages } = quirks;
  const images = await loadImageUrls(request.messages, options.readImage);
  if (images.size > 0) await quirks.learnVision(() => visionOf(options, signal));
  const accepted = refusedImages.accepted(images);
  for (;;) {
    const isBlind = images.size > 0 && quirks.takesImages === false;
    if (isBlind && asksAboutImages(request.messages)) throw noImages(options.model);
    const refusal = refusedImages.refusalOfAsked(request.messages);
    if (refusal instanceof HttpFailure) throw new RefusedImage(refusal);
    const urls = isBlind ? new Map<string, string>() : refusedImages.accepted(images);
    const body = {
      model: options.model,
      messages: reshape(toWireMessages(request.system, request.messages, quirks, urls), quirks.shape),
      stream: true as const,
      ...(quirks.includeUsage && { stream_options: { include_usage: true } }),
      ...(request.tools.length > 0 && { tools: toWireTools(request.tools, quirks.plainSchemas) }),
      ...(choice !== undefined && { tool_choice: choice }),
    };
    onSent?.(urls.size > 0 ? withoutImageData(body) : body);
    try {
      return await connection.complete(body, {
        maxChars: maxEventChars,
        signal,
        isFinal: refusal => quirks.teaches(refusal) || (urls.size > 0 && isAboutAnImage(refusal)),
        onRetry: (delayMs, refusal) => tell({ type: 'retrying', delayMs, code: retryCodeOf(refusal) }),
      });
    } catch (error) {
      if (signal.aborted) throw error;
      const teaches = quirks.learn(error);
      if (!teaches && (urls.size === 0 || !isAboutAnImage(error))) throw error;
      if (!teaches) refusedImages.learn(error, urls, accepted, request.messages);
      options.logger.info(
        `${hostOf(options.baseUrl)} refused part of the request, which is sent again in another form`,
      );
    }
  }
}

/** The refusal of the model's host that a server reports inside its answer, if it names the status. */
function refusalIn(error: unknown): HttpFailure | undefined {
  const status = error instanceof ReportedError ? statusIn(error.reported) : undefined;
  if (status === undefined) return undefined;
  const body = JSON.stringify((error as ReportedError).reported);
  return new HttpFailure(status, body, retryAfterOf(status, new Headers(), body));
}

function retryCodeOf({ status }: HttpFailure): RetryCode {
  return status === 429 ? 'rateLimited' : 'server';
}

/** Whether the server's list says that the model takes images; `undefined` if it does not say, or cannot be had. */
async function visionOf(options: OpenAiProviderOptions, signal: AbortSignal): Promise<boolean | undefined> {
  const { model } = options;
  const limited = untilTold(options, signal);
  try {
    const connection = await connect({ ...options, maxRetries: 0 }, model);
    const list = await untilAborted(limited, () => connection.models(limited));
    return takesImages(list.find(one => isRecord(one) && (one['id'] ?? one['name']) === model));
  } catch {
    return undefined;
  }
}

/** A signal that also fires when the server's time to describe its models is up. */
function untilTold({ idleMs = TELL_MS }: OpenAiServer, signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(Math.min(TELL_MS, idleMs))]);
}

function noImages(model: string): KnownFault {
  return new KnownFault('noImages', l10n =>
    l10n.t(
      'The model “{0}” does not accept images. Choose one that does and continue, or revert to the prompt and remove the image.',
      model,
    ),
  );
}

/**
 * Feeds the accumulator and passes on the events to display. Once the server has sent a `finish_reason` the answer is
 * complete: nothing that follows, or fails to, can spoil it.
 */
async function* readAnswer(
  { idleMs, logger }: OpenAiProviderOptions,
  streamed: StreamedAnswer,
  collect: ChatAccumulator,
  signal: AbortSignal,
): AsyncGenerator<ProviderEvent, void, undefined> {
  let tail: NodeJS.Timeout | undefined;
  try {
    for await (const chunk of untilBroken(streamed.chunks, collect, logger)) {
      yield* collect.push(chunk);
      if (signal.aborted) return;
      if (collect.finished) tail ??= setTimeout(streamed.close, Math.min(TAIL_MS, idleMs ?? TAIL_MS));
      else clearTimeout(tail);
    }
  } finally {
    clearTimeout(tail);
  }
}

/** The chunks of an answer. If the connection breaks after a complete answer, they just end. */
async function* untilBroken(
  chunks: AsyncIterable<unknown>,
  collect: ChatAccumulator,
  logger: Logger,
): AsyncGenerator<unknown, void, undefined> {
  try {
    yield* chunks;
  } catch (error) {
    if (!collect.finished || error instanceof ReportedError) throw error;
    logger.debug('The connection broke after the end of the answer.');
  }
}

function contextOf({ baseUrl, l10n = english }: OpenAiServer, model: string): FailureContext {
  return { baseUrl, model, hasKey: false, secrets: [], l10n };
}

/**
 * Yields the events of `work` while it runs, and returns its result. Rejects as it does. The work goes on if the consumer leaves
 * early.
 */
async function* eventsDuring<E, T>(
  work: (emit: (event: E) => void) => Promise<T>,
): AsyncGenerator<E, T, undefined> {
  const events: E[] = [];
  let isDone = false;
  let wake = (): void => undefined;
  const done = work(event => {
    events.push(event);
    wake();
  });
  const end = (): void => {
    isDone = true;
    wake();
  };
  done.then(end, end);
  for (;;) {
    for (let event = events.shift(); event !== undefined; event = events.shift()) yield event;
    if (isDone) return done;
    await new Promise<void>(resolve => (wake = resolve));
  }
}
