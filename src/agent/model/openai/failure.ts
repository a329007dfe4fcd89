import { detailOf } from '../../base/errors.ts';
import { isRecord } from '../../base/json.ts';
import { plural } from '../../text/plural.ts';
import type { ProviderFailure } from '../chatProvider.ts';
import type { ProviderFailureCode } from '../messages.ts';
import { isTooLong, windowInRefusal } from './tooLong.ts';
import { BrokenAnswer, ConnectionFailure, HttpFailure, KnownFault, ReportedError } from './faults.ts';

export interface FailureContext {
  readonly baseUrl: string;
  readonly model: string;
  readonly hasKey: boolean;
  /** Texts that must not appear in a failure: the key and header values. */
  readonly secrets: readonly string[];
}

/** How much of a body goes to the log, in characters. */
const MAX_BODY = 4_000;
/** How much of the server's own message is quoted, in characters. */
const MAX_QUOTE = 300;

/** Describes anything thrown while requesting an answer. The result contains no secret. */
export function failureOf(error: unknown, context: FailureContext): ProviderFailure {
  const failure = describe(error, context);
  const hide = (text: string): string => redact(text, context.secrets);
  return {
    code: failure.code,
    message: hide(failure.message),
    detail: hide(
      `${failure.code} from ${hostOf(context.baseUrl)}, model ${context.model}\n${failure.detail}`,
    ),
    ...(failure.status !== undefined && { status: failure.status }),
    ...(failure.contextWindow !== undefined && { contextWindow: failure.contextWindow }),
  };
}

/** Replaces every secret in a text, also in its JSON- and URL-escaped forms. */
export function redact(text: string, secrets: readonly string[]): string {
  const forms = secrets.flatMap(secret => [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
  ]);
  return forms
    .filter(form => form.length > 3)
    .sort((a, b) => b.length - a.length)
    .reduce((result, form) => result.replaceAll(form, '***'), text);
}

/** Host and port of a base URL, e.g. `127.0.0.1:11434`; never a user name or a password. */
export function hostOf(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) return 'the server';
  const url = new URL(baseUrl);
  return `${url.hostname}:${url.port || (url.protocol === 'https:' ? '443' : '80')}`;
}

function describe(error: unknown, context: FailureContext): ProviderFailure {
  const place = hostOf(context.baseUrl);
  if (error instanceof HttpFailure) {
    return describeStatus(error.status, error.body, error.retryAfter, context);
  }
  if (error instanceof KnownFault) {
    return { code: error.code, message: error.message, detail: causeChainOf(error) };
  }
  if (error instanceof ConnectionFailure) {
    const detail = `${codesOf(error).join(', ')}\n${causeChainOf(error)}`;
    return { code: 'unreachable', message: describeConnection(error, place), detail };
  }
  if (error instanceof ReportedError) {
    const body = JSON.stringify(error.reported) ?? '';
    const status = statusIn(error.reported);
    if (status !== undefined) return describeStatus(status, body, undefined, context);
    if (isTooLong(status, body)) return describeTooLong(body, body, context);
    const message = `${place} reported an error in the middle of its answer.${quote(wordsOf(error.reported))}`;
    return { code: 'server', message, detail: body.slice(0, MAX_BODY) };
  }
  if (error instanceof BrokenAnswer)
    return { code: 'broken', message: error.message, detail: causeChainOf(error) };
  const message = `The response of ${place} was interrupted and ignored.`;
  return { code: 'broken', message, detail: causeChainOf(error) };
}

function describeStatus(
  status: number,
  body: string,
  retryAfter: number | undefined,
  context: FailureContext,
): ProviderFailure {
  const place = hostOf(context.baseUrl);
  const said = quote(wordsInBody(body));
  const detail = `status ${status}${retryAfter === undefined ? '' : `, retry after ${retryAfter} s`}\n${body.slice(0, MAX_BODY)}`;
  const failure = (code: ProviderFailureCode, sentence: string): ProviderFailure => ({
    code,
    message: sentence + said,
    detail,
    status,
  });
  if (isTooLong(status, body)) return { ...describeTooLong(body, detail, context), status };
  if (status === 401 || status === 403) {
    return failure(
      'unauthorized',
      context.hasKey ? `${place} rejected the API key (${status}).` : `${place} requires an API key.`,
    );
  }
  if (status === 402) return failure('rateLimited', `The account at ${place} has no credit left (402).`);
  if (status === 429) {
    return failure('rateLimited', `${place} is limiting requests (429). ${waitSentence(retryAfter)}`);
  }
  if (status === 404 || status === 405 || status === 410) {
    return failure(
      'notFound',
      `${place} does not know the model “${context.model}”, or the address is wrong (${status}).`,
    );
  }
  if (status >= 300 && status < 400) {
    return failure('notFound', `${place} answered that it has moved (${status}). Check the base URL.`);
  }
  if (status >= 500 || status === 408 || status === 409) {
    return failure('server', `${place} had an internal error (${status}). Trying again later may help.`);
  }
  return failure('badRequest', `${place} did not accept the request (${status}).`);
}

