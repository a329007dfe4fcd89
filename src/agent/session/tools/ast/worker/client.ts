import { Worker } from 'node:worker_threads';
import { abortErrorOf } from '../../../../base/async.ts';
import type { Disposable } from '../../../../base/disposable.ts';
import { AstError, unpack, type AstFile, type AstRequest, type AstSummary } from './protocol.ts';
import type { FromWorker, ToWorker } from './protocol.ts';
import type { AstWorkerData } from './worker.ts';

/** The megabytes of young objects after which V8 collects them in the worker: each may hold a large syntax tree. */
const YOUNG_MB = 8;
/** Time limit for the worker to confirm a cancellation, in milliseconds. After that it is considered stuck. */
const CANCEL_MS = 2_000;

/** Receives the results of a search while it runs. */
export interface AstListener {
  onFiles(files: readonly AstFile[]): void;
}

/** Searches files by structure without blocking the caller's thread. */
export interface AstEngine {
  /** Starts the engine, so that the next search begins at once. */
  warm(): void;
  /**
   * Searches, and passes the files with matches to the listener as they are found, in no particular order.
   * @throws AstError for the failures that {@link AstFailure} lists; the abort error as soon as `signal` fires.
   */
  run(request: AstRequest, listener: AstListener, signal: AbortSignal): Promise<AstSummary>;
}

interface Running {
  readonly request: AstRequest;
  readonly listener: AstListener;
  /** Whether the listener has already received files. */
  hasFiles: boolean;
  resolve(summary: AstSummary): void;
  reject(error: unknown): void;
}

/**
 * The engine in a worker thread, which is started on first use and restarted if it dies. A worker that does not confirm a
 * cancellation is ended, and a new one runs its other searches.
 */
export class WorkerAstEngine implements AstEngine, Disposable {
  readonly #file: string | URL;
  readonly #data: AstWorkerData;
  readonly #onNoEngine: ((reason: string) => void) | undefined;
  readonly #running = new Map<number, Running>();
  #worker: Worker | undefined;
  /** The timers of cancellations that the worker has not confirmed yet, by the id of the search. */
  readonly #unconfirmed = new Map<number, NodeJS.Timeout>();
  #lastId = 0;

  /**
   * @param file the worker's script: `worker.ts` beside this file, or its bundle
   * @param onNoEngine called with the reason why the native engine cannot be loaded, before each search that fails for it
   */
  constructor(file: string | URL, data: AstWorkerData, onNoEngine?: (reason: string) => void) {
    this.#file = file;
    this.#data = data;
    this.#onNoEngine = onNoEngine;
  }

  warm(): void {
    this.#start();
  }

  async run(request: AstRequest, listener: AstListener, signal: AbortSignal): Promise<AstSummary> {
    if (signal.aborted) throw abortErrorOf(signal);
    const id = ++this.#lastId;
    let onAbort: () => void = () => undefined;
    try {
      return await new Promise<AstSummary>((resolve, reject) => {
        this.#running.set(id, { request, listener, hasFiles: false, resolve, reject });
        onAbort = () => {
          reject(abortErrorOf(signal));
          this.#cancel(id);
        };
        signal.addEventListener('abort', onAbort, { once: true });
        this.#send(id, request);
      });
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#running.delete(id);
      if (this.#running.size === 0) this.#worker?.unref();
    }
  }

  dispose(): void {
    this.#end();
    this.#fail(new DOMException('The search was closed.', 'AbortError'));
  }

  #send(id: number, request: AstRequest): void {
    const worker = this.#start();
    worker.ref();
    worker.postMessage({ type: 'run', id, request } satisfies ToWorker);
  }

  #cancel(id: number): void {
    this.#running.delete(id);
    this.#worker?.postMessage({ type: 'cancel', id } satisfies ToWorker);
    if (this.#worker) this.#unconfirmed.set(id, setTimeout(() => this.#restart(), CANCEL_MS).unref());
  }

  /** Replaces a stuck worker. A search whose listener has received files is rejected, since it would receive them twice. */
  #restart(): void {
    this.#end();
    for (const [id, { request, hasFiles, reject }] of [...this.#running]) {
      if (!hasFiles) this.#send(id, request);
      else
        reject(
          new AstError({
            code: 'other',
            message: 'another search was stuck, and both had to be ended. Call it again.',
          }),
        );
    }
  }

  #end(): void {
    for (const timer of this.#unconfirmed.values()) clearTimeout(timer);
    this.#unconfirmed.clear();
    const worker = this.#worker;
    this.#worker = undefined;
    worker?.unref();
    void worker?.terminate();
  }

  #start(): Worker {
    if (this.#worker) return this.#worker;
    const worker = new Worker(this.#file, {
      workerData: this.#data,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    // An idle worker must not keep the process alive.
    worker.unref();
    worker.on('message', (message: FromWorker) => this.#receive(worker, message));
    worker.on('error', error => this.#lose(worker, error));
    worker.on('exit', code =>
      this.#lose(worker, new Error(`The search ended unexpectedly (code ${code}). Call it again.`)),
    );
    this.#worker = worker;
    return worker;
  }

  #receive(worker: Worker, message: FromWorker): void {
    // A worker that was ended may still have sent something, but its searches have failed or run in another worker.
    if (this.#worker !== worker) return;
    const running = this.#running.get(message.id);
    switch (message.type) {
      case 'cancelled':
        clearTimeout(this.#unconfirmed.get(message.id));
        this.#unconfirmed.delete(message.id);
        break;
      case 'files':
        if (running) running.hasFiles = true;
        running?.listener.onFiles(message.files.map(unpack));
        // Other work of this thread comes before the next batch.
        setImmediate(() => worker.postMessage({ type: 'taken', id: message.id } satisfies ToWorker));
        break;
      case 'done':
        running?.resolve(message.summary);
        break;
      case 'failed':
        if (message.failure.code === 'noEngine') this.#onNoEngine?.(message.failure.reason);
        running?.reject(new AstError(message.failure));
        break;
    }
  }

  #lose(worker: Worker, error: unknown): void {
    if (this.#worker !== worker) return;
    this.#end();
    this.#fail(error);
  }

  #fail(error: unknown): void {
    for (const running of [...this.#running.values()]) running.reject(error);
  }
}
