import { test } from 'node:test';
import assert from 'node:assert/strict';
import { jsonSafe, parsedJson } from '../../../src/agent/base/json.ts';

test('a value becomes what a log would give back', () => {
  const value = { at: new Date(0), gone: undefined, run: () => 1, list: [undefined, 1] };
  assert.deepEqual(jsonSafe(value), { at: '1970-01-01T00:00:00.000Z', list: [null, 1] });
});

test('it is a copy: later changes of the value do not show', () => {
  const value = { n: 1 };
  const safe = jsonSafe(value);
  value.n = 2;
  assert.deepEqual(safe, { n: 1 });
});

test('what is too large to keep becomes a text that says so', () => {
  assert.equal(jsonSafe({ all: 'x'.repeat(1_000_000) }), '[not storable: 1000010 characters]');
  assert.equal(String(jsonSafe('x'.repeat(999_998))).length, 999_998);
});

test('a value that is nested too deeply becomes a text that says so', () => {
  const nested = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}1${']'.repeat(levels)}`);
  assert.deepEqual(jsonSafe(nested(100)), nested(100));
  for (const levels of [101, 4_000, 1_000_000])
    assert.match(String(jsonSafe(nested(levels))), /^\[not storable: /, `${levels} levels`);
});

test('what JSON cannot hold becomes a text that says so', () => {
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  assert.match(String(jsonSafe(cycle)), /^\[not storable: .*circular/);
  assert.match(String(jsonSafe({ big: 1n })), /^\[not storable: /);
  const hostile = {
    toJSON() {
      throw new Error('no');
    },
  };
  assert.equal(jsonSafe(hostile), '[not storable: no]');
  assert.equal(jsonSafe(undefined), undefined);
  assert.equal(
    jsonSafe(() => 1),
    undefined,
  );
});

test('a text that is no JSON has no value, unlike the text of null', () => {
  assert.deepEqual(['null', '"a"', '{"a":[1]}'].map(parsedJson), [null, 'a', { a: [1] }]);
  assert.deepEqual(['', '{', 'undefined', "{'a': 1}"].map(parsedJson), Array(4).fill(undefined));
});
