/** A reporter of `node:test` that sends the events of a lane's tests to the process which started the lane: `fileLanes.mjs` reads it. */
import { inspect } from 'node:util';

/** @param {AsyncIterable<{ type: string, data: any }>} events */
export default async function* tell(events) {
  for await (const { type, data } of events) {
    if (!process.connected) continue;
    if (type === 'test:dequeue') process.send({ type: 'began', name: data.name });
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const error = data.details?.error;
    process.send({
      type: 'ended',
      name: data.name,
      isFile: data.nesting === 0,
      isSuite: data.details?.type === 'suite',
      outcome:
        data.skip !== undefined || data.todo !== undefined
          ? 'skipped'
          : type === 'test:pass'
            ? 'passed'
            : 'failed',
      // Of a suite that failed because a test in it did, the test has told.
      error: error && error.failureType !== 'subtestsFailed' ? inspect(error.cause ?? error) : undefined,
    });
  }
  yield* [];
}
