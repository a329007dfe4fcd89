import { test } from 'node:test';
import assert from 'node:assert/strict';
import { sideOfText } from '../../../../../src/agent/hold/preview/fileChange.ts';
import {
  conflictBlocks,
  conflictPaths,
  conflictCount,
  hasConflict,
  withChoice,
  type ConflictChoice,
} from '../../../../../src/agent/hold/preview/rebase/conflictMarkers.ts';
import { rebaseChange } from '../../../../../src/agent/hold/preview/rebase/rebaseChange.ts';
import { create, modify, remove, rename } from '../../../../support/changes.ts';

const ours = '<<<<<<< current file\nmine\n=======\ntheirs\n>>>>>>> proposed change\n';
const foreign = '<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> main\n';

const cases: readonly [what: string, before: string, after: string, expected: boolean][] = [
  ['what rebasing leaves', 'a\n', ours, true],
  ['the same with CRLF', 'a\r\n', ours.replaceAll('\n', '\r\n'), true],
  ['the beginning alone', 'a\n', '<<<<<<< current file\nmine\n', true],
  ['the end alone', 'a\n', 'theirs\n>>>>>>> proposed change\n', true],
  ['the end alone, as the last line', 'a\n', 'theirs\n>>>>>>> proposed change', true],
  ['the line between the two', 'a\n', 'a\n=======\n', false],
  ['foreign markers', 'a\n', foreign, false],
  ['words in a line', 'a\n', 'see "<<<<<<< current file" in the docs\n', false],
  ['markers that the file has already', ours, `${ours}more\n`, false],
  ['a proposal without any', 'a\n', 'b\n', false],
];

for (const [what, before, after, expected] of cases) {
  test(`${what}: ${expected ? 'a conflict' : 'none'}`, () => {
    assert.equal(hasConflict(modify('a.txt', before, after)), expected);
  });
}

test('new and renamed files can hold one too, removed ones cannot', () => {
  const changes = [
    create('new.txt', ours),
    remove('gone.txt', ours),
    rename('from.txt', 'to.txt', 'a\n', ours),
    modify('fine.txt', 'a', 'b'),
  ];
  assert.deepEqual(conflictPaths(changes), ['new.txt', 'to.txt']);
});

test('what a merge marks is a conflict by this definition, with any line ending', async () => {
  for (const eol of ['\n', '\r\n', '\r']) {
    const lines = (middle: string): string => ['one', middle, 'three', ''].join(eol);
    const change = modify('a.txt', lines('two'), lines('proposed'));
    const rebased = await rebaseChange(change, sideOfText(lines('current')));
    assert.ok(rebased.kind === 'conflict' && rebased.marked);
    assert.equal(
      hasConflict(modify('a.txt', lines('current'), rebased.marked.text)),
      true,
      JSON.stringify(eol),
    );
  }
});

const twice = `top\n${ours}between\n${ours.replace('mine', 'mine 2').replace('theirs', 'theirs 2')}bottom`;

test('a choice settles one conflict and leaves the other as it is, with any line ending', () => {
  const expected: Readonly<Record<ConflictChoice, string>> = {
    current: 'mine 2\n',
    proposed: 'theirs 2\n',
    both: 'mine 2\ntheirs 2\n',
  };
  for (const eol of ['\n', '\r\n']) {
    const text = twice.replaceAll('\n', eol);
    const [first, second, ...others] = conflictBlocks(text);
    assert.ok(first && second && others.length === 0);
    assert.deepEqual([first.start, second.start], [1, 7]);
    for (const choice of ['current', 'proposed', 'both'] as const) {
      assert.equal(
        withChoice(text, second, choice),
        `top\n${ours}between\n${expected[choice]}bottom`.replaceAll('\n', eol),
      );
    }
  }
});

test('a side without lines leaves nothing behind', () => {
  const text = 'a\n<<<<<<< current file\n=======\nnew\n>>>>>>> proposed change\nb\n';
  const [block] = conflictBlocks(text);
  assert.ok(block);
  assert.equal(withChoice(text, block, 'current'), 'a\nb\n');
  assert.equal(withChoice(text, block, 'both'), 'a\nnew\nb\n');
});

test('where it is unclear which lines belong to which side, only a person can choose', () => {
  assert.deepEqual(conflictBlocks(ours.replace('mine', 'Heading\n=======')), []);
  assert.deepEqual(conflictBlocks('<<<<<<< current file\nmine\n'), []);
  assert.deepEqual(conflictBlocks(foreign), []);
});

test('what is left is counted, and a marker that is not whole counts too', () => {
  assert.equal(conflictCount(modify('a.txt', 'a\n', twice)), 2);
  assert.equal(conflictCount(modify('b.txt', 'b\n', ours)), 1);
  assert.equal(conflictCount(modify('a.txt', 'a\n', 'theirs\n>>>>>>> proposed change\n')), 1);
  assert.equal(conflictCount(modify('a.txt', twice, `${twice}!`)), 0);
});
