import { BrokenAnswer } from './openaiFailure.ts';

/** The `data` that ends a stream of chat completions. */
export const DONE = '[DONE]';

/**
 * Cuts the bytes of a `text/event-stream` into the data of its events. Tolerates LF, CRLF and CR, comments, events
 * without a blank line at the end of the stream, and `error:` lines (older llama.cpp), which come out as `{"error": …}`.
 */
export class SseDecoder {
  readonly #utf8 = new TextDecoder();
  readonly #maxEvent: number;
  #line: string[] = [];
  #lineLength = 0;
  #data: string[] = [];
  #endedInCr = false;

  /** `maxEvent` bounds one line, in characters. */
  constructor(maxEvent: number) {
    this.#maxEvent = maxEvent;
  }

  /** @throws BrokenAnswer when one line outgrows the bound. */
  push(bytes: Uint8Array): string[] {
    return this.#feed(this.#utf8.decode(bytes, { stream: true }));
  }

  /** The data of an event that the stream's end has left open. */
  end(): string[] {
    return this.#feed(`${this.#utf8.decode()}\n\n`);
  }

  #feed(text: string): string[] {
    const events: string[] = [];
    let rest = this.#endedInCr && text.startsWith('\n') ? text.slice(1) : text;
    if (text !== '') this.#endedInCr = text.endsWith('\r');
    for (;;) {
      const end = rest.search(/[\r\n]/);
      if (end < 0) break;
      this.#line.push(rest.slice(0, end));
      this.#takeLine(this.#line.join(''), events);
      this.#line = [];
      this.#lineLength = 0;
      rest = rest.slice(rest.startsWith('\r\n', end) ? end + 2 : end + 1);
    }
    if (rest !== '') this.#line.push(rest);
    this.#lineLength += rest.length;
    if (this.#lineLength > this.#maxEvent)
      throw new BrokenAnswer('The server sent one piece of an answer that is too large.');
    return events;
  }

  #takeLine(line: string, events: string[]): void {
    if (line === '') {
      if (this.#data.length > 0) events.push(this.#data.join('\n'));
      this.#data = [];
      return;
    }
    const [, field, value] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === 'data') this.#data.push(value ?? '');
    else if (field === 'error') events.push(`{"error":${value || '""'}}`);
  }
}

/**
 * Reads a body piece by piece until its end. `idleMs` is asked before each piece: how long the server may be silent.
 * Gives `idle` as its last piece when it was silent for longer, and lets go of the body then and whenever the caller
 * stops reading.
 */
export async function* readBody(
  body: ReadableStream<Uint8Array>,
  idleMs: () => number,
): AsyncGenerator<Uint8Array | 'idle', void, undefined> {
  const reader = body.getReader();
  try {
    for (;;) {
      const piece = await readWithin(reader, idleMs());
      if (piece === 'idle') {
        yield piece;
        return;
      }
      if (piece.done) return;
      yield piece.value;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

async function readWithin(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  ms: number,
): Promise<Awaited<ReturnType<ReadableStreamDefaultReader<Uint8Array>['read']>> | 'idle'> {
  let timer: NodeJS.Timeout | undefined;
  const idle = new Promise<'idle'>(resolve => {
    timer = setTimeout(resolve, ms, 'idle');
  });
  try {
    return await Promise.race([reader.read(), idle]);
  } finally {
    clearTimeout(timer);
  }
}
