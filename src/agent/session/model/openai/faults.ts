import { english, type Sentence } from '../../../base/localiser.ts';
import type { ProviderFailureCode } from '../messages.ts';

/** The server answered with a status other than 2xx, and all retries failed. */
export class HttpFailure extends Error {
  override readonly name = 'HttpFailure';
  readonly status: number;
  /** The beginning of the raw body. */
  readonly body: string;
  /** How long the server asked to wait, in seconds. */
  readonly retryAfter: number | undefined;

  constructor(status: number, body: string, retryAfter?: number) {
    super(`HTTP ${status}`);
    this.status = status;
    this.body = body;
    this.retryAfter = retryAfter;
  }
}

/** The connection failed because of the address, the network or the certificate. `cause` is the error of `fetch`. */
export class ConnectionFailure extends Error {
  override readonly name = 'ConnectionFailure';
}

/** The server reported an error inside its answer. `reported` is the error value as it was sent. */
export class ReportedError extends Error {
  override readonly name = 'ReportedError';
  readonly reported: unknown;

  constructor(reported: unknown) {
    super('The server reported an error inside its answer.');
    this.reported = reported;
  }
}

/** A fault that is classified where it is detected: `broken` for an answer that began but is incomplete or malformed. */
export class KnownFault extends Error {
  override readonly name = 'KnownFault';
  readonly code: ProviderFailureCode;
  /** For the user. The message is the same in English. */
  readonly sentence: Sentence;

  constructor(code: ProviderFailureCode, sentence: Sentence, options?: ErrorOptions) {
    super(sentence(english), options);
    this.code = code;
    this.sentence = sentence;
  }
}

/** The server refused an image of the prompt. */
export class RefusedImage extends Error {
  override readonly name = 'RefusedImage';
  readonly refusal: HttpFailure;

  constructor(refusal: HttpFailure) {
    super('An image of the prompt was refused.');
    this.refusal = refusal;
  }
}
