import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diffsOf } from '../../../../src/agent/hold/preview/shownDiffs.ts';
import { modify } from '../../../support/changes.ts';

/** A change that adds this many lines of ten characters to an empty file. */
const adding = (path: string, lines: number): ReturnType<typeof modify> =>
  modify(
    path,
    '',
    Array.from({ length: lines }, (_, n) => `${path} ${String(n).padStart(6, '0')}\n`).join(''),
  );

test('what fits is shown whole, in any order of the files', async () => {
  for (const lines of [[1_300, 10], [10, 1_300], Array.from({ length: 150 }, () => 5)]) {
    const changes = lines.map((count, n) => adding(`${n % 10}`, count));
    const { text, isWhole } = await diffsOf(changes, 24_000);
    assert.ok(isWhole, String(lines.length));
    for (const [n, count] of lines.entries())
      assert.ok(text.includes(`+${n % 10} ${String(count - 1).padStart(6, '0')}`));
  }
});

test('what does not fit is cut where it is longest, or only counted, and the whole keeps to its room', async () => {
  const { text, isWhole } = await diffsOf([adding('a', 5_000), adding('b', 3), adding('c', 9_000)], 8_000);
  assert.equal(isWhole, false);
  assert.match(
    text,
    /^a: 5000 lines added, 0 removed\.\n@@[^]*\[Cut off here\.\]\nb: 3 lines[^]*\+b 000002\nc: /,
  );
  assert.ok(text.length < 8_200 && text.length > 7_000, `${text.length} characters`);
  const many = await diffsOf(
    Array.from({ length: 230 }, (_, n) => adding(`file-${n}`, 60)),
    12_000,
  );
  assert.equal(many.isWhole, false);
  assert.match(
    many.text,
    /^file-0: 60 lines added, 0 removed\.\n@@[^]*\nfile-199: 60[^]*\n\[30 more files not shown\]$/,
  );
  assert.ok(many.text.length < 12_300, `${many.text.length} characters`);
});
