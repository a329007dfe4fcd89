import { test } from 'node:test';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isTornWrite } from '../../../../../src/agent/hold/preview/commit/rollback.ts';
import type { FileStep } from '../../../../../src/agent/hold/preview/fileChange.ts';
import { sideOfText } from '../../../../../src/agent/hold/preview/fileChange.ts';

const BLOCK = 4096;
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
    `${'A'.repeat(100)}${before.slice(100)}`,
    '',
  ]) {
    assert.equal(isTornWrite(bytes(now), step(before, after)), false, now.slice(0, 20));
  }
  const mixed = `${'A'.repeat(BLOCK)}${'b'.repeat(BLOCK)}end\n`;
  assert.equal(isTornWrite(bytes(mixed), step(before, after)), true);
});

test('what is created or removed is never torn', () => {
  const { before, after } = step('a', 'b');
  assert.equal(isTornWrite(bytes('x'), { path: 'a.txt', before: null, after }), false);
  assert.equal(isTornWrite(bytes('x'), { path: 'a.txt', before, after: null }), false);
  assert.equal(isTornWrite(undefined, { path: 'a.txt', before, after }), false);
});
