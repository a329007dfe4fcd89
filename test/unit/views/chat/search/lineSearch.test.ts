import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ToolError } from '../../../../../src/agent/base/errors.ts';
import { LineSearch } from '../../../../../src/views/chat/search/lineSearch.ts';

const file = new URL('../../../../../src/views/chat/search/lineWorker.ts', import.meta.url);
const FOREVER = `${'a'.repeat(200)}!`;
const searching = (query: string, { timeLimitMs = 60_000, signal = new AbortController().signal } = {}) =>
  new LineSearch({ query, isRegex: true }, { file, timeLimitMs, signal });

test('finds the lines of one text after the other, up to a limit', async t => {
  const lines = searching('b+');
  t.after(() => lines.dispose());
  assert.deepEqual(await lines.find('a\r\nabb\nb', 9), [
    { line: 2, text: 'abb', at: 1 },
    { line: 3, text: 'b', at: 0 },
  ]);
  assert.deepEqual(await lines.find('none', 9), []);
  assert.equal((await lines.find('b\nb\nb', 2))?.length, 2);
});

test('a query that is not a valid regular expression is refused', () => {
  assert.throws(() => searching('a('), ToolError);
});

test('a text on which the pattern takes too long is left out, and does not block the thread of the caller', async t => {
  const lines = searching('^(a+)+$');
  t.after(() => lines.dispose());
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  t.after(() => clearInterval(timer));
  assert.equal(await lines.find(FOREVER, 9), undefined);
  assert.ok(turns > 5, `${turns} turns`);
  assert.deepEqual(await lines.find('aaa', 9), [{ line: 1, text: 'aaa', at: 0 }]);
});

test('at the time limit for all texts the worker is ended, and the remaining texts are left out', async () => {
  const lines = searching('^(a+)+$', { timeLimitMs: 1 });
  assert.equal(await lines.find(FOREVER, 9), undefined);
  assert.equal(await lines.find('aaa', 9), undefined);
});

test('an abort ends it', async () => {
  const abort = new AbortController();
  const lines = searching('^(a+)+$', { signal: abort.signal });
  const found = lines.find(FOREVER, 9);
  abort.abort();
  await assert.rejects(found, { name: 'AbortError' });
  await assert.rejects(lines.find('aaa', 9), { name: 'AbortError' });
});

test('an error of the worker is the error of the search', async t => {
  const broken = new URL('data:text/javascript,throw new Error("broken")');
  const options = { file: broken, timeLimitMs: 60_000, signal: new AbortController().signal };
  const lines = new LineSearch({ query: 'a', isRegex: false }, options);
  t.after(() => lines.dispose());
  await assert.rejects(lines.find('a', 9), /broken/);
});

test('a regular expression that turns out to be too large when it is matched is refused with a sentence', async t => {
  const lines = searching('a'.repeat(50_000));
  t.after(() => lines.dispose());
  await assert.rejects(lines.find('aaa', 9), {
    name: 'ToolError',
    message: /too large a regular expression/,
  });
});
