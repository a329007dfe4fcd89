import type { Logger } from '../base/log.ts';
import { ConnectionFailure, HttpFailure, KnownFault, placeOf } from './openaiFailure.ts';
import type { FailureContext } from './openaiFailure.ts';

/** An OpenAI-compatible server and how to reach it. */
export interface OpenAiServer {
  /** Up to and with the version, e.g. `http://127.0.0.1:11434/v1`. A query (Azure's `api-version`) goes with every request. */
  readonly baseUrl: string;
  /** Asked before each request for the key of exactly this base URL; undefined when there is none. */
  readonly apiKey?: (() => Promise<string | undefined>) | undefined;
  /** Sent with every request, after and over the key's header. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly logger?: Logger | undefined;
  /** Further attempts after 408, 409, 429, 5xx and failed connections. Default 3. */
  readonly maxRetries?: number | undefined;
}

/** A server that is ready for one request: its key is known. */
export interface OpenAiConnection {
  /** For `failureOf`. */
  readonly context: FailureContext;
  /**
   * Posts JSON and gives the response once its head has arrived.
   * @throws HttpFailure, ConnectionFailure, KnownFault; anything at all once the signal is aborted.
   */
  post(path: string, body: object, signal: AbortSignal): Promise<Response>;
  /** The same for a GET. */
  get(path: string, signal: AbortSignal): Promise<Response>;
}

/** A server may make us wait for this long, in seconds; asked for more, the person is told instead. */
const MAX_WAIT = 60;
/** How much of an error's body is kept, in characters. */
const MAX_ERROR_BODY = 65_536;
/** The client wants a key to start; this one never leaves the process, since `headersFor` makes the real headers. */
const UNUSED_KEY = 'unused';

/**
 * Asks for the key and prepares one request. The key is not kept.
 * @throws KnownFault when the address, the key or a header cannot be used.
 */
export async function connect(server: OpenAiServer, model: string): Promise<OpenAiConnection> {
  const url = addressOf(server.baseUrl);
  const key = await keyOf(server);
  const headers = headersFor(server, url, key);
  const secrets = [key, ...Object.values(server.headers ?? {})].filter(secret => secret !== undefined);
  const context = { baseUrl: server.baseUrl, model, hasKey: key !== undefined, secrets };

  const send = async (
    method: 'get' | 'post',
    path: string,
    body: object | undefined,
    signal: AbortSignal,
  ) => {
    const { OpenAI } = await import('openai');
    let refusal: HttpFailure | undefined;
    let connectionError: unknown;
    const client = new OpenAI({
      baseURL: `${url.origin}${url.pathname.replace(/\/+$/, '')}`,
      defaultQuery: Object.fromEntries(url.searchParams),
      apiKey: UNUSED_KEY,
      // Nothing may come from the environment: the keys in it were not entered for this server.
      adminAPIKey: null,
      organization: null,
      project: null,
      webhookSecret: null,
      logLevel: 'off',
      maxRetries: server.maxRetries ?? 3,
      fetch: async (input, init) => {
        refusal = undefined;
        connectionError = undefined;
        try {
          // A redirect is not followed: it would carry custom headers to another host.
          const response = await fetch(input, { ...init, headers, redirect: 'manual' });
          if (response.ok) return response;
          refusal = await refusalOf(response);
        } catch (error) {
          connectionError = error;
          throw error;
        }
        server.logger?.debug(`${placeOf(server.baseUrl)} answered ${refusal.status}`);
        return forRetry(refusal);
      },
    });
    try {
      return await client[method](path, { ...(body && { body }), signal }).asResponse();
    } catch (error) {
      if (refusal) throw refusal;
      if (connectionError === undefined) throw error;
      const text = error instanceof Error ? error.message : String(error);
      throw new ConnectionFailure(text, { cause: connectionError });
    }
  };
  return {
    context,
    post: (path, body, signal) => send('post', path, body, signal),
    get: (path, signal) => send('get', path, undefined, signal),
  };
}

function addressOf(baseUrl: string): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new KnownFault('notFound', 'The base URL is not an http or https address.');
  }
  if (url.username !== '' || url.password !== '') {
    throw new KnownFault(
      'notFound',
      'The base URL must not contain a user name or a password. Store a key instead.',
    );
  }
  return url;
}

async function keyOf(server: OpenAiServer): Promise<string | undefined> {
  let key: string | undefined;
  try {
    key = (await server.apiKey?.())?.trim();
  } catch (cause) {
    throw new KnownFault('unauthorized', 'The stored key could not be read.', { cause });
  }
  if (key === undefined || key === '') return undefined;
  // Checked here, because the error of a header that cannot be built quotes its value.
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new KnownFault(
      'unauthorized',
      'The stored key has characters that a key cannot have. Enter it again.',
    );
  }
  return key;
}

/** All headers of a request. Those of the SDK are not sent: they describe the machine, and take values from the environment. */
function headersFor(server: OpenAiServer, url: URL, key: string | undefined): Headers {
  const headers = new Headers({
    accept: 'application/json',
    'content-type': 'application/json',
    'user-agent': 'Redline',
  });
  // Azure's older addresses, which carry an api-version, know the key by a header of their own.
  const azure = url.hostname.endsWith('.azure.com') && url.searchParams.has('api-version');
  if (key !== undefined) headers.set(azure ? 'api-key' : 'authorization', azure ? key : `Bearer ${key}`);
  for (const [name, value] of Object.entries(server.headers ?? {})) {
    try {
      headers.set(name, value);
    } catch {
      throw new KnownFault(
        'badRequest',
        `The header ${JSON.stringify(name)} in the settings cannot be sent.`,
      );
    }
  }
  return headers;
}

async function refusalOf(response: Response): Promise<HttpFailure> {
  const body = await response.text().catch(() => '');
  return new HttpFailure(
    response.status,
    body.slice(0, MAX_ERROR_BODY),
    secondsIn(response.headers.get('retry-after')),
  );
}

/** What the SDK decides on: it honours `retry-after` without a bound, so a long wait is turned into a refusal. */
function forRetry(refusal: HttpFailure): Response {
  const headers = new Headers();
  if (refusal.retryAfter !== undefined) headers.set('retry-after', String(refusal.retryAfter));
  if ((refusal.retryAfter ?? 0) > MAX_WAIT) headers.set('x-should-retry', 'false');
  return new Response(null, { status: refusal.status, headers });
}

/** `Retry-After` in seconds: a number or a date. */
function secondsIn(value: string | null): number | undefined {
  if (value === null) return undefined;
  const seconds = /^\s*[\d.]+\s*$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1_000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
