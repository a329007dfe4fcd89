/**
 * A reporter for `node --test` that writes one line of JSON at the end:
 * `{ "passed": 3, "failed": 1, "skipped": 0, "ended": ["/…/a.test.ts"], "failures": ["…"] }`.
 * Suites are not counted. `ended` lists the files that ran to their end or failed to load. A file missing from it had no
 * tests, or exited before they were done, which `node --test` itself reports as a success. `failures` names the failed
 * tests, without files that failed as a whole.
 */
import * as path from 'node:path';

/** @param {AsyncIterable<{ type: string, data: any }>} events */
export default async function* count(events) {
  let passed = 0;
  let failed = 0;
  let skipped = 0;
  const ended = new Set();
  const failures = [];
  for await (const { type, data } of events) {
    if (type === 'test:summary' && data.file) ended.add(data.file);
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    // A file that has no tests or failed to load is itself reported as a test.
    const isFile = data.nesting === 0 && path.resolve(data.name) === data.file;
    if (type === 'test:fail' && isFile) ended.add(data.file);
    if (data.details?.type === 'suite' || (isFile && type === 'test:pass')) continue;
    if (data.skip !== undefined || data.todo !== undefined) skipped++;
    else if (type === 'test:pass') passed++;
    else {
      failed++;
      // Not with its file: of a test that a helper defines, `data.file` is the helper's.
      if (!isFile) failures.push(data.name);
    }
  }
  yield `${JSON.stringify({ passed, failed, skipped, ended: [...ended], failures })}\n`;
}
