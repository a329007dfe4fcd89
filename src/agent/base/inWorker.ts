import { Worker } from 'node:worker_threads';
import { abortErrorOf } from './async.ts';

/**
 * Runs a script in a thread of its own, terminated once this settles: a pattern that backtracks forever blocks nothing else.
 * @param data its `workerData`
 * @returns the first message of the script; `undefined` if there is none within the time limit, in milliseconds
 * @throws the error of the script; the abort error
 */
export async function inWorker<Answer>(
  script: string | URL,
  data: unknown,
  { timeLimitMs, signal }: { readonly timeLimitMs: number; readonly signal?: AbortSignal },
): Promise<Answer | undefined> {
  if (signal?.aborted) throw abortErrorOf(signal);
  const worker = new Worker(script, { workerData: data });
  const { promise, resolve, reject } = Promise.withResolvers<Answer | undefined>();
  const abort = (): void => reject(signal && abortErrorOf(signal));
  const timer = setTimeout(() => resolve(undefined), timeLimitMs);
  signal?.addEventListener('abort', abort);
  worker.once('message', resolve);
  worker.once('error', reject);
  worker.once('exit', () => reject(new Error('The worker ended')));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    void worker.terminate();
  }
}
