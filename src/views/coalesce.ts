/** How many times as long as work has taken the next run waits after it, so that other work gets nine tenths of the time. */
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
