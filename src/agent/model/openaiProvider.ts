import { untilAborted } from '../base/abort.ts';
import type { Logger } from '../base/log.ts';
import { connect } from './openaiClient.ts';
import type { OpenAiConnection, OpenAiServer } from './openaiClient.ts';
import { BrokenAnswer, KnownFault, ReportedError, failureOf, placeOf } from './openaiFailure.ts';
import type { FailureContext } from './openaiFailure.ts';
import { ServerHabits } from './openaiHabits.ts';
import { isRecord, toWireMessages, toWireToolChoice, toWireTools } from './openaiMessages.ts';
import { openAiNames } from './openaiNames.ts';
import { DONE, SseDecoder, readBody } from './openaiSse.ts';
import { ChatAccumulator } from './openaiStream.ts';
import type { ChatProvider, ChatRequest, ProviderEvent, ProviderFailure } from './chatProvider.ts';

export interface OpenAiProviderOptions extends OpenAiServer {
  readonly model: string;
  readonly logger: Logger;
  /** Bound of one answer (text, reasoning and arguments), in characters. Default 16 Mi. */
  readonly maxAnswerChars?: number | undefined;
  /** How long the server may be silent in the middle of an answer, in milliseconds. Default 5 minutes. */
  readonly idleMs?: number | undefined;
}

/** Once the answer is complete, only the usage is missing: nobody waits long for it, in milliseconds. */
const TAIL_MS = 5_000;
/** Bound of a body that is not a stream, in bytes, beyond the answer's own bound. */
const JSON_OVERHEAD = 1_048_576;

/** Chat completions from any OpenAI-compatible server. */
export function createOpenAiProvider(options: OpenAiProviderOptions): ChatProvider {
  const habits = new ServerHabits();
  return {
    ...openAiNames(options),
    stream: (request, signal) => streamAnswer(options, habits, request, signal),
  };
}

/** The models of a server, for a picker; sorted. The failure has a sentence for the person. */
export async function listOpenAiModels(
  server: OpenAiServer & { readonly signal?: AbortSignal | undefined },
): Promise<{ readonly models: readonly string[] } | { readonly failure: ProviderFailure }> {
  let context = contextOf(server.baseUrl, '');
  const signal = server.signal ?? new AbortController().signal;
  try {
    const connection = await connect({ maxRetries: 1, ...server }, '');
    context = connection.context;
    const response = await untilAborted(signal, () => connection.get('/models', signal));
    const body: unknown = await response.json().catch(() => undefined);
    const list = isRecord(body) ? (body['data'] ?? body['models']) : body;
    if (!Array.isArray(list)) throw notAnApi(response);
    const names = list.map((one: unknown) => (isRecord(one) ? (one['id'] ?? one['name']) : one));
    return { models: [...new Set(names.filter(name => typeof name === 'string'))].sort() };
  } catch (error) {
    return { failure: failureOf(error, context) };
  }
}

async function* streamAnswer(
  options: OpenAiProviderOptions,
  habits: ServerHabits,
  request: ChatRequest,
  signal: AbortSignal,
): AsyncGenerator<ProviderEvent, void, undefined> {
  const given = new AbortController();
  const stop = AbortSignal.any([signal, given.signal]);
  let context = contextOf(options.baseUrl, options.model);
  let last: ProviderEvent = { type: 'aborted' };
  try {
    if (options.model.trim() === '') throw new KnownFault('noModel', 'No model is chosen.');
    const connection = await untilAborted(signal, () => connect(options, options.model));
    context = connection.context;
    const response = await untilAborted(signal, () => send(options, connection, habits, request, stop));
    const collect = new ChatAccumulator(usedIds(request), options.maxAnswerChars ?? 16 * 1_048_576);
    const sawDone = yield* readAnswer(options, response, collect, signal);
    const { answer, leftovers } = collect.finish(sawDone);
    habits.remember(answer, leftovers);
    if (!signal.aborted) last = { type: 'done', answer };
  } catch (error) {
    if (!signal.aborted) {
      const failure = failureOf(error, context);
      options.logger.warn(failure.detail);
      last = { type: 'error', failure };
    }
  } finally {
    given.abort();
  }
  yield last;
}

