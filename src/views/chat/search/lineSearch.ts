import { Worker } from 'node:worker_threads';
import { abortErrorOf } from '../../../agent/base/async.ts';
import { ToolError } from '../../../agent/base/errors.ts';
import type { Disposable } from '../../../agent/base/disposable.ts';
import { regexOf, type FoundLine, type LineQuery } from './lineMatcher.ts';
import type { TextToSearch } from './lineWorker.ts';

export interface LineSearchOptions {
  /** The worker's script: `lineWorker.ts` beside this file, or its bundle. */
  readonly file: string | URL;
  /** Time limit for all texts together, in milliseconds. */
  readonly timeLimitMs: number;
  readonly signal: AbortSignal;
}

/**
 * Finds the lines that a query matches, in one text after the other. Uses a worker thread of its own: a pattern that
 * backtracks forever does not block the caller's thread, and is ended with the worker. Must be disposed of.
 */
export class LineSearch implements Disposable {
  readonly #worker: Worker;
  readonly #signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  #isOver = false;
  /** Settles the search of the current text. */
  #settle: (found?: readonly FoundLine[]) => void = () => undefined;
  #error: Error | undefined;

  /** @throws ToolError if the query is not a valid regular expression. */
  constructor(query: LineQuery, { file, timeLimitMs, signal }: LineSearchOptions) {
    if (query.isRegex) regexOf(query.query);
    this.#worker = new Worker(file, { workerData: query });
    this.#worker.on('message', (found?: readonly FoundLine[]) => this.#settle(found));
    this.#worker.on('error', (error: Error) => {
      // A regular expression that is too large turns out to be so only when it is first matched.
      this.#error =
        error.name === 'SyntaxError'
          ? new ToolError('query is too large a regular expression. Use a shorter one.')
          : error;
      this.dispose();
    });
    this.#worker.on('exit', this.dispose);
    this.#timer = setTimeout(this.dispose, timeLimitMs);
    this.#signal = signal;
    signal.addEventListener('abort', this.dispose, { once: true });
  }

  /**
   * The first `limit` matching lines; `undefined` if the time limit for one text or for all texts is exceeded. Await it
   * before the next call.
   * @throws ToolError for a pattern that is too large to be matched; the abort error; any error that ended the worker.
   */
  async find(text: string, limit: number): Promise<readonly FoundLine[] | undefined> {
    let found: readonly FoundLine[] | undefined;
    if (!this.#isOver) {
      found = await new Promise<readonly FoundLine[] | undefined>(resolve => {
        this.#settle = resolve;
        this.#worker.postMessage({ text, limit } satisfies TextToSearch);
      });
    }
    if (this.#signal.aborted) throw abortErrorOf(this.#signal);
    if (this.#error) throw this.#error;
    return found;
  }

  readonly dispose = (): void => {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#signal.removeEventListener('abort', this.dispose);
    void this.#worker.terminate();
    this.#settle();
  };
}
