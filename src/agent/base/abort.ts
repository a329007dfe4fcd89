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