/** Sends the request, again for as long as the server's refusals teach something new. */
async function send(
  options: OpenAiProviderOptions,
  connection: OpenAiConnection,
  habits: ServerHabits,
  request: ChatRequest,
  signal: AbortSignal,
): Promise<Response> {
  const choice = toWireToolChoice(request.toolChoice, request.tools);
  if (request.toolChoice?.type === 'tool' && choice === undefined) {
    options.logger.warn(`The tool ${request.toolChoice.name} is not offered and was not forced.`);
  }
  for (;;) {
    const body = {
      model: options.model,
      messages: toWireMessages(request.system, request.messages, habits),
      stream: true,
      ...(habits.includeUsage && { stream_options: { include_usage: true } }),
      ...(request.tools.length > 0 && { tools: toWireTools(request.tools) }),
      ...(choice !== undefined && { tool_choice: choice }),
    };
    try {
      return await connection.post('/chat/completions', body, signal);
    } catch (error) {
      if (signal.aborted || !habits.learn(error)) throw error;
      options.logger.info(
        `${placeOf(options.baseUrl)} refused a part of the request, which is sent again without it`,
      );
    }
  }
}

/** Feeds the accumulator and passes on what is for display. Gives whether `[DONE]` came. */
async function* readAnswer(
  options: OpenAiProviderOptions,
  response: Response,
  collect: ChatAccumulator,
  signal: AbortSignal,
): AsyncGenerator<ProviderEvent, boolean, undefined> {
  const maxChars = options.maxAnswerChars ?? 16 * 1_048_576;
  const type = response.headers.get('content-type') ?? '';
  if (type.includes('text/html') || response.body === null) throw notAnApi(response);
  if (type.includes('json') && !type.includes('stream')) {
    yield* collect.push(parse(await readText(response, maxChars * 4 + JSON_OVERHEAD, options.idleMs)));
    return true;
  }
  const decoder = new SseDecoder(maxChars * 4 + JSON_OVERHEAD);
  const idleMs = (): number => (collect.finished ? TAIL_MS : (options.idleMs ?? 300_000));
  try {
    for await (const piece of readBody(response.body, idleMs)) {
      if (piece === 'idle') {
        if (collect.finished) return false;
        throw new BrokenAnswer('The server went silent in the middle of its answer. Nothing of it was used.');
      }
      for (const data of decoder.push(piece)) {
        if (data.trim() === DONE) return true;
        yield* collect.push(parse(data));
        if (signal.aborted) return false;
      }
    }
    for (const data of decoder.end()) {
      if (data.trim() === DONE) return true;
      yield* collect.push(parse(data));
    }
  } catch (error) {
    // The answer is complete once the server has said why it ended: a connection that then breaks costs the usage only.
    if (
      !collect.finished ||
      signal.aborted ||
      error instanceof BrokenAnswer ||
      error instanceof ReportedError
    )
      throw error;
    options.logger.debug('The connection broke after the end of the answer.');
  }
  return false;
}

async function readText(response: Response, maxBytes: number, idleMs = 300_000): Promise<string> {
  const utf8 = new TextDecoder();
  let text = '';
  if (response.body === null) return text;
  for await (const piece of readBody(response.body, () => idleMs)) {
    if (piece === 'idle') throw new BrokenAnswer('The server went silent in the middle of its answer.');
    text += utf8.decode(piece, { stream: true });
    if (text.length > maxBytes) throw new BrokenAnswer('The answer is too large. Nothing of it was used.');
  }
  return text + utf8.decode();
}

function parse(data: string): unknown {
  if (data.trim() === '') return undefined;
  try {
    return JSON.parse(data);
  } catch (cause) {
    const message = 'The server sent a piece of an answer that cannot be read. Nothing of it was used.';
    throw new BrokenAnswer(message, { cause: new Error(`${String(cause)} in ${data.slice(0, 1_000)}`) });
  }
}

function notAnApi(response: Response): KnownFault {
  const type = response.headers.get('content-type') ?? 'nothing';
  return new KnownFault(
    'notFound',
    `This address does not answer like a model server (it sent ${type.split(';')[0]}). The base URL usually ends in /v1.`,
  );
}

function usedIds(request: ChatRequest): string[] {
  return request.messages.flatMap(message => {
    if (message.role === 'assistant') return message.toolCalls.map(call => call.id);
    return message.role === 'tool' ? [message.toolCallId] : [];
  });
}

function contextOf(baseUrl: string, model: string): FailureContext {
  return { baseUrl, model, hasKey: false, secrets: [] };
}
