import { test } from 'node:test';
import assert from 'node:assert/strict';
import { StalePreviewError, ToolError } from '../../../src/agent/base/errors.ts';
import { sideOfText } from '../../../src/agent/preview/fileChange.ts';
import { landChanges, stalePaths } from '../../../src/agent/preview/landing.ts';
import { create, modify, remove, rename } from '../../support/changes.ts';
import { MemoryWorkspace, noSpace } from '../../support/memoryWorkspace.ts';

const before = { 'a.txt': 'a', 'b.txt': 'b', 'old.txt': 'moved', 'gone.txt': 'gone', 'other.txt': 'other' };
const after = { 'a.txt': 'A', 'b.txt': 'B', 'made.txt': 'made', 'new.txt': 'Moved', 'other.txt': 'other' };
const changes = [
  modify('a.txt', 'a', 'A'),
  create('made.txt', 'made'),
  rename('old.txt', 'new.txt', 'moved', 'Moved'),
  remove('gone.txt', 'gone'),
  modify('b.txt', 'b', 'B'),
];
/** A rename is two. */
const WRITES = 6;

test('every kind of change lands, and nothing else is touched', async () => {
  const workspace = new MemoryWorkspace(before);
  assert.deepEqual(await landChanges(workspace, changes), { unsaved: [] });
  assert.deepEqual(workspace.snapshot(), after);
  assert.equal(workspace.writes.length, WRITES);
});

for (let k = 1; k <= WRITES; k++) {
  test(`a failure of write ${k} of ${WRITES} leaves all files as they were and names the file`, async () => {
    const workspace = new MemoryWorkspace(before);
    workspace.failWrite(k);
    const paths = ['a.txt', 'made.txt', 'new.txt', 'b.txt', 'old.txt', 'gone.txt'];
    await assert.rejects(landChanges(workspace, changes), error => {
      assert.ok(error instanceof ToolError && !(error instanceof StalePreviewError));
      assert.equal(
        error.message,
        `${paths[k - 1]} could not be written: ${noSpace().message}. Nothing was changed.`,
      );
      return true;
    });
    assert.deepEqual(workspace.snapshot(), before);
  });

  test(`a base that moves on right before write ${k} of ${WRITES} is not written over, and the rest is taken back`, async () => {
    const workspace = new MemoryWorkspace(before);
    let touched = '';
    workspace.beforeWrite = (path, n) => {
      if (n !== k) return;
      touched = path;
      workspace.put(path, 'typed by a person');
    };
    await assert.rejects(landChanges(workspace, changes), error => {
      assert.ok(error instanceof StalePreviewError);
      assert.deepEqual(error.paths, [touched]);
      return true;
    });
    assert.deepEqual(workspace.snapshot(), { ...before, [touched]: 'typed by a person' });
  });

  test(`when everything fails from write ${k} on, the error names exactly the files that hold the new text`, async () => {
    const workspace = new MemoryWorkspace(before);
    workspace.failWritesFrom(k);
    const written = ['a.txt', 'made.txt', 'new.txt', 'b.txt', 'old.txt'].slice(0, k - 1).reverse();
    const expected =
      k === 1
        ? /Nothing was changed\.$/
        : new RegExp(`could not be restored .*: ${[...written].sort().join(', ')}\\.$`);
    await assert.rejects(landChanges(workspace, changes), expected);
  });
}

test('a write that stops in the middle of a file is taken back too', async () => {
  const [old, next] = ['o'.repeat(10_000), 'n'.repeat(10_000)];
  const workspace = new MemoryWorkspace({ 'a.txt': 'a', 'big.txt': old });
  workspace.beforeWrite = (path, n) => {
    if (n !== 2) return;
    workspace.put(path, next.slice(0, 4096) + old.slice(4096));
    throw noSpace();
  };
  const both = [modify('a.txt', 'a', 'A'), modify('big.txt', old, next)];
  await assert.rejects(
    landChanges(workspace, both),
    /^ToolError: big\.txt could not be written: .*Nothing was changed/,
  );
  assert.deepEqual(workspace.snapshot(), { 'a.txt': 'a', 'big.txt': old });
});

test('when such a file cannot be restored either, the error names it', async () => {
  const [old, next] = ['o'.repeat(10_000), 'n'.repeat(10_000)];
  const workspace = new MemoryWorkspace({ 'big.txt': old });
  workspace.beforeWrite = (path, n) => {
    if (n === 1) workspace.put(path, next.slice(0, 4096) + old.slice(4096));
    throw noSpace();
  };
  await assert.rejects(
    landChanges(workspace, [modify('big.txt', old, next)]),
    /could not be restored .*: big\.txt\.$/,
  );
});

test('all bases are checked before the first write: a stale last file keeps the first from being written', async () => {
  const workspace = new MemoryWorkspace({ ...before, 'b.txt': 'mine', 'made.txt': 'mine too' });
  await assert.rejects(landChanges(workspace, changes), error => {
    assert.ok(error instanceof StalePreviewError);
    assert.deepEqual(error.paths, ['b.txt', 'made.txt']);
    return true;
  });
  assert.deepEqual(workspace.writes, []);
});

test('a base that is gone, and a folder in its place, count as moved on', async () => {
  const workspace = new MemoryWorkspace({ 'b.txt/inner.txt': 'x' });
  assert.deepEqual(await stalePaths(workspace, [modify('a.txt', 'a', 'A'), modify('b.txt', 'b', 'B')]), [
    'a.txt',
    'b.txt',
  ]);
  assert.deepEqual(await stalePaths(workspace, [create('c.txt', 'c')]), []);
});

test('a base that cannot be read stops everything, and is not taken for stale', async () => {
  const workspace = new MemoryWorkspace(before);
  workspace.beforeRead = path => {
    if (path === 'b.txt') throw new Error('EIO: i/o error');
  };
  await assert.rejects(landChanges(workspace, changes), error => {
    assert.ok(error instanceof ToolError && !(error instanceof StalePreviewError));
    assert.match(error.message, /^Nothing was written: b\.txt could not be read: EIO/);
    return true;
  });
  assert.deepEqual(workspace.writes, []);
});

test('what goes into an editor with unsaved changes is reported as not saved', async () => {
  const workspace = new MemoryWorkspace({ 'a.txt': 'on disk', 'b.txt': 'b' });
  workspace.type('a.txt', 'a');
  assert.deepEqual(await landChanges(workspace, [modify('b.txt', 'b', 'B'), modify('a.txt', 'a', 'A')]), {
    unsaved: ['a.txt'],
  });
  assert.equal(workspace.typed('a.txt'), 'A');
  assert.deepEqual(workspace.snapshot(), { 'a.txt': 'on disk', 'b.txt': 'B' });
});

test('taking back reaches the editor too', async () => {
  const workspace = new MemoryWorkspace({ 'a.txt': 'on disk', 'b.txt': 'b' });
  workspace.type('a.txt', 'a');
  workspace.failWrite(2);
  await assert.rejects(landChanges(workspace, [modify('a.txt', 'a', 'A'), modify('b.txt', 'b', 'B')]));
  assert.equal(workspace.typed('a.txt'), 'a');
});

test('the exact bytes land, mark and line endings included', async () => {
  const workspace = new MemoryWorkspace({ 'a.txt': '\ufeffone\r\n' });
  const side = (text: string) => sideOfText(text, { name: 'utf8', bom: true });
  const change = { kind: 'modify', path: 'a.txt', before: side('one\r\n'), after: side('two\r\n') } as const;
  await landChanges(workspace, [change]);
  assert.equal(workspace.text('a.txt'), '\ufefftwo\r\n');
});
