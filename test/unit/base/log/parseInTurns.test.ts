import { test } from 'node:test';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseInTurns } from '../../../../src/agent/base/log/parseInTurns.ts';
import { countTurns } from '../../../support/countTurns.ts';

/** So small that nearly everything is large. */
const AT_ONCE = 24;

/** What both make of the same bytes: the value, or that they are not JSON. */
async function bothOf(bytes: Buffer): Promise<readonly unknown[]> {
  const inTurns = await parseInTurns(bytes, 0, bytes.length, AT_ONCE).catch((error: unknown) => {
    assert.ok(error instanceof SyntaxError, String(error));
    return error.name;
  });
  return [inTurns, atOnce(bytes)];
}

function atOnce(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString()) as unknown;
  } catch {
    return 'SyntaxError';
  }
}

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({
    unit: fc.constantFrom('\\', '"', '\n', '\u2028', '\ud83d', '\ude00', '😀', 'é', 'a'),
    maxLength: 60,
  }),
);
/** Longer numbers would be cut, which 64 KB are not. */
const scalar = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null));
const value = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc.array(tie('value')),
    fc.dictionary(fc.oneof(text, fc.constantFrom('__proto__', '2', '10', 'constructor')), tie('value')),
  ),
})).value;
const json = fc
  .tuple(value, fc.constantFrom(0, 1))
  .map(([value, indent]) => JSON.stringify(value, null, indent));

test('a value is the same as JSON.parse makes of it', async () => {
  await fc.assert(
    fc.asyncProperty(json, async json => {
      const [inTurns, whole] = await bothOf(Buffer.from(json));
      assert.deepEqual(inTurns, whole);
      assert.equal(JSON.stringify(inTurns), JSON.stringify(whole), 'in the same order');
    }),
    { numRuns: 1_000 },
  );
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
  await fc.assert(
    fc.asyncProperty(json, damage, async (json, { at, removed, put }) => {
      const bytes = Buffer.from(json);
      const from = Math.floor(bytes.length * at);
      const damaged = Buffer.concat([
        bytes.subarray(0, from),
        Buffer.from(put, 'latin1'),
        bytes.subarray(from + removed),
      ]);
      const [inTurns, whole] = await bothOf(damaged);
      if (whole === 'SyntaxError') refused++;
      assert.deepEqual(inTurns, whole);
    }),
    { numRuns: 2_000 },
  );
  assert.ok(refused > 500, `${refused} were refused`);
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
