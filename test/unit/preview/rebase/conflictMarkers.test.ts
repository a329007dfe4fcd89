import { test } from 'node:test';
import assert from 'node:assert/strict';
import { sideOfText } from '../../../../src/agent/preview/fileChange.ts';
import { conflictPaths, hasConflict } from '../../../../src/agent/preview/rebase/conflictMarkers.ts';
import { rebaseChange } from '../../../../src/agent/preview/rebase/rebaseChange.ts';
import { create, modify, remove, rename } from '../../../support/changes.ts';

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
