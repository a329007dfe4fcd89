import { setImmediate } from 'node:timers/promises';

/** The reason of an aborted signal if it is an `Error`, else a new `AbortError`. */
export function abortErrorOf(signal: AbortSignal): Error {
  return signal.reason instanceof Error
    ? signal.reason
    : new DOMException('The operation was aborted.', 'AbortError');
}

/**
 * Runs `start` unless `signal` is already aborted, and rejects with the abort error as soon as the signal fires. The work
 * itself is not cancelled: it runs to completion, and a later failure is swallowed. A caller that needs the true outcome
 * must record it inside `start`.
 */
export async function untilAborted<T>(signal: AbortSignal | undefined, start: () => Promise<T>): Promise<T> {
  if (!signal) return start();
  if (signal.aborted) throw abortErrorOf(signal);
  const work = start();
  work.catch(() => undefined);
  let onAbort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(abortErrorOf(signal));
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort(); // by `start` itself
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/**
 * The result of `start`; if that takes longer than `ms` milliseconds, the result (or error) of `late`. The work itself is not
 * cancelled.
 */
export async function inTime<T, L>(ms: number, start: () => Promise<T>, late: () => L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<void>(resolve => (timer = setTimeout(resolve, ms))).then(late);
  try {
    return await Promise.race([start(), expired]);
  } finally {
    clearTimeout(timer);
  }
}

/** True if the work succeeds; its result or error is dropped. */
export function succeeds(work: PromiseLike<unknown>): Promise<boolean> {
  return Promise.resolve(work).then(
    () => true,
    () => false,
  );
}

/**
 * Runs `work` for each item, at most `limit` at a time, starting in order. After a failure nothing more is started; running work is
 * awaited, and the first failure is thrown.
 */
export async function forEachLimited<T>(
  items: readonly T[],
  limit: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  let failure: { readonly error: unknown } | undefined;
  const worker = async (): Promise<void> => {
    while (next < items.length && !failure) {
      const index = next++;
      try {
        await work(items[index] as T, index);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  if (failure) throw failure.error;
}

/** How long work may block the event loop, in milliseconds. */
const SLICE = 10;

/**
 * Keeps long synchronous work from blocking the event loop. Await `turn()` between two pieces of the work: it returns at once
 * until the time slice is used up, and then lets other tasks run first.
 */
export class TimeSlice {
  #since = 0;
  #pause: Promise<void> | undefined;

  async turn(): Promise<void> {
    if (this.#pause) return this.#pause;
    if (performance.now() - this.#since < SLICE) return;
    this.#pause = setImmediate().finally(() => {
      this.#pause = undefined;
      this.#since = performance.now();
    });
    return this.#pause;
  }
}

/** Takes all steps, and lets other work run in between. @returns the value of the last one */
export async function inTurns<T>(steps: Iterator<undefined, T>, slice = new TimeSlice()): Promise<T> {
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) await slice.turn();
  return step.value;
}

/** Takes all steps at once. */
export function atOnce<T>(steps: Iterator<undefined, T>): T {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

/** The next run waits this many times as long as the last one took, so that other work gets nine tenths of the time. */
const REST = 9;

/**
 * Wraps `work` so that a burst of calls runs it once, `delayMs` after the first of them.
 * @param maxRestMs how much longer the next run may be put off after one that took long; by default, not at all
 */
export function coalesce(work: () => void, delayMs: number, maxRestMs = 0): { (): void; cancel(): void } {
  let timer: NodeJS.Timeout | undefined;
  let restsUntil = -Infinity;
  const run = (): void => {
    timer = undefined;
    const began = Date.now();
    work();
    const ended = Date.now();
    restsUntil = ended + Math.min(REST * (ended - began), maxRestMs);
  };
  const call = (): void => {
    timer ??= setTimeout(run, Math.max(delayMs, Math.min(restsUntil - Date.now(), maxRestMs)));
  };
  const cancel = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  return Object.assign(call, { cancel });
}

/** Makes work on the same keys run one after the other. */
export class Turns {
  readonly #ends = new Map<string, Promise<void>>();

  /** Runs work once no other work has any of these keys, which may be at once. It must not wait for work on others. */
  async run<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    for (let busy = this.#busy(keys); busy; busy = this.#busy(keys)) await busy;
    const { promise, resolve: end } = Promise.withResolvers<void>();
    for (const key of keys) this.#ends.set(key, promise);
    try {
      return await work();
    } finally {
      for (const key of keys) this.#ends.delete(key);
      end();
    }
  }

  #busy(keys: readonly string[]): Promise<void> | undefined {
    const key = keys.find(each => this.#ends.has(each));
    return key === undefined ? undefined : this.#ends.get(key);
  }
}
