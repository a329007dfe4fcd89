import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { FileChange } from '../../../../src/agent/hold/preview/fileChange.ts';
import { hunksOfChange } from '../../../../src/agent/hold/preview/fileChange.ts';
import { splitPreview } from '../../../../src/agent/hold/preview/resolve/splitPreview.ts';
import { runsOfEdits } from '../../../../src/agent/hold/text/editRuns.ts';
import { applyHunks, hunksOf } from '../../../../src/agent/hold/text/hunks.ts';
import { diffStat } from '../../../../src/agent/hold/text/lineDiff.ts';
import { splitLines } from '../../../../src/agent/hold/text/lines.ts';
import { applyTextEdits, type TextEdit } from '../../../../src/agent/hold/text/textEdit.ts';
import { modify, textIn } from '../../../support/changes.ts';
import { draft } from '../../../support/drafts.ts';

const RUNS = { numRuns: 500 };
const piece = fc.array(fc.constantFrom('a', 'b', '\n', '\r\n', '\r', 'a\n', 'b\n'), { maxLength: 12 });
const texts = piece.map(parts => parts.join(''));

/** A text and edits in it. */
const edited = fc
  .tuple(
    fc.array(texts, { maxLength: 5 }).map(parts => parts.join('\n')),
    fc.array(fc.tuple(fc.nat(60), fc.nat(12), texts), { maxLength: 6 }),
  )
  .map(([before, wanted]) => {
    const edits: TextEdit[] = [];
    let at = 0;
    for (const [gap, length, text] of wanted) {
      const start = at + gap;
      if (start > before.length) break;
      at = Math.min(before.length, start + length);
      edits.push({ start, end: at, text });
    }
    return { before, after: applyTextEdits(before, edits), edits };
  });

const modifies = (before: string, after: string, edits: readonly TextEdit[]): FileChange =>
  modify('a.txt', before, after, edits);

test('hunks from edits make the proposal and none the base, as those of a comparison do', async () => {
  let derived = 0;
  await fc.assert(
    fc.asyncProperty(edited, async ({ before, after, edits }) => {
      const hunks = await hunksOf(before, after, edits);
      assert.equal(
        applyHunks(before, hunks, () => true),
        after,
      );
      assert.equal(
        applyHunks(before, hunks, () => false),
        before,
      );
      if (runsOfEdits(splitLines(before), splitLines(after), edits)) derived++;
      hunks.forEach((hunk, i) => assert.ok(i === 0 || hunk.beforeStart > (hunks[i - 1]?.beforeEnd ?? 0)));
    }),
    RUNS,
  );
  assert.ok(derived > RUNS.numRuns / 2, `${derived} were derived`);
});

test('edits that do not match the texts are ignored', async () => {
  await fc.assert(
    fc.asyncProperty(edited, texts, async ({ before, edits }, other) => {
      assert.equal(
        applyHunks(before, await hunksOf(before, other, edits), () => true),
        other,
      );
    }),
    RUNS,
  );
});

test('a part and the rest of a change with known edits make the whole, and still know theirs', async () => {
  await fc.assert(
    fc.asyncProperty(edited, fc.nat(), fc.boolean(), async ({ before, after, edits }, pick, applies) => {
      const change = modifies(before, after, edits);
      const hunks = await hunksOfChange(change);
      if (hunks.length < 2) return;
      const hunk = pick % hunks.length;
      const preview = {
        ...draft({ changes: [change] }),
        id: 'p1',
        revision: 1,
        state: { kind: 'pending', stale: [] },
      } as const;
      const split = await splitPreview(preview, { path: 'a.txt', hunk }, applies ? 'apply' : 'discard');
      assert.ok(split);
      for (const made of [...split.part, ...split.rest]) {
        const own = await hunksOfChange(made);
        assert.equal(
          applyHunks(textIn(made.before) ?? '', own, () => true),
          textIn(made.after),
        );
      }
    }),
    RUNS,
  );
});

/** Every tenth line is taken out, which leaves an empty one, as there are others. */
function manyDeletions(): { before: string; after: string; edits: TextEdit[] } {
  const lines = Array.from({ length: 10_000 }, (_, i) =>
    i % 10 === 0 ? 'debugger\n' : i % 2 ? '\n' : `${i}\n`,
  );
  const before = lines.join('');
  const edits: TextEdit[] = [];
  for (let at = before.indexOf('debugger'); at >= 0; at = before.indexOf('debugger', at + 1))
    edits.push({ start: at, end: at + 'debugger'.length, text: '' });
  return { before, after: applyTextEdits(before, edits), edits };
}

test('a thousand edits of one file are a thousand hunks, where a comparison gives up', async () => {
  const { before, after, edits } = manyDeletions();
  assert.equal(edits.length, 1_000);
  assert.equal((await hunksOf(before, after)).length, 1);
  assert.equal((await hunksOf(before, after, edits)).length, 1_000);
  assert.deepEqual(await diffStat(before, after, edits), {
    added: 1_000,
    removed: 1_000,
    hunks: 1_000,
    exact: true,
  });
});

test('the rest of a thousand edits still has its hunks, whether the part was applied or discarded', async () => {
  const { before, after, edits } = manyDeletions();
  const preview = {
    ...draft({ changes: [modifies(before, after, edits)] }),
    id: 'p1',
    revision: 1,
    state: { kind: 'pending', stale: [] },
  } as const;
  for (const action of ['apply', 'discard'] as const) {
    const split = await splitPreview(preview, { path: 'a.txt', hunk: 500 }, action);
    const [rest] = split?.rest ?? [];
    assert.ok(rest);
    assert.equal((await hunksOfChange(rest)).length, 999);
  }
});

test('an edit of many lines shows only those that differ', async () => {
  const inner = Array.from({ length: 50 }, (_, i) => `  line${i}\n`).join('');
  const before = `class A {\n${inner}}\n`;
  const after = `class B {\n${inner}}\nend\n`;
  const hunks = await hunksOf(before, after, [{ start: 0, end: before.length, text: after }]);
  assert.deepEqual(
    hunks.map(hunk => [hunk.beforeStart, hunk.before.length, hunk.after.length]),
    [
      [0, 1, 1],
      [52, 0, 1],
    ],
  );
});
