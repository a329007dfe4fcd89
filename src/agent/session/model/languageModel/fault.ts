import { beginningOf } from '../../../base/cutText.ts';
import { oneLine } from '../../../base/foreignText.ts';
import { detailOf, messageOf } from '../../../base/errors.ts';
import { isRecord } from '../../../base/json.ts';
import type { ProviderFailureCode } from '../messages.ts';
import { isTooLong } from '../tooLong.ts';

/** Kinds of failures of a request to a language model of VS Code. */
export type FaultKind =
  /** VS Code does not offer the model, or no longer does. */
  | 'missing'
  /** The user did not give Redline their consent to use the model, or the account does not include it. */
  | 'noPermission'
  /** The model takes no requests from Redline for a while, e.g. because of too many requests. */
  | 'blocked'
  /** The account has used up its plan's allowance. */
  | 'quota'
  | 'rateLimited'
  /** The model's host takes the request for one that has nothing to do with programming. */
  | 'offTopic'
  /** A content filter stopped the answer. */
  | 'filtered'
  /** The conversation has more tokens than the model takes. */
  | 'tooLong'
  | 'tooManyTools'
  /** The prompt has an image, and the model takes none. */
  | 'noImages'
  /** The request was cancelled, but not by the user. */
  | 'cancelled'
  /** The answer is larger than the limit. */
  | 'tooLarge'
  /** The answer contains a call that cannot be read. */
  | 'malformed'
  | 'unknown';

export interface Fault {
  readonly kind: FaultKind;
  /** The message of the model's extension or its server: foreign text on one line; may be empty. */
  readonly said: string;
  /** All that is known, for the log. */
  readonly detail: string;
}

/** An answer that cannot be used. */
export class UnusableAnswer extends Error {
  override readonly name = 'UnusableAnswer';
  readonly kind: FaultKind;

  constructor(kind: 'missing' | 'noImages' | 'tooLarge' | 'malformed', message: string) {
    super(message);
    this.kind = kind;
  }
}

/** The most characters of that message that are quoted, and the most that go to the log. */
const MAX_QUOTE = 300;
const MAX_DETAIL = 4_000;
/** The most causes of an error that are examined. */
const MAX_CAUSES = 5;

/** The documented codes of `vscode.LanguageModelError`. For any other failure its code is `Unknown` or empty. */
const CODES: Readonly<Record<string, FaultKind>> = {
  NoPermissions: 'noPermission',
  Blocked: 'blocked',
  NotFound: 'missing',
};

/** Names of errors. The first two are Copilot's; they arrive without the class and the code of a `LanguageModelError`. */
const NAMES: Readonly<Record<string, FaultKind>> = {
  ChatQuotaExceeded: 'quota',
  ChatRateLimited: 'rateLimited',
  Canceled: 'cancelled',
  AbortError: 'cancelled',
};

/**
 * For errors that only their text identifies: messages of models' servers, passed on by their extensions. The first match counts.
 */
const TEXTS: readonly (readonly [{ test(text: string): boolean }, FaultKind])[] = [
  [/off_topic/, 'offTopic'],
  [/content[ _-]?filter|responsible ai|was filtered/i, 'filtered'],
  [{ test: text => isTooLong(undefined, text) }, 'tooLong'],
  [/more than \d+ tools/i, 'tooManyTools'],
  [/quota|out of credits|insufficient (credits|funds)/i, 'quota'],
  [/rate[ _-]?limit|too many requests/i, 'rateLimited'],
];

/** Classifies a thrown value by its code, its name and its text, and by those of its causes. */
export function faultOf(error: unknown): Fault {
  const causes = causesOf(error);
  const said = causes.map(messageOf).find(text => text !== '') ?? '';
  return {
    kind: kindOf(causes),
    said: oneLine(said.replace(/\p{Cc}+/gu, ' '), MAX_QUOTE),
    detail: beginningOf(causes.map(detailOf).join('\ncaused by '), MAX_DETAIL),
  };
}

/** The failure code that the session and the views know. */
export function failureCodeOf(kind: FaultKind): ProviderFailureCode {
  switch (kind) {
    case 'missing':
      return 'notFound';
    case 'noPermission':
      return 'forbidden';
    case 'blocked':
    case 'quota':
    case 'rateLimited':
      return 'rateLimited';
    case 'tooLong':
      return 'contextLength';
    case 'noImages':
      return 'noImages';
    case 'offTopic':
    case 'filtered':
    case 'tooManyTools':
      return 'badRequest';
    case 'cancelled':
    case 'tooLarge':
    case 'malformed':
      return 'broken';
    case 'unknown':
      return 'server';
  }
}

function kindOf(causes: readonly unknown[]): FaultKind {
  for (const cause of causes) {
    if (cause instanceof UnusableAnswer) return cause.kind;
    const kind = own(CODES, field(cause, 'code')) ?? own(NAMES, field(cause, 'name'));
    if (kind) return kind;
  }
  const text = causes.map(messageOf).join('\n');
  return TEXTS.find(([pattern]) => pattern.test(text))?.[1] ?? 'unknown';
}

function causesOf(error: unknown): unknown[] {
  const causes = [error];
  let cause = causeOf(error);
  while (cause !== undefined && causes.length < MAX_CAUSES && !causes.includes(cause)) {
    causes.push(cause);
    cause = causeOf(cause);
  }
  return causes;
}

function causeOf(error: unknown): unknown {
  return isRecord(error) ? error['cause'] : undefined;
}

function field(error: unknown, name: 'code' | 'name'): unknown {
  return isRecord(error) ? error[name] : undefined;
}

function own(kinds: Readonly<Record<string, FaultKind>>, key: unknown): FaultKind | undefined {
  return typeof key === 'string' && Object.hasOwn(kinds, key) ? kinds[key] : undefined;
}
