import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PendingFiles, proposedLines } from '../../../../src/agent/hold/preview/pendingFiles.ts';
import { create, modify, remove, rename } from '../../../support/changes.ts';
import { InvokerHarness } from '../../../support/invokerHarness.ts';

describe('files with pending changes', () => {
  const idsAt = (files: PendingFiles, path: string) => files.at(path).map(({ preview }) => preview.id);

  test('a file has what is pending for it, until that is decided', async () => {
    const { store, stage, resolve } = new InvokerHarness('none');
    stage();
    const files = new PendingFiles(store);
    stage({ changes: [rename('a.txt', 'b.txt', 'a'), create('c.txt', 'c')] });
    assert.deepEqual(
      ['a.txt', 'b.txt', 'c.txt', 'd.txt'].map(path => idsAt(files, path)),
      [['p1', 'p2'], ['p2'], ['p2'], []],
    );
    await resolve({ id: 'p1', action: 'discard' });
    assert.deepEqual(idsAt(files, 'a.txt'), ['p2']);
    await resolve({ id: 'p2', action: 'discard' });
    assert.ok(files.isEmpty);
  });

  test('a revision that no longer changes a file takes its mark away', async () => {
    const { store, stage } = new InvokerHarness('none');
    const { id } = stage({ changes: [modify('a.txt', 'a', 'A'), create('c.txt', 'c')] });
    const files = new PendingFiles(store);
    await store.revise(id, [modify('a.txt', 'a', 'AA')], [], 'user');
    assert.deepEqual([idsAt(files, 'a.txt'), idsAt(files, 'c.txt')], [['p1'], []]);
  });

  test('it tells only of the files of what has changed, however many are pending', async () => {
    const { store, stage, resolve } = new InvokerHarness('none');
    for (let i = 0; i < 500; i++) stage({ changes: [create(`f${i}.txt`, 'x')] });
    const files = new PendingFiles(store);
    const told = new Set<string>();
    files.onDidChange(paths => paths.forEach(path => told.add(path)));
    await resolve({ id: 'p7', action: 'discard' });
    assert.deepEqual([...told], ['f6.txt']);
  });
});

describe('lines that a preview would change', () => {
  const before = 'a\nb\nc\nd\ne\n';
  const change = modify('a.txt', before, 'a\nB\nc\nd\nnew\ne\n');

  test('each hunk in the file as the preview found it', async () => {
    assert.deepEqual(await proposedLines(change, before), [
      { start: 1, end: 1 },
      { start: 4, end: 4 },
    ]);
  });

  test('they move along with what was typed, in any line ending', async () => {
    const typed = 'x\r\ny\r\na\r\nb\r\nc\r\nd\r\ne\r\n';
    assert.deepEqual(await proposedLines(change, typed), [
      { start: 3, end: 3 },
      { start: 6, end: 6 },
    ]);
  });

  test('they stay within a file that has become shorter, and all of one that is to be deleted counts', async () => {
    assert.deepEqual(await proposedLines(change, 'a\n'), [
      { start: 0, end: 0 },
      { start: 0, end: 0 },
    ]);
    assert.deepEqual(await proposedLines(remove('a.txt', before), before), [{ start: 0, end: 4 }]);
    assert.deepEqual(await proposedLines(create('n.txt', 'x\n'), ''), [{ start: 0, end: 0 }]);
  });
});
