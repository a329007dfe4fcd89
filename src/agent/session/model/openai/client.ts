import type { OpenAI } from 'openai';
import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions';
import { beginningOf } from '../../../base/cutText.ts';
import { isRecord, parsedJson } from '../../../base/json.ts';
import { AnswerBody, readBeginning, readWhole } from './answerBody.ts';
import { hostOf, type FailureContext } from './failure.ts';
import { ConnectionFailure, HttpFailure, KnownFault, ReportedError } from './faults.ts';
import { retryAfterOf, retryDelay } from './retryAfter.ts';
import { accessTo, MAX_RETRIES, type OpenAiServer, type ServerAccess } from './server.ts';

/** Access to a server for one request, with its key. */
export interface OpenAiConnection {
  /** The context that `failureOf` needs. */
  readonly context: FailureContext;
  /**
   * Requests a completion. Settles once the head of the response has arrived.
   * @throws HttpFailure, ConnectionFailure, KnownFault; anything once the signal is aborted.
   */
  complete(body: ChatCompletionCreateParamsStreaming, options: CompleteOptions): Promise<StreamedAnswer>;
  /** The server's list of models, unchecked. @throws like `complete`. */
  models(signal: AbortSignal): Promise<readonly unknown[]>;
  /** The server's answer at another path of its origin, as JSON; `undefined` if it is not JSON. @throws like `models`. */
  at(path: string, signal: AbortSignal): Promise<unknown>;
}

export interface CompleteOptions {
  /** The most characters of one event. */
  readonly maxChars: number;
  readonly signal: AbortSignal;
  /** Whether the same request must not be sent again after this refusal, although its status allows that. */
  readonly isFinal: (refusal: HttpFailure) => boolean;
  /** Called when the server refused the request for now, with the wait until it is sent again, in milliseconds. */
  readonly onRetry: (delayMs: number, refusal: HttpFailure) => void;
}

/** An answer that is arriving. */
export interface StreamedAnswer {
  /**
   * The chunks as the server sent them, unchecked. Leaving the loop closes the connection. Aborting the request ends
   * them without an error.
   * @throws ReportedError, KnownFault, or the error that broke the connection.
   */
  readonly chunks: AsyncIterable<unknown>;
  /** Whether the server has marked the end of the stream. */
  sawDone(): boolean;
  /** Closes the connection, which ends `chunks` without an error. */
  close(): void;
}

/** How long a server may be silent in the middle of an answer, in milliseconds. */
const IDLE_MS = 300_000;
/** The most characters of an error's body that are kept, and how long it is read for, in milliseconds. */
const MAX_ERROR_BODY = 65_536;
const ERROR_BODY_MS = 10_000;
/** The most characters of a list of models. */
const MAX_LIST = 16 * 1_048_576;
/** The SDK requires a key. This one never leaves the process: the headers come from `ServerAccess`. */
const UNUSED_KEY = 'unused';

let sdk: { readonly OpenAI: typeof OpenAI } | undefined;

/**
 * Looks up the key and prepares one request.
 * @throws KnownFault when the address or the key cannot be used.
 */
export async function connect(server: OpenAiServer, model: string): Promise<OpenAiConnection> {
  const access = await accessTo(server, model);
  // The only import of the SDK: it loads with the first request. Importing a loaded module again takes time, too.
  const { OpenAI } = (sdk ??= await import('openai'));
  const idleMs = server.idleMs ?? IDLE_MS;
  return {
    context: access.context,

    async complete(body, { maxChars, signal, isFinal, onRetry }) {
      const answer = new AnswerBody({ maxChars, idleMs });
      let malformed = '';
      const { data, response } = await send(
        OpenAI,
        server,
        access,
        client => client.chat.completions.create(body, { signal }).withResponse(),
        {
          receive: received => answer.normalize(received),
          onMalformed: text => (malformed ||= text),
          isFinal,
          onRetry,
        },
      );
      const close = (): void => data.controller.abort();
      if (response.body === null || response.headers.get('content-type')?.includes('text/html')) {
        close();
        throw notAnApi(response);
      }
      return { chunks: chunksOf(OpenAI, data, () => malformed), sawDone: () => answer.sawDone, close };
    },

    async models(signal) {
      const response = await send(OpenAI, server, access, client =>
        client.models.list({ signal }).asResponse(),
      );
      // Read here, because the SDK only accepts OpenAI's form of a list, only as `application/json`, and sets no limit.
      const text = response.body ? await readWhole(response.body, { maxChars: MAX_LIST, idleMs }) : '';
      const list = listIn(text);
      if (!list) throw notAnApi(response);
      return list;
    },

    async at(path, signal) {
      const url = new URL(path, access.url).href;
      const response = await send(OpenAI, server, access, client => client.get(url, { signal }).asResponse());
      const text = response.body ? await readWhole(response.body, { maxChars: MAX_LIST, idleMs }) : '';
      return parsedJson(text);
    },
  };
}

