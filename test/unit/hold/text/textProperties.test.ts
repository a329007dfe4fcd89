/** Diffs, hunks and merges of any texts, against what they must hold by definition. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { sideOfText, type FileChange } from '../../../../src/agent/hold/preview/fileChange.ts';
import { rebaseChange } from '../../../../src/agent/hold/preview/rebase/rebaseChange.ts';
import { splitPreview } from '../../../../src/agent/hold/preview/resolve/splitPreview.ts';
import { applyHunks, hunksOf } from '../../../../src/agent/hold/text/hunks.ts';
import { diffLines } from '../../../../src/agent/hold/text/lineDiff.ts';
import { splitLines } from '../../../../src/agent/hold/text/lines.ts';
import { hasNothingOf, mergeTexts } from '../../../../src/agent/hold/text/threeWayMerge.ts';
import { draft } from '../../../support/drafts.ts';
import { textIn } from '../../../support/changes.ts';

const RUNS = { numRuns: 500 };
const line = fc.tuple(
  fc.constantFrom('a', 'b', 'c', 'd', ''),
  fc.constantFrom('\n', '\n', '\n', '\r\n', '\r'),
);
/** Few different lines, all line endings, sometimes no last one. */
const text = fc
  .tuple(fc.array(line, { maxLength: 14 }), fc.constantFrom('', '', 'x', 'a'))
  .map(([lines, last]) => lines.flat().join('') + last);
const labels = { current: 'current', proposed: 'proposed' };

test('runs name exactly the lines that differ', async () => {
  await fc.assert(
    fc.asyncProperty(text, text, async (before, after) => {
      const [a, b] = [splitLines(before), splitLines(after)];
      const { runs } = await diffLines(a, b);
      let [i, j] = [0, 0];
      for (const run of runs) {
        assert.ok(run.beforeEnd > run.beforeStart || run.afterEnd > run.afterStart, 'no run is empty');
        assert.deepEqual(a.slice(i, run.beforeStart), b.slice(j, run.afterStart));
        [i, j] = [run.beforeEnd, run.afterEnd];
      }
      assert.deepEqual(a.slice(i), b.slice(j));
    }),
    RUNS,
  );
});

test('all hunks make the proposal, none leaves the base, and each choice has its complement', async () => {
  await fc.assert(
    fc.asyncProperty(text, text, fc.array(fc.boolean()), async (before, after, choices) => {
      const hunks = await hunksOf(before, after);
      assert.deepEqual(await hunksOf(before, after), hunks);
      assert.equal(
        applyHunks(before, hunks, () => true),
        after,
      );
      assert.equal(
        applyHunks(before, hunks, () => false),
        before,
      );
      const some = applyHunks(before, hunks, index => choices[index] === true);
      const length = hunks.reduce(
        (sum, hunk, i) =>
          sum + (choices[i] === true ? hunk.after.join('').length - hunk.before.join('').length : 0),
        before.length,
      );
      assert.equal(some.length, length);
    }),
    RUNS,
  );
});

test('a merge where one side changed nothing is the other side; the same change on both sides is taken once', async () => {
  await fc.assert(
    fc.asyncProperty(text, text, async (base, side) => {
      assert.deepEqual(await mergeTexts(base, base, side, labels), { text: side, conflicts: 0 });
      assert.deepEqual(await mergeTexts(base, side, base, labels), { text: side, conflicts: 0 });
      assert.deepEqual(await mergeTexts(base, side, side, labels), { text: side, conflicts: 0 });
    }),
    RUNS,
  );
});

test('a merge without conflict does not depend on which side is which; one with a conflict contains both sides', async () => {
  await fc.assert(
    fc.asyncProperty(text, text, text, async (base, ours, theirs) => {
      const one = await mergeTexts(base, ours, theirs, labels);
      const other = await mergeTexts(base, theirs, ours, labels);
      assert.equal(one.conflicts > 0, other.conflicts > 0);
      if (one.conflicts === 0) assert.equal(one.text, other.text);
      else assert.match(one.text, /<<<<<<< current[\s\S]*=======[\s\S]*>>>>>>> proposed/);
    }),
    RUNS,
  );
});

