/**
 * Yields what `work` emits while it runs, and returns its result. Rejects as it does. The work goes on if the consumer leaves
 * early.
 */
export async function* eventsDuring<E, T>(
  work: (emit: (event: E) => void) => Promise<T>,
): AsyncGenerator<E, T, undefined> {
  const events: E[] = [];
  let isDone = false;
  let wake = (): void => undefined;
  const done = work(event => {
    events.push(event);
    wake();
  });
  const end = (): void => {
    isDone = true;
    wake();
  };
  done.then(end, end);
  for (;;) {
    for (let event = events.shift(); event !== undefined; event = events.shift()) yield event;
    if (isDone) return done;
    await new Promise<void>(resolve => (wake = resolve));
  }
}
