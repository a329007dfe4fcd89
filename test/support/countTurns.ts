import type { TestContext } from 'node:test';

/**
 * Counts the chances that other work has to run, until the test ends. Meanwhile two looks at the clock use up a slice of time,
 * so that their number does not depend on the machine.
 */
export function countTurns(context: TestContext): () => number {
  let now = 0;
  context.mock.method(performance, 'now', () => (now += 6));
  let turns = 0;
  let next = setImmediate(function other() {
    turns++;
    next = setImmediate(other);
  });
  context.after(() => clearImmediate(next));
  return () => turns;
}
