import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ToolError } from '../../../../../src/agent/base/errors.ts';
import { inWorker } from '../../../../../src/agent/base/inWorker.ts';
import { matchingLines, regexOf, type LineQuery } from '../../../../../src/views/chat/search/lineMatcher.ts';

const file = new URL('../../../../../src/views/chat/search/lineWorker.ts', import.meta.url);
const queryOf = (query: string, texts: Record<string, string>, limit = 9): LineQuery => ({
  query,
  isRegex: true,
  texts: new Map(Object.entries(texts)),
  limit,
});
const FOREVER = queryOf('^(a+)+$', { a: `${'a'.repeat(200)}!` });
const timeLimitMs = 60_000;

test('finds the lines of one text after the other, up to a limit', async () => {
  const query = queryOf('b+', { one: 'a\r\nabb\nb', two: 'none', three: 'b\rb' });
  const found = [
    { path: 'one', line: 2, text: 'abb', at: 1 },
    { path: 'one', line: 3, text: 'b', at: 0 },
    { path: 'three', line: 1, text: 'b', at: 0 },
    { path: 'three', line: 2, text: 'b', at: 0 },
  ];
  assert.deepEqual(await inWorker(file, query, { timeLimitMs }), found);
  assert.deepEqual(matchingLines({ ...query, limit: 3 }), found.slice(0, 3));
  assert.deepEqual(matchingLines({ ...query, query: 'bb', isRegex: false }), found.slice(0, 1));
});

test('a query that is not a valid regular expression is refused; one may ignore case', () => {
  assert.throws(() => regexOf('a('), ToolError);
  assert.equal(regexOf('(?i)B').flags, 'iu');
});

test('a pattern that takes too long is ended at the time limit, and does not block the thread of the caller', async t => {
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  t.after(() => clearInterval(timer));
  assert.equal(await inWorker(file, FOREVER, { timeLimitMs: 500 }), undefined);
  assert.ok(turns > 5, `${turns} turns`);
});

test('an abort ends it', async () => {
  const abort = new AbortController();
  const found = inWorker(file, FOREVER, { timeLimitMs, signal: abort.signal });
  abort.abort();
  await assert.rejects(found, { name: 'AbortError' });
  await assert.rejects(inWorker(file, FOREVER, { timeLimitMs, signal: abort.signal }), {
    name: 'AbortError',
  });
});

test('an error of the worker is that of the caller, also one that a pattern shows only when it is matched', async () => {
  const broken = new URL('data:text/javascript,throw new Error("broken")');
  await assert.rejects(inWorker(broken, {}, { timeLimitMs }), /broken/);
  const large = queryOf('a'.repeat(50_000), { a: 'aaa' });
  await assert.rejects(inWorker(file, large, { timeLimitMs }), { name: 'SyntaxError' });
});
