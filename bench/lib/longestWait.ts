/**
 * The longest time for which the work blocks the event loop, in milliseconds.
 * @param clock by default, the time that has passed
 */
export async function longestWait(
  work: () => Promise<void>,
  clock = () => performance.now(),
): Promise<number> {
  let longest = 0;
  let last = clock();
  const look = (): void => {
    const now = clock();
    longest = Math.max(longest, now - last);
    last = now;
  };
  let next = setImmediate(function again() {
    look();
    next = setImmediate(again);
  });
  await work();
  clearImmediate(next);
  look();
  return longest;
}

/** What this thread has computed so far, garbage collection included, in milliseconds: other work on the machine does not count. */
export function computed(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
