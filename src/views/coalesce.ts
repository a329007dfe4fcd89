/** Wraps `work` so that a burst of calls runs it once, `delayMs` after the first of them. */
export function coalesce(work: () => void, delayMs: number): { (): void; cancel(): void } {
  let timer: NodeJS.Timeout | undefined;
  const run = (): void => {
    timer = undefined;
    work();
  };
  const call = (): void => {
    timer ??= setTimeout(run, delayMs);
  };
  const cancel = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  return Object.assign(call, { cancel });
}
