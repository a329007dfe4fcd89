import { beginningOf } from '../../../base/cutText.ts';
import { oneLine } from '../../../base/foreignText.ts';
import { detailOf } from '../../../base/errors.ts';
import { isRecord } from '../../../base/json.ts';
import type { Localiser } from '../../../base/localiser.ts';
import type { ProviderFailure } from '../chatProvider.ts';
import type { ProviderFailureCode } from '../messages.ts';
import { isTooLong, windowInRefusal } from '../tooLong.ts';
import { ConnectionFailure, HttpFailure, KnownFault, RefusedImage, ReportedError } from './faults.ts';

export interface FailureContext {
  readonly baseUrl: string;
  readonly model: string;
  readonly hasKey: boolean;
  /** Texts that must not appear in a failure: the key. */
  readonly secrets: readonly string[];
  /** For the sentence that the user reads. */
  readonly l10n: Localiser;
}

/** The most characters of a body that go to the log. */
const MAX_BODY = 4_000;
/** The most characters of the server's own message that are quoted. */
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

/** Replaces every secret in a text by `mark`, also in its JSON- and URL-escaped forms. */
export function redact(text: string, secrets: readonly string[], mark = '***'): string {
  const forms = secrets.flatMap(secret => [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
  ]);
  return forms
    .filter(form => form.length > 3)
    .sort((a, b) => b.length - a.length)
    .reduce((result, form) => result.replaceAll(form, mark), text);
}

/** Host and port of a base URL, e.g. `127.0.0.1:11434`; never a user name or a password. */
export function hostOf(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) return 'the server';
  const url = new URL(baseUrl);
  return `${url.hostname}:${url.port || (url.protocol === 'https:' ? '443' : '80')}`;
}

function describe(error: unknown, context: FailureContext): ProviderFailure {
  const place = hostOf(context.baseUrl);
  const { l10n } = context;
  if (error instanceof HttpFailure) {
    return describeStatus(error.status, error.body, error.retryAfter, context);
  }
  if (error instanceof RefusedImage) {
    const { status, body, retryAfter } = error.refusal;
    const refused = l10n.t(
      '{0} refused an image of this prompt. Revert to the prompt and remove the image, or go on without it.',
      place,
    );
    const message = refused + quote(wordsInBody(body), l10n);
    return { ...describeStatus(status, body, retryAfter, context), code: 'noImages', message };
  }
  if (error instanceof KnownFault) {
    return { code: error.code, message: error.sentence(l10n), detail: causeChainOf(error) };
  }
  if (error instanceof ConnectionFailure) {
    const detail = `${codesOf(error).join(', ')}\n${causeChainOf(error)}`;
    return { code: 'unreachable', message: describeConnection(error, place, l10n), detail };
  }
  if (error instanceof ReportedError) {
    const body = JSON.stringify(error.reported) ?? '';
    const status = statusIn(error.reported);
    if (status !== undefined) return describeStatus(status, body, undefined, context);
    if (isTooLong(status, body)) return describeTooLong(body, body, context);
    const message = l10n.t('{0} reported an error in the middle of its answer.', place);
    const said = quote(wordsOf(error.reported), l10n);
    return { code: 'server', message: message + said, detail: beginningOf(body, MAX_BODY) };
  }
  const message = l10n.t('The response from {0} was interrupted and ignored.', place);
  return { code: 'broken', message, detail: causeChainOf(error) };
}

function describeStatus(
  status: number,
  body: string,
  retryAfter: number | undefined,
  context: FailureContext,
): ProviderFailure {
  const place = hostOf(context.baseUrl);
  const { l10n } = context;
  const code = String(status);
  const said = quote(wordsInBody(body), l10n);
  const detail = `status ${status}${retryAfter === undefined ? '' : `, retry after ${retryAfter} s`}\n${beginningOf(body, MAX_BODY)}`;
  const failure = (kind: ProviderFailureCode, sentence: string): ProviderFailure => ({
    code: kind,
    message: sentence + said,
    detail,
    status,
  });
  if (isTooLong(status, body)) return { ...describeTooLong(body, detail, context), status };
  if (status === 401 || status === 403) {
    return failure(
      'unauthorized',
      context.hasKey
        ? l10n.t('{0} rejected the API key ({1}).', place, code)
        : l10n.t('{0} requires an API key.', place),
    );
  }
  if (status === 402 || (status === 429 && body.includes('insufficient_quota')))
    return failure('rateLimited', l10n.t('The account at {0} has no credit left ({1}).', place, code));
  if (status === 429) {
    const limited = l10n.t('{0} is limiting requests ({1}).', place, code);
    return failure('rateLimited', `${limited} ${waitSentence(retryAfter, l10n)}`);
  }
  if (status === 404 || status === 405 || status === 410) {
    return failure(
      'notFound',
      l10n.t('{0} does not know the model “{1}”, or the address is wrong ({2}).', place, context.model, code),
    );
  }
  if (status >= 300 && status < 400) {
    return failure(
      'notFound',
      l10n.t('{0} redirects to another address ({1}). Check the base URL.', place, code),
    );
  }
  if (status >= 500 || status === 408 || status === 409) {
    return failure(
      'server',
      l10n.t('{0} had an internal error ({1}). Trying again later may help.', place, code),
    );
  }
  return failure('badRequest', l10n.t('{0} did not accept the request ({1}).', place, code));
}

function describeTooLong(
  body: string,
  detail: string,
  { baseUrl, model, l10n }: FailureContext,
): ProviderFailure {
  const contextWindow = windowInRefusal(body);
  return {
    code: 'contextLength',
    message:
      l10n.t('According to {0}, the conversation is too long for the model “{1}”.', hostOf(baseUrl), model) +
      quote(wordsInBody(body), l10n),
    detail: beginningOf(detail, MAX_BODY),
    ...(contextWindow === undefined ? {} : { contextWindow }),
  };
}

function describeConnection(error: ConnectionFailure, place: string, l10n: Localiser): string {
  const codes = codesOf(error);
  const code = codes[0] ?? '';
  if (code === 'ECONNREFUSED') return l10n.t('Nothing answers at {0}. Is the server running?', place);
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return l10n.t('The host {0} could not be found. Check the address and the network.', place);
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME/.test(code))
    return l10n.t('The certificate of {0} is not trusted ({1}).', place, code);
  if (/SSL|TLS|EPROTO/.test(code)) return l10n.t('{0} does not speak https as expected ({1}).', place, code);
  if (/TIMEDOUT|TIMEOUT/.test(code) || /timed? ?out/i.test(error.message))
    return l10n.t('{0} did not answer in time.', place);
  if (code === '') return l10n.t('The connection to {0} failed.', place);
  return l10n.t('The connection to {0} failed ({1}).', place, code);
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

function waitSentence(seconds: number | undefined, l10n: Localiser): string {
  if (seconds === undefined || seconds <= 0) return l10n.t('Try again a little later.');
  if (seconds < 90) return l10n.t('Try again in {0} s.', String(Math.ceil(seconds)));
  return l10n.t('Try again in about {0} minutes.', String(Math.ceil(seconds / 60)));
}

/** The HTTP status of the model's host, which OpenRouter and LiteLLM put into the error of a stream. */
export function statusIn(reported: unknown): number | undefined {
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

function quote(words: string, l10n: Localiser): string {
  const line = oneLine(words.replace(/\p{Cc}+/gu, ' '), MAX_QUOTE);
  return line === '' ? '' : ` ${l10n.t('It said: “{0}”', line)}`;
}
