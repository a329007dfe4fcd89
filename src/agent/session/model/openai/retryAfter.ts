import { isTooLong } from '../tooLong.ts';
import type { HttpFailure } from './faults.ts';

/** The longest wait that a server may ask for, in seconds. If it asks for more, the request fails at once. */
const MAX_WAIT = 60;
/** The first wait before a request is sent again, unless the server names one; each is twice as long as the one before. */
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 8_000;
/** The statuses with which a server asks to wait. With others, the text may match {@link WAIT} for other reasons. */
const ASKS_TO_WAIT = [429, 503];

/** The wait in the text of a refusal: Gemini has no header for it, OpenAI not always. */
const WAIT =
  /(?:"retryDelay": ?"|(?:retry|try again) (?:in|after) )((?:\d+(?:\.\d+)?\s?(?:ms|h|m|s)[a-z]*\s?)+)/i;
const SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3_600 };

/** The account has no credit left (OpenAI), or no requests left for the day (Gemini, which still asks to wait for seconds). */
const USED_UP = /insufficient_quota|PerDay/;

/** How long a server asks to wait before the same request is sent again, in seconds. */
export function retryAfterOf(status: number, headers: Headers, body: string): number | undefined {
  const ms = Number(headers.get('retry-after-ms') ?? NaN);
  if (ms >= 0) return ms / 1_000;
  return secondsIn(headers.get('retry-after')) ?? (ASKS_TO_WAIT.includes(status) ? wordsIn(body) : undefined);
}

/**
 * How long to wait before sending the same request again, in milliseconds; `undefined` if that is pointless: the status does not
 * allow it, the request would be too long again (even if the server calls that an internal error), the account is used up, or the
 * wait is too long.
 */
export function retryDelay({ status, body, retryAfter }: HttpFailure, retries: number): number | undefined {
  const isPassing = status === 408 || status === 409 || status === 429 || status >= 500;
  if (!isPassing || isTooLong(status, body)) return undefined;
  if ((status === 429 && USED_UP.test(body)) || (retryAfter ?? 0) > MAX_WAIT) return undefined;
  // Some jitter, so that several windows do not ask at the same time.
  const jitter = 1 - Math.random() / 4;
  return retryAfter === undefined
    ? Math.min(FIRST_DELAY_MS * 2 ** retries, MAX_DELAY_MS) * jitter
    : retryAfter * 1_000;
}

/** `Retry-After` in seconds: a number or a date. */
function secondsIn(value: string | null): number | undefined {
  if (value === null) return undefined;
  const seconds = /^\s*[\d.]+\s*$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1_000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

/** The seconds in words such as `1m12.5s`. */
function wordsIn(body: string): number | undefined {
  const [, words] = WAIT.exec(body) ?? [];
  if (words === undefined) return undefined;
  const parts = [...words.toLowerCase().matchAll(/(?<![\d.])([\d.]+)\s?(ms|h|m|s)/g)];
  return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (SECONDS[unit] ?? 0), 0);
}