/** A base of different lines, and for each of them whether a side changes it, at least two lines apart. */
const apart = fc
  .array(fc.constantFrom('none', 'none', 'ours', 'theirs'), { minLength: 1, maxLength: 12 })
  .map(who => {
    const lines = who.flatMap((_, i) => [`line ${i}\n`, `gap ${i}\n`]);
    const side = (name: string): string =>
      lines.map((each, i) => (i % 2 === 0 && who[i / 2] === name ? `${name} ${i}\n` : each)).join('');
    const both = lines.map((each, i) => {
      const name = who[i / 2];
      return i % 2 === 0 && name !== undefined && name !== 'none' ? `${name} ${i}\n` : each;
    });
    return { base: lines.join(''), ours: side('ours'), theirs: side('theirs'), both: both.join('') };
  });

test('changes that do not touch are both taken', async () => {
  await fc.assert(
    fc.asyncProperty(apart, async ({ base, ours, theirs, both }) => {
      assert.deepEqual(await mergeTexts(base, ours, theirs, labels), { text: both, conflicts: 0 });
    }),
    RUNS,
  );
});

test('a rebased change begins at the new base, and going back gives the old change again', async () => {
  await fc.assert(
    fc.asyncProperty(apart, async ({ base, ours, theirs, both }) => {
      const change = modifies(base, theirs);
      const moved = await rebaseChange(change, sideOfText(ours));
      assert.ok(moved.kind === 'clean');
      if (base === theirs || both === ours) return;
      assert.equal(textIn(moved.change?.before), ours);
      assert.equal(textIn(moved.change?.after), both);
      const back = moved.change && (await rebaseChange(moved.change, sideOfText(base)));
      assert.deepEqual(back, { kind: 'clean', change });
    }),
    RUNS,
  );
});

test('a part and the rest make the whole, or the whole without the part', async () => {
  await fc.assert(
    fc.asyncProperty(text, text, fc.nat(), fc.boolean(), async (before, after, pick, applies) => {
      if (before === after) return;
      const hunks = await hunksOf(before, after);
      const hunk = pick % hunks.length;
      const preview = {
        ...draft({ changes: [modifies(before, after)] }),
        id: 'p1',
        revision: 1,
        state: { kind: 'pending', stale: [] },
      } as const;
      const split = await splitPreview(preview, { path: 'a.txt', hunk }, applies ? 'apply' : 'discard');
      if (hunks.length === 1) return assert.equal(split, undefined);
      const withPart = applyHunks(before, hunks, index => index === hunk);
      assert.deepEqual(split?.part, [modifies(before, withPart)]);
      const rest = applies
        ? modifies(withPart, after)
        : modifies(
            before,
            applyHunks(before, hunks, index => index !== hunk),
          );
      assert.deepEqual(split?.rest, [rest]);
      assert.equal(split?.restBuildsOnPart, applies);
    }),
    RUNS,
  );
});

function modifies(before: string, after: string): FileChange {
  return { kind: 'modify', path: 'a.txt', before: sideOfText(before), after: sideOfText(after) };
}

test('a text that holds a change among others is never said to have nothing of it, and the old text has nothing of it', async () => {
  await fc.assert(
    fc.asyncProperty(text, text, fc.nat(14), async (before, after, at) => {
      fc.pre(before !== after);
      const others = splitLines(after).toSpliced(at, 0, 'another line\n').join('');
      assert.equal(await hasNothingOf(before, others, after), false);
      assert.equal(await hasNothingOf(before, before, after), true);
    }),
    // The last line seems to have been added somewhere else.
    { ...RUNS, examples: [['a\nb\n}\nb\n', 'a\nb\n}\nb\nb\n', 1]] },
  );
});
