import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sideOfText, type FileChange } from '../../../../src/agent/hold/preview/fileChange.ts';
import { goneFiles } from '../../../../src/agent/hold/preview/fileSteps.ts';

const side = sideOfText('a\n');
const create = (path: string): FileChange => ({ kind: 'create', path, before: null, after: side });
const remove = (path: string): FileChange => ({ kind: 'delete', path, before: side, after: null });
const rename = (from: string, path: string): FileChange => ({
  kind: 'rename',
  from,
  path,
  before: side,
  after: sideOfText('b\n'),
});

const CASES: readonly (readonly [string, readonly FileChange[], Record<string, string | undefined>])[] = [
  ['a rename', [rename('a', 'b')], { a: 'b' }],
  ['a delete', [remove('a')], { a: undefined }],
  ['renames that build on each other', [rename('a', 'b'), rename('b', 'c')], { a: 'c' }],
  ['renamed, then deleted', [rename('a', 'b'), remove('b')], { a: undefined }],
  ['renamed over a deleted one', [remove('b'), rename('a', 'b')], { a: 'b' }],
  ['a new file that is renamed', [create('a'), rename('a', 'b')], {}],
  ['a swap', [rename('a', 't'), rename('b', 'a'), rename('t', 'b')], {}],
  ['renamed, and another file takes its name', [rename('a', 'b'), create('a')], {}],
  ['there and back', [rename('a', 'b'), rename('b', 'a')], {}],
];

for (const [what, changes, gone] of CASES)
  test(`which files are gone: ${what}`, () => {
    assert.deepEqual(Object.fromEntries(goneFiles(changes)), gone);
  });
