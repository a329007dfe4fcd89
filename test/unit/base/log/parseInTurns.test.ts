import { test } from 'node:test';
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { parseInTurns } from '../../../../src/agent/base/log/parseInTurns.ts';
import { countTurns } from '../../../support/countTurns.ts';
import { rounds } from '../../../support/rounds.ts';

/** So small that nearly everything is large. */
const AT_ONCE = 24;

/** Checks that these bytes are read, or refused, as `JSON.parse` does it. @returns whether they were read */
async function check(bytes: Buffer): Promise<boolean> {
  const text = bytes.toString();
  try {
    const value = await parseInTurns(bytes, 0, bytes.length, AT_ONCE);
    assert.ok(
      isDeepStrictEqual(value, JSON.parse(text)) &&
        JSON.stringify(value) === JSON.stringify(JSON.parse(text)),
      text,
    );
    return true;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    assert.throws(() => JSON.parse(text), SyntaxError, text);
    return false;
  }
}

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({
    unit: fc.constantFrom('\\', '"', '\n', '\u2028', '\ud83d', '\ude00', '😀', 'é', 'a'),
    maxLength: 60,
  }),
);
/**
 * Without what has escape sequences: V8 may mistake such a key of an object for one that it has seen, so `JSON.parse` does not
 * tell twice the same.
 */
const key = fc.oneof(
  text.filter(key => JSON.stringify(key) === `"${key}"`),
  fc.constantFrom('__proto__', '2', '10', 'constructor'),
);
/** Longer numbers would be cut, which 64 KB are not. */
const scalar = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null));
const value = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof({ maxDepth: 4 }, scalar, fc.array(tie('value')), fc.dictionary(key, tie('value'))),
})).value;
const json = fc
  .tuple(value, fc.constantFrom(0, 1))
  .map(([value, indent]) => JSON.stringify(value, null, indent));

test('a value is the same as JSON.parse makes of it, in the same order', async () => {
  await fc.assert(
    fc.asyncProperty(json, async json => assert.ok(await check(Buffer.from(json)))),
    { numRuns: rounds(1_000, 200) },
  );
});

test('a key of a large value is read with its escape sequences', async () => {
  const large = 'x'.repeat(2 * AT_ONCE);
  await fc.assert(
    fc.asyncProperty(text, async key => {
      const json = Buffer.from(JSON.stringify({ [key]: large }));
      const value = await parseInTurns(json, 0, json.length, AT_ONCE);
      assert.deepEqual(Object.entries(value as object), [[key, large]]);
    }),
    { numRuns: rounds(1_000, 200) },
  );
});

test('a byte that begins no character after an escape sequence does not cut the sequence', async () => {
  const json = Buffer.from('"\\u0000𐀀𐀀𐀀\\u0000"');
  const damaged = Buffer.concat([json.subarray(0, -1), Buffer.of(0x80), json.subarray(-1)]);
  assert.ok(await check(damaged));
});

test('damaged JSON is refused, or read as JSON.parse reads it', async () => {
  const damage = fc.record({
    at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    removed: fc.nat({ max: 3 }),
    put: fc.constantFrom(
      '',
      ',',
      ':',
      '[',
      ']',
      '{',
      '}',
      '"',
      '\\',
      '\\u12',
      '1',
      ' ',
      '\n',
      '\x00',
      'x',
      '\xff',
      '\x80',
    ),
  });
  let refused = 0;
  const numRuns = rounds(2_000, 400);
  await fc.assert(
    fc.asyncProperty(json, damage, async (json, { at, removed, put }) => {
      const bytes = Buffer.from(json);
      const from = Math.floor(bytes.length * at);
      const damaged = Buffer.concat([
        bytes.subarray(0, from),
        Buffer.from(put, 'latin1'),
        bytes.subarray(from + removed),
      ]);
      if (!(await check(damaged))) refused++;
    }),
    { numRuns },
  );
  assert.ok(refused > numRuns / 4, `${refused} were refused`);
});

for (const [what, large] of Object.entries({
  'a list': Array.from({ length: 50_000 }, (_, n) => ({ n, text: `line ${n}\n` })),
  'an object': Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`name${n}`, n])),
  'a string': '\t"é" \\ 😀\n'.repeat(100_000),
})) {
  test(`other work runs while ${what} of megabytes is parsed`, async context => {
    const bytes = Buffer.from(`\n${JSON.stringify({ large })}\n`);
    const turns = countTurns(context);
    const parsed = await parseInTurns(bytes, 1, bytes.length - 1);
    assert.ok(turns() >= 10, `${turns()} turns`);
    assert.deepEqual(parsed, { large });
  });
}
