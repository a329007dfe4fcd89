import { inTime } from '../../../base/async.ts';
import { beginningOf } from '../../../base/cutText.ts';
import { KnownFault } from './faults.ts';

/** Limits for reading a body. */
export interface BodyLimits {
  /** The most characters of one event, or of a whole JSON body. */
  readonly maxChars: number;
  /** The longest silence of the server, in milliseconds. */
  readonly idleMs: number;
}

/**
 * Normalizes a server's event stream so that the SDK's decoder reads it as the server meant it. Without this the
 * decoder
 * - keeps lines, events and comments of any length, and searches an open event again with each piece (so each event is
 *   passed on as one piece);
 * - takes an event without data (`event: ping`) for malformed JSON;
 * - drops `error:` lines (older llama.cpp), and an event that is still open at the end of the body;
 * - reads on after `[DONE]`, and does not report that it arrived.
 */
export class EventStreamFilter {
  readonly #maxChars: number;
  #line = '';
  #event = '';
  #endedInCr = false;
  #sawDone = false;

  /** @param maxChars the most characters of one event. */
  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  /** Whether `[DONE]` has arrived. Everything after it is ignored. */
  get sawDone(): boolean {
    return this.#sawDone;
  }

  /**
   * Takes the next piece of the stream and returns the events that it completes.
   * @throws KnownFault if one event exceeds the limit.
   */
  push(text: string): string[] {
    if (text === '' || this.#sawDone) return [];
    const [rest = '', ...lines] = (this.#endedInCr ? text.replace(/^\n/, '') : text).split(/\r\n|[\r\n]/);
    this.#endedInCr = text.endsWith('\r');
    this.#line += rest;
    const events: string[] = [];
    for (const line of lines) {
      this.#takeLine(this.#line, events);
      if (this.#sawDone) return events;
      this.#line = line;
    }
    if (this.#line.length + this.#event.length > this.#maxChars)
      throw new KnownFault('broken', l10n =>
        l10n.t('The server sent one piece of an answer that is too large.'),
      );
    return events;
  }

  /** Completes and returns the event that is open at the end of the stream. */
  end(): string[] {
    return this.push('\n\n');
  }

  #takeLine(line: string, events: string[]): void {
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    this.#sawDone = field === 'data' && value.trim() === '[DONE]';
    if (line === '' || this.#sawDone) {
      if (this.#event !== '') events.push(`${this.#event}\n`);
      this.#event = '';
    } else if (field === 'data' && value.trim() !== '') {
      this.#event += `data: ${value}\n`;
    } else if (field === 'error') {
      events.push(`data: {"error":${value || '""'}}\n\n`);
    }
  }
}

/** How long the rest of a body may take after a complete answer, in milliseconds, and how many bytes it may have. */
const REST_MS = 1_000;
const MAX_REST = 64 * 1024;

/** Translates the body of one answer into the form that the SDK reads. */
export class AnswerBody {
  readonly #limits: BodyLimits;
  #sawDone = false;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  /** Whether the answer ended properly: with `[DONE]`, or at the end of a body that is not a stream. */
  get sawDone(): boolean {
    return this.#sawDone;
  }

  /**
   * The response with its body as an event stream that the SDK can read. Reading throws KnownFault beyond a limit.
   */
  normalize(response: Response): Response {
    if (!response.body) return response;
    const type = response.headers.get('content-type') ?? '';
    const streams = !type.includes('json') || type.includes('stream');
    const events = streams ? this.#events(response.body) : this.#onlyEvent(response.body);
    const { status, headers } = response;
    // Encoded here: a transform would cost more than all the rest of reading an answer.
    return new Response(ReadableStream.from(encoded(events)), { status, headers });
  }

  async *#events(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
    const filter = new EventStreamFilter(this.#limits.maxChars);
    for await (const text of textOf(
      body,
      () => this.#limits.idleMs,
      () => filter.sawDone,
    )) {
      yield* filter.push(text);
      if (filter.sawDone) break;
    }
    yield* filter.end();
    this.#sawDone = filter.sawDone;
  }

  /** A server that does not stream sends the whole completion as JSON, which becomes one event. */
  async *#onlyEvent(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
    const json = await readWhole(body, this.#limits);
    if (json.trim() !== '') yield `data: ${json.replace(/[\r\n]+/g, ' ')}\n\n`;
    this.#sawDone = true;
  }
}

async function* encoded(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array, void, undefined> {
  const utf8 = new TextEncoder();
  for await (const text of texts) yield utf8.encode(text);
}

/** Reads a whole body as text. @throws KnownFault beyond a limit. */
export async function readWhole(
  body: ReadableStream<Uint8Array>,
  { maxChars, idleMs }: BodyLimits,
): Promise<string> {
  let whole = '';
  for await (const text of textOf(body, () => idleMs)) {
    whole += text;
    if (whole.length > maxChars)
      throw new KnownFault('broken', l10n => l10n.t('The answer is too large. None of it was used.'));
  }
  return whole;
}

/** Reads the beginning of a body, for at most `ms` milliseconds or until it breaks. Never rejects. */
export async function readBeginning(
  body: ReadableStream<Uint8Array>,
  maxChars: number,
  ms: number,
): Promise<string> {
  const deadline = Date.now() + ms;
  let beginning = '';
  try {
    for await (const text of textOf(body, () => deadline - Date.now())) {
      beginning += text;
      if (beginning.length >= maxChars) break;
    }
  } catch {
    // The part that has arrived says more than the reason why the rest is missing.
  }
  return beginningOf(beginning, maxChars);
}

/**
 * Decodes a body piece by piece, and cancels it when the caller stops reading.
 * @param patience called before each piece: how long to wait for it, in milliseconds.
 * @param isComplete whether the caller has all that it wanted when it stops reading
 * @throws KnownFault if the server is silent for longer.
 */
async function* textOf(
  body: ReadableStream<Uint8Array>,
  patience: () => number,
  isComplete = () => false,
): AsyncGenerator<string, void, undefined> {
  const utf8 = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const piece = await inTime(patience(), () => reader.read(), refuseSilence);
      if (piece.done) break;
      yield utf8.decode(piece.value, { stream: true });
    }
    yield utf8.decode();
  } finally {
    if (isComplete()) void readRest(reader);
    else cancel(reader);
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/**
 * Reads the little that follows a complete answer, so that the next request can use the connection: to cancel a body closes it. Never
 * rejects.
 */
async function readRest(reader: Reader): Promise<void> {
  const late = setTimeout(() => cancel(reader), REST_MS);
  try {
    for (let bytes = 0; bytes < MAX_REST;) {
      const piece = await reader.read();
      if (piece.done) break;
      bytes += piece.value.length;
    }
  } catch {
    // The connection broke, and the answer is complete.
  } finally {
    clearTimeout(late);
    cancel(reader);
  }
}

function cancel(reader: Reader): void {
  reader.cancel().catch(() => undefined);
}

function refuseSilence(): never {
  throw new KnownFault('broken', l10n =>
    l10n.t('The server stopped responding in the middle of its answer. None of it was used.'),
  );
}
