import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { isAbortError, messageOf } from '../../../../base/errors.ts';
import { AstGrepNapi, type GrammarFiles } from '../engine/astGrepNapi.ts';
import { AstSearch, type SearchOutput } from '../engine/search.ts';
import { unpackNative } from '../engine/unpackNative.ts';
import { AstError, charsOf, type AstFailure, type AstRequest } from './protocol.ts';
import type { FromWorker, SentFile, ToWorker } from './protocol.ts';

/**
 * The most characters in one message, so that the receiver unpacks it in a few milliseconds; a single file may have
 * more.
 */
const MAX_CHARS = 1024 * 1024;
/** The most messages that may be unanswered. */
const WINDOW = 4;
/** The most characters that may wait to be sent before the search pauses. */
const MAX_WAITING = 8 * 1024 * 1024;

/**
 * The `workerData` that the worker is started with: the grammars for npm's engine, or the folder of a package's native files and the
 * one where they are unpacked.
 */
export type AstWorkerData =
  { readonly grammars: GrammarFiles } | { readonly packed: string; readonly unpacked: string };

/** Sends the files found by one search in messages of bounded size, no faster than the receiver takes them. */
class Outbox implements SearchOutput {
  readonly #port: MessagePort;
  readonly #id: number;
  #files: SentFile[] = [];
  #chars = 0;
  #unanswered = 0;
  #scheduled = false;
  #waiters: (() => void)[] = [];

  constructor(port: MessagePort, id: number) {
    this.#port = port;
    this.#id = id;
  }

  file(file: SentFile): void {
    this.#files.push(file);
    this.#chars += charsOf(file);
    if (this.#scheduled) return;
    this.#scheduled = true;
    // Files that are found in one go are sent together.
    setImmediate(() => {
      this.#scheduled = false;
      this.#send();
    });
  }

  drained(): Promise<void> {
    if (this.#chars < MAX_WAITING) return Promise.resolve();
    return new Promise(resolve => this.#waiters.push(resolve));
  }

  taken(): void {
    this.#unanswered--;
    this.#send();
  }

  /** Settles when everything has been sent. */
  async flushed(): Promise<void> {
    this.#send();
    while (this.#files.length > 0) await new Promise<void>(resolve => this.#waiters.push(resolve));
  }

  /** Discards unsent matches, because the search was cancelled or failed. */
  drop(): void {
    this.#files = [];
    this.#chars = 0;
    this.#wake();
  }

  #send(): void {
    while (this.#files.length > 0 && this.#unanswered < WINDOW) {
      const files: SentFile[] = [];
      for (let chars = 0; chars < MAX_CHARS;) {
        const file = this.#files.shift();
        if (!file) break;
        files.push(file);
        chars += charsOf(file);
      }
      for (const file of files) this.#chars -= charsOf(file);
      this.#unanswered++;
      this.#post({ type: 'files', id: this.#id, files });
    }
    this.#wake();
  }

  #wake(): void {
    for (const waiter of this.#waiters.splice(0)) waiter();
  }

  #post(message: FromWorker): void {
    this.#port.postMessage(message);
  }
}

function serve(port: MessagePort, data: AstWorkerData): void {
  const napi = new AstGrepNapi(async () =>
    'grammars' in data ? data : unpackNative(data.packed, data.unpacked),
  );
  const search = new AstSearch(napi);
  const running = new Map<number, { readonly abort: AbortController; readonly outbox: Outbox }>();
  const post = (message: FromWorker): void => port.postMessage(message);
  const run = async (id: number, request: AstRequest): Promise<void> => {
    const abort = new AbortController();
    const outbox = new Outbox(port, id);
    running.set(id, { abort, outbox });
    try {
      const summary = await search.run(request, outbox, abort.signal);
      await outbox.flushed();
      post({ type: 'done', id, summary });
    } catch (error) {
      outbox.drop();
      if (!isAbortError(error)) post({ type: 'failed', id, failure: failureOf(error) });
    } finally {
      running.delete(id);
    }
  };
  port.on('message', (message: ToWorker) => {
    switch (message.type) {
      case 'run':
        void run(message.id, message.request);
        break;
      case 'cancel':
        running.get(message.id)?.outbox.drop();
        running.get(message.id)?.abort.abort();
        post({ type: 'cancelled', id: message.id });
        break;
      case 'taken':
        running.get(message.id)?.outbox.taken();
        break;
    }
  });
  napi.load().catch(() => undefined); // The first search fails and says why.
}

function failureOf(error: unknown): AstFailure {
  return error instanceof AstError ? error.failure : { code: 'other', message: messageOf(error) };
}

if (parentPort) serve(parentPort, workerData as AstWorkerData);
