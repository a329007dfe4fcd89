import { test } from 'node:test';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isTornWrite } from '../../../../../src/agent/hold/preview/commit/rollback.ts';
import type { FileStep } from '../../../../../src/agent/hold/preview/fileChange.ts';
import { sideOfText } from '../../../../../src/agent/hold/preview/fileChange.ts';

const BLOCK = 4096;
const SECTOR = 512;
const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text));
const step = (before: string, after: string): FileStep => ({
  path: 'a.txt',
  before: sideOfText(before),
  after: sideOfText(after),
});

/** What a file holds after so many bytes: first those past its old length, then the others, then it is cut. */
function writtenFor(before: string, after: string, count: number): string {
  const grown = after.slice(before.length);
  if (count <= grown.length) return before + grown.slice(0, count);
  const done = count - grown.length;
  return after.slice(0, done) + (before + grown).slice(done);
}

const content = fc
  .array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 1, max: 3_000 })), { maxLength: 6 })
  .map(runs => runs.map(([letter, length]) => letter.repeat(length)).join(''));

test('whatever a write that is interrupted at a block boundary leaves is recognised', () => {
  fc.assert(
    fc.property(content, content, fc.nat({ max: 6 }), (before, after, blocks) => {
      const grown = Math.max(0, after.length - before.length);
      // Blocks end where those of the file do, not of the write.
      const ends = [
        ...new Set([0, grown, ...multiples(before.length, after.length), ...inPlace(after.length, grown)]),
      ];
      const count = ends[blocks % ends.length] ?? 0;
      assert.ok(
        isTornWrite(bytes(writtenFor(before, after, count)), step(before, after)),
        `after ${count} bytes`,
      );
    }),
    { numRuns: 500 },
  );
});

/** How many bytes of the part past the old length are written when a block of the file ends. */
function multiples(old: number, next: number): number[] {
  const counts: number[] = [];
  for (let end = Math.ceil(old / BLOCK) * BLOCK; end < next; end += BLOCK)
    if (end > old) counts.push(end - old);
  return counts;
}

function inPlace(next: number, grown: number): number[] {
  const counts: number[] = [];
  for (let end = 0; end <= next - grown; end += BLOCK) counts.push(grown + end);
  return counts;
}

test('what someone else wrote is not mistaken for a torn write', () => {
  const before = `${'a'.repeat(BLOCK)}${'b'.repeat(BLOCK)}end\n`;
  const after = `${'A'.repeat(BLOCK)}${'B'.repeat(BLOCK)}END\n`;
  for (const now of [
    `typed ${before}`,
    `${before}more`,
    before.slice(0, -1),
    `${'A'.repeat(BLOCK)}${'b'.repeat(BLOCK - 1)}xend\n`,
    `${'A'.repeat(100)}x${before.slice(101)}`,
    `${'A'.repeat(100)}${'a'.repeat(BLOCK - 100)}${'B'.repeat(100)}${'b'.repeat(BLOCK - 100)}end\n`,
    before.slice(0, BLOCK + 1),
  ]) {
    assert.equal(isTornWrite(bytes(now), step(before, after)), false, now.slice(0, 20));
  }
  const zeros = '\0'.repeat(BLOCK);
  for (const torn of [
    `${'A'.repeat(BLOCK)}${'b'.repeat(BLOCK)}end\n`,
    `${'A'.repeat(100)}${before.slice(100)}`,
    `${zeros}${before.slice(BLOCK)}`,
    zeros,
    '',
  ])
    assert.equal(isTornWrite(bytes(torn), step(before, after)), true, torn.slice(0, 20));
});

test('a block of which a rollback has written some sectors is torn, where others have put back a part it is not', () => {
  const before = 'a'.repeat(3 * BLOCK);
  const grown = `${before.slice(0, BLOCK + 2 * SECTOR)}${'\0'.repeat(BLOCK - 2 * SECTOR)}`;
  assert.equal(isTornWrite(bytes(grown), step(before, 'A'.repeat(BLOCK))), true, 'over a cut file');
  for (const [length, isTorn] of [
    [SECTOR, true],
    [3 * SECTOR, true],
    [100, false],
  ] as const) {
    const now = `${'A'.repeat(BLOCK)}${'a'.repeat(length)}${'A'.repeat(2 * BLOCK - length)}`;
    assert.equal(isTornWrite(bytes(now), step(before, 'A'.repeat(3 * BLOCK))), isTorn, `${length} bytes`);
  }
});

test('a new file that is empty, full of zeros or cut is torn', () => {
  const after = `${'A'.repeat(BLOCK)}${'B'.repeat(BLOCK)}`;
  const created: FileStep = { path: 'a.txt', before: null, after: sideOfText(after) };
  for (const torn of ['', '\0'.repeat(after.length), after.slice(0, 100), `${after.slice(0, BLOCK)}\0\0`])
    assert.equal(isTornWrite(bytes(torn), created), true, torn.slice(0, 20));
  assert.equal(isTornWrite(bytes('typed'), created), false);
  const binary: FileStep = { ...created, after: { hash: 'f'.repeat(64), size: 9 } };
  assert.equal(isTornWrite(bytes('\0\0'), binary), true);
  assert.equal(isTornWrite(bytes('A'), binary), false);
});

test('a deleted file of which a rollback has written a part is torn', () => {
  const before = `${'A'.repeat(BLOCK)}${'B'.repeat(BLOCK)}end\n`;
  const deleted: FileStep = { path: 'a.txt', before: sideOfText(before), after: null };
  for (const torn of ['', '\0'.repeat(before.length), before.slice(0, BLOCK)])
    assert.equal(isTornWrite(bytes(torn), deleted), true, torn.slice(0, 20));
  for (const typed of [before.slice(0, -1), `typed ${before}`])
    assert.equal(isTornWrite(bytes(typed), deleted), false, typed.slice(0, 20));
});

test('what others made, or is removed, is not torn', () => {
  const { before, after } = step('a', 'b');
  assert.equal(isTornWrite(bytes('x'), { path: 'a.txt', before: null, after }), false);
  assert.equal(isTornWrite(bytes('x'), { path: 'a.txt', before, after: null }), false);
  assert.equal(isTornWrite(undefined, { path: 'a.txt', before, after }), false);
});
