/**
 * A reporter for `node --test` that writes one line of JSON at the end:
 * `{ "passed": 3, "failed": 1, "skipped": 0, "complaints": ["…"] }`. Suites are not counted. A file that ends before
 * its tests do, or has none, counts as a failure; `node --test` itself takes it for a success.
 */

/** @param {AsyncIterable<{ type: string, data: any }>} events */
export default async function* count(events) {
  let passed = 0;
  let failed = 0;
  let skipped = 0;
  const begun = new Set();
  const ended = new Set();
  for await (const { type, data } of events) {
    if (type === 'test:summary' && data.file) ended.add(data.file);
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    if (data.file) begun.add(data.file);
    // A file without tests, or one that failed to load, is itself reported as a test.
    const isFile =
      data.nesting === 0 &&
      Boolean(data.file?.replaceAll('\\', '/').endsWith(data.name.replaceAll('\\', '/')));
    if (type === 'test:fail' && isFile) ended.add(data.file);
    if (data.details?.type === 'suite' || (isFile && type === 'test:pass')) continue;
    if (data.skip !== undefined || data.todo !== undefined) skipped++;
    else if (type === 'test:pass') passed++;
    else failed++;
  }
  const complaints = [...begun]
    .filter(file => !ended.has(file))
    .map(file => `${file} has no tests, or ended before they did`);
  yield `${JSON.stringify({ passed, failed: failed + complaints.length, skipped, complaints })}\n`;
}
