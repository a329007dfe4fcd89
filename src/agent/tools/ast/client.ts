import { Worker } from 'node:worker_threads';
import { abortErrorOf } from '../../base/abort.ts';
import type { Disposable } from '../../base/disposable.ts';
import {
  AstError,
  unpacked,
  type AstFile,
  type AstProgress,
  type AstRequest,
  type AstSummary,
} from './protocol.ts';
import type { FromWorker, ToWorker } from './protocol.ts';
import type { AstWorkerData } from './worker.ts';

/** How many megabytes of short-lived objects the worker keeps before it clears them: syntax trees hang on them. */
const YOUNG_MB = 8;

/** Who is told of what a search finds while it runs. */
export interface AstListener {
  onFiles(files: readonly AstFile[], progress: AstProgress): void;
}

/** Searches files by structure, somewhere that does not block the caller. */
export interface AstEngine {
  /** Gets ready, so that the next search begins at once. */
  warm(): void;
  /**
   * Searches, and hands over the files with matches as they are found, in no particular order.
   * @throws AstError for what {@link AstFailure} lists; the abort error as soon as `signal` fires.
   */
  run(request: AstRequest, listener: AstListener, signal: AbortSignal): Promise<AstSummary>;
}

interface Running {
  readonly listener: AstListener;
  resolve(summary: AstSummary): void;
  reject(error: unknown): void;
}

/** The engine in one worker thread, which is started on first need and again if it dies. */
export class WorkerAstEngine implements AstEngine, Disposable {
  readonly #file: string | URL;
  readonly #data: AstWorkerData;
  readonly #running = new Map<number, Running>();
  #worker: Worker | undefined;
  #lastId = 0;

  /** @param file the worker's script: `worker.ts` beside this, or what it was built to */
  constructor(file: string | URL, data: AstWorkerData) {
    this.#file = file;
    this.#data = data;
  }

  warm(): void {
    this.#start();
  }

  async run(request: AstRequest, listener: AstListener, signal: AbortSignal): Promise<AstSummary> {
    if (signal.aborted) throw abortErrorOf(signal);
    const worker = this.#start();
    const id = ++this.#lastId;
    const post = (message: ToWorker): void => worker.postMessage(message);
    let onAbort: () => void = () => undefined;
    try {
      return await new Promise<AstSummary>((resolve, reject) => {
        this.#running.set(id, { listener, resolve, reject });
        onAbort = () => {
          post({ type: 'cancel', id });
          reject(abortErrorOf(signal));
        };
        signal.addEventListener('abort', onAbort, { once: true });
        worker.ref();
        post({ type: 'run', id, request });
      });
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#running.delete(id);
      if (this.#running.size === 0) worker.unref();
    }
  }

  dispose(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    this.#fail(new DOMException('The search was closed.', 'AbortError'));
    void worker?.terminate();
  }

  #start(): Worker {
    if (this.#worker) return this.#worker;
    const worker = new Worker(this.#file, {
      workerData: this.#data,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    // An idle worker keeps no process alive.
    worker.unref();
    worker.on('message', (message: FromWorker) => this.#take(worker, message));
    worker.on('error', error => this.#lose(worker, error));
    worker.on('exit', code => this.#lose(worker, new Error(`The search worker ended (${code})`)));
    this.#worker = worker;
    return worker;
  }

  #take(worker: Worker, message: FromWorker): void {
    if (message.type === 'ready') return;
    const running = this.#running.get(message.id);
    switch (message.type) {
      case 'files':
        running?.listener.onFiles(message.files.map(unpacked), message.progress);
        // The next batch comes after others had their turn.
        setImmediate(() => worker.postMessage({ type: 'taken', id: message.id } satisfies ToWorker));
        break;
      case 'done':
        running?.resolve(message.summary);
        break;
      case 'failed':
        running?.reject(new AstError(message.failure));
        break;
    }
  }

  #lose(worker: Worker, error: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#fail(error);
  }

  #fail(error: unknown): void {
    for (const running of [...this.#running.values()]) running.reject(error);
  }
}