function describeTooLong(body: string, detail: string, { baseUrl, model }: FailureContext): ProviderFailure {
  const contextWindow = windowInRefusal(body);
  return {
    code: 'contextLength',
    message: `${hostOf(baseUrl)} finds the conversation too long for the model “${model}”.${quote(wordsInBody(body))}`,
    detail: detail.slice(0, MAX_BODY),
    ...(contextWindow === undefined ? {} : { contextWindow }),
  };
}

function describeConnection(error: ConnectionFailure, place: string): string {
  const codes = codesOf(error);
  const code = codes[0] ?? '';
  if (code === 'ECONNREFUSED') return `Nothing answers at ${place}. Is the server running?`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return `The host ${place} could not be found. Check the address and the network.`;
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME/.test(code))
    return `The certificate of ${place} is not trusted (${code}).`;
  if (/SSL|TLS|EPROTO/.test(code)) return `${place} does not speak https as expected (${code}).`;
  if (/TIMEDOUT|TIMEOUT/.test(code) || /timed? ?out/i.test(error.message))
    return `${place} did not answer in time.`;
  return `The connection to ${place} failed${code === '' ? '' : ` (${code})`}.`;
}

/** The system error codes of an error, its causes and the members of an `AggregateError`. */
function codesOf(error: unknown, depth = 0): string[] {
  if (!(error instanceof Error) || depth > 5) return [];
  const own = 'code' in error && typeof error.code === 'string' ? [error.code] : [];
  const members = error instanceof AggregateError ? (error.errors as unknown[]) : [];
  return [...own, ...[error.cause, ...members].flatMap(inner => codesOf(inner, depth + 1))];
}

function causeChainOf(error: unknown, depth = 0): string {
  const own = detailOf(error);
  if (!(error instanceof Error) || error.cause === undefined || depth > 5) return own;
  return `${own}\ncaused by ${causeChainOf(error.cause, depth + 1)}`;
}

function waitSentence(seconds: number | undefined): string {
  if (seconds === undefined || seconds <= 0) return 'Try again a little later.';
  if (seconds < 90) return `Try again in ${plural(Math.ceil(seconds), 'second')}.`;
  return `Try again in about ${Math.ceil(seconds / 60)} minutes.`;
}

/** The HTTP status of the model's host, which OpenRouter and LiteLLM put into the error of a stream. */
function statusIn(reported: unknown): number | undefined {
  if (!isRecord(reported)) return undefined;
  const code = Number(reported['code'] ?? reported['status']);
  return Number.isInteger(code) && code >= 400 && code < 600 ? code : undefined;
}

/**
 * The server's own message in a body: `{error: {message}}`, `{error: "…"}`, `{message}`, `{detail}`, or plain text. OpenRouter
 * adds the body of the model's host in `metadata.raw`.
 */
function wordsInBody(body: string): string {
  const text = body.trim();
  if (text === '' || text.startsWith('<')) return '';
  try {
    return wordsOf(JSON.parse(text));
  } catch {
    return text;
  }
}

function wordsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(wordsOf).filter(Boolean).join('; ');
  if (!isRecord(value)) return '';
  const cause = isRecord(value['metadata']) ? value['metadata']['raw'] : undefined;
  if (typeof cause === 'string')
    return `${wordsOf({ ...value, metadata: undefined })}: ${wordsInBody(cause)}`;
  for (const key of ['error', 'message', 'detail', 'msg', 'error_description']) {
    const words = wordsOf(value[key]);
    if (words !== '') return words;
  }
  return '';
}

function quote(words: string): string {
  // eslint-disable-next-line no-control-regex -- what a server says goes on one line, without control characters
  const line = words.replace(/[\u0000-\u001f\u007f\s]+/g, ' ').trim();
  if (line === '') return '';
  return ` It said: “${line.length > MAX_QUOTE ? `${line.slice(0, MAX_QUOTE)}…` : line}”`;
}
