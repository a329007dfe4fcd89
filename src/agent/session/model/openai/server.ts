import { english, type Localiser } from '../../../base/localiser.ts';
import type { Logger } from '../../../base/logger.ts';
import type { FailureContext } from './failure.ts';
import { KnownFault } from './faults.ts';

/** An OpenAI-compatible server and how to reach it. */
export interface OpenAiServer {
  /**
   * The address including the version, e.g. `http://127.0.0.1:11434/v1`. Its query (Azure's `api-version`) is sent with
   * every request.
   */
  readonly baseUrl: string;
  /** Called before each request for the key of exactly this base URL; `undefined` if there is none. */
  readonly apiKey?: (() => Promise<string | undefined>) | undefined;
  readonly logger?: Logger | undefined;
  /** For the sentences of failures. Default English. */
  readonly l10n?: Localiser | undefined;
  /** Further attempts after 408, 409, 429, 5xx and failed connections. Default {@link MAX_RETRIES}. */
  readonly maxRetries?: number | undefined;
  /** The longest silence in the middle of an answer, in milliseconds. Default 5 minutes. */
  readonly idleMs?: number | undefined;
}

export const MAX_RETRIES = 3;

/** Address and headers of one request. */
export interface ServerAccess {
  readonly url: URL;
  /** All headers, including the key's. */
  readonly headers: Headers;
  /** The context that `failureOf` needs. */
  readonly context: FailureContext;
}

/**
 * Looks up the server's key and builds the headers. The result is for one request.
 * @throws KnownFault when the address or the key cannot be used.
 */
export async function accessTo(server: OpenAiServer, model: string): Promise<ServerAccess> {
  const url = addressOf(server.baseUrl);
  const key = await apiKeyOf(server);
  return {
    url,
    headers: headersFor(url, key),
    context: {
      baseUrl: server.baseUrl,
      model,
      hasKey: key !== undefined,
      secrets: key === undefined ? [] : [key],
      l10n: server.l10n ?? english,
    },
  };
}

function addressOf(baseUrl: string): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new KnownFault('notFound', l10n => l10n.t('The base URL is not an http or https address.'));
  }
  if (url.username !== '' || url.password !== '') {
    throw new KnownFault('notFound', l10n =>
      l10n.t('The base URL must not contain a user name or a password. Store a key instead.'),
    );
  }
  return url;
}

async function apiKeyOf(server: OpenAiServer): Promise<string | undefined> {
  let key: string | undefined;
  try {
    key = (await server.apiKey?.())?.trim();
  } catch (cause) {
    throw new KnownFault('unauthorized', l10n => l10n.t('The stored key could not be read.'), { cause });
  }
  if (key === undefined || key === '') return undefined;
  // Checked here, because the error for an invalid header would quote the key.
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new KnownFault('unauthorized', l10n =>
      l10n.t('The stored key contains characters that are not allowed in a key. Enter it again.'),
    );
  }
  return key;
}

/**
 * All headers of a request. They replace those of the SDK, which describe the machine and include values from the
 * environment (`OPENAI_CUSTOM_HEADERS`); the SDK has no option to turn that off.
 */
function headersFor(url: URL, key: string | undefined): Headers {
  const headers = new Headers({
    accept: 'application/json',
    'content-type': 'application/json',
    'user-agent': 'Redline',
  });
  // Azure's older addresses, which have an api-version, expect the key in another header.
  const azure = url.hostname.endsWith('.azure.com') && url.searchParams.has('api-version');
  if (key !== undefined) headers.set(azure ? 'api-key' : 'authorization', azure ? key : `Bearer ${key}`);
  return headers;
}