interface Hooks {
  /** Replaces a successful response by the one that the SDK reads. */
  receive(response: Response): Response;
  /** Called with the data of an event that is not JSON, which the SDK only logs. */
  onMalformed(data: string): void;
  isFinal(refusal: HttpFailure): boolean;
  onRetry(delayMs: number, refusal: HttpFailure): void;
}

/** Sends one request with a client of its own, because key, headers and the refusal belong to this request alone. */
async function send<T>(
  Sdk: typeof OpenAI,
  server: OpenAiServer,
  { url, headers }: ServerAccess,
  ask: (client: OpenAI) => Promise<T>,
  { receive, onMalformed, isFinal, onRetry }: Partial<Hooks> = {},
): Promise<T> {
  const silent = (): void => undefined;
  let refusal: HttpFailure | undefined;
  const maxRetries = server.maxRetries ?? MAX_RETRIES;
  let retries = 0;
  const client = new Sdk({
    baseURL: `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, '')}`,
    defaultQuery: Object.fromEntries(url.searchParams),
    apiKey: UNUSED_KEY,
    // Nothing may come from the environment: keys found there were not entered for this server.
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: 'error',
    logger: {
      error: (_, data) => typeof data === 'string' && onMalformed?.(data),
      warn: silent,
      info: silent,
      debug: silent,
    },
    maxRetries,
    fetch: async (input, init) => {
      refusal = undefined;
      // Redirects are not followed: they would send the key to another host.
      const response = await fetch(input, { ...init, headers, redirect: 'manual' });
      if (response.ok) return receive?.(response) ?? response;
      refusal = await refusalOf(response, Math.min(server.idleMs ?? IDLE_MS, ERROR_BODY_MS));
      server.logger?.debug(`${hostOf(server.baseUrl)} answered ${refusal.status}`);
      const delayMs = isFinal?.(refusal) === true ? undefined : retryDelay(refusal, retries);
      if (delayMs !== undefined && retries++ < maxRetries) onRetry?.(delayMs, refusal);
      return forRetry(refusal, delayMs);
    },
  });
  try {
    return await ask(client);
  } catch (error) {
    if (refusal) throw refusal;
    if (!(error instanceof Sdk.APIConnectionError)) throw error;
    throw new ConnectionFailure(error.message, { cause: error.cause });
  }
}

/** Passes the SDK's chunks on and translates its errors into ours. */
async function* chunksOf(
  Sdk: typeof OpenAI,
  chunks: AsyncIterable<unknown>,
  malformed: () => string,
): AsyncGenerator<unknown, void, undefined> {
  try {
    yield* chunks;
  } catch (error) {
    if (error instanceof Sdk.APIError) throw new ReportedError(error.error);
    if (!(error instanceof SyntaxError)) throw error;
    const cause = new Error(`${String(error)} in ${beginningOf(malformed(), 1_000)}`);
    throw new KnownFault(
      'broken',
      l10n => l10n.t('The server sent a piece of an answer that cannot be read. None of it was used.'),
      { cause },
    );
  }
}

/** The models in `{data: […]}`, `{models: […]}` or a bare list. */
function listIn(text: string): readonly unknown[] | undefined {
  const body = parsedJson(text);
  const list = isRecord(body) ? (body['data'] ?? body['models']) : body;
  return Array.isArray(list) ? list : undefined;
}

/** The fault for a success that no model server would send: the address is wrong. */
function notAnApi(response: Response): KnownFault {
  const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
  return new KnownFault('notFound', l10n =>
    type === ''
      ? l10n.t('This address does not answer like a model server. The base URL usually ends in /v1.')
      : l10n.t(
          'This address does not answer like a model server (it sent {0}). The base URL usually ends in /v1.',
          type,
        ),
  );
}

/** Reads a refusal here, because the SDK would read its whole body and keep only the `error` of a JSON object. */
async function refusalOf({ status, headers, body }: Response, ms: number): Promise<HttpFailure> {
  const text = body ? await readBeginning(body, MAX_ERROR_BODY, ms) : '';
  return new HttpFailure(status, text, retryAfterOf(status, headers, text));
}

/** The response by which the SDK decides on a retry. */
function forRetry({ status }: HttpFailure, delayMs: number | undefined): Response {
  const headers = new Headers({ 'x-should-retry': String(delayMs !== undefined) });
  // The SDK ignores a zero in milliseconds, and then reads the header in seconds.
  if (delayMs !== undefined) {
    headers.set('retry-after-ms', String(delayMs));
    headers.set('retry-after', String(delayMs / 1_000));
  }
  return new Response(null, { status, headers });
}
