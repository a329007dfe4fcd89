/** The longest time for which the work blocks the event loop, in milliseconds. */
export async function longestWait(work: () => Promise<void>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  const look = (): void => {
    const now = performance.now();
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
