import { test } from 'node:test';
import assert from 'node:assert/strict';
import { ToolError } from '../../../../../src/agent/base/errors.ts';
import { StalePreviewError } from '../../../../../src/agent/hold/preview/errors.ts';
import { commitChanges, stalePaths } from '../../../../../src/agent/hold/preview/commit/commitChanges.ts';
import { sideOfText } from '../../../../../src/agent/hold/preview/fileChange.ts';
import { create, modify, remove, rename } from '../../../../support/changes.ts';
import { MemoryWorkspace, noSpace } from '../../../../support/memoryWorkspace.ts';

const before = { 'a.txt': 'a', 'b.txt': 'b', 'old.txt': 'moved', 'gone.txt': 'gone', 'other.txt': 'other' };
const after = { 'a.txt': 'A', 'b.txt': 'B', 'made.txt': 'made', 'new.txt': 'Moved', 'other.txt': 'other' };
const changes = [
  modify('a.txt', 'a', 'A'),
  create('made.txt', 'made'),
  rename('old.txt', 'new.txt', 'moved', 'Moved'),
  remove('gone.txt', 'gone'),
  modify('b.txt', 'b', 'B'),
];
/** A rename with other text is three: its new name, the end of the old one, and the text. */
const WRITES = 7;

test('every kind of change is written, and nothing else is touched', async () => {
  const workspace = new MemoryWorkspace(before);
  assert.deepEqual(await commitChanges(workspace, changes), { unsaved: [] });
  assert.deepEqual(workspace.snapshot(), after);
  assert.equal(workspace.writes.length, WRITES);
});

for (let k = 1; k <= WRITES; k++) {
  test(`a failure of write ${k} of ${WRITES} leaves all files as they were and names the file`, async () => {
    const workspace = new MemoryWorkspace(before);
    workspace.failWrite(k);
    const paths = ['a.txt', 'made.txt', 'new.txt', 'b.txt', 'old.txt', 'gone.txt', 'new.txt'];
    await assert.rejects(commitChanges(workspace, changes), error => {
      assert.ok(error instanceof ToolError && !(error instanceof StalePreviewError));
      assert.equal(
        error.message,
        `${paths[k - 1]} could not be written: ${noSpace().message}. Nothing was changed.`,
      );
      return true;
    });
    assert.deepEqual(workspace.snapshot(), before);
  });

  test(`a base that changes right before write ${k} of ${WRITES} is not overwritten, and the rest is rolled back`, async () => {
    const workspace = new MemoryWorkspace(before);
    let touched = '';
    workspace.beforeWrite = (path, n) => {
      if (n !== k) return;
      touched = path;
      workspace.put(path, 'typed by the user');
    };
    await assert.rejects(commitChanges(workspace, changes), error => {
      assert.ok(error instanceof StalePreviewError);
      assert.deepEqual(error.paths, [touched]);
      return true;
    });
    assert.deepEqual(workspace.snapshot(), { ...before, [touched]: 'typed by the user' });
  });

  test(`a file that gets the proposed content from elsewhere right before write ${k} of ${WRITES} is not taken back`, async () => {
    const workspace = new MemoryWorkspace(before);
    let touched = '';
    workspace.beforeWrite = (path, n) => {
      if (n !== k) return;
      touched = path;
      workspace.put(path, after[path as keyof typeof after] ?? null);
    };
    await assert.rejects(commitChanges(workspace, changes), StalePreviewError);
    const theirs = after[touched as keyof typeof after];
    const { [touched as keyof typeof before]: _, ...others } = before;
    assert.deepEqual(workspace.snapshot(), {
      ...others,
      ...(theirs === undefined ? {} : { [touched]: theirs }),
    });
  });

  test(`when everything fails from write ${k} on, the error names exactly the files that hold the new text`, async () => {
    const workspace = new MemoryWorkspace(before);
    workspace.failWritesFrom(k);
    const written = ['a.txt', 'made.txt', 'new.txt', 'b.txt', 'old.txt', 'gone.txt']
      .slice(0, k - 1)
      .reverse();
    const expected =
      k === 1
        ? /Nothing was changed\.$/
        : new RegExp(`could not be restored .*: ${[...written].sort().join(', ')}\\.$`);
    await assert.rejects(commitChanges(workspace, changes), expected);
  });
}

test('a write that stops in the middle of a file is rolled back too', async () => {
  const [old, next] = ['o'.repeat(10_000), 'n'.repeat(10_000)];
  const workspace = new MemoryWorkspace({ 'a.txt': 'a', 'big.txt': old });
  workspace.beforeWrite = (path, n) => {
    if (n !== 2) return;
    workspace.put(path, next.slice(0, 4096) + old.slice(4096));
    throw noSpace();
  };
  const both = [modify('a.txt', 'a', 'A'), modify('big.txt', old, next)];
  await assert.rejects(
    commitChanges(workspace, both),
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
    commitChanges(workspace, [modify('big.txt', old, next)]),
    /could not be restored .*: big\.txt\.$/,
  );
});

test('all bases are checked before the first write: a stale last file keeps the first from being written', async () => {
  const workspace = new MemoryWorkspace({ ...before, 'b.txt': 'mine', 'made.txt': 'mine too' });
  await assert.rejects(commitChanges(workspace, changes), error => {
    assert.ok(error instanceof StalePreviewError);
    assert.deepEqual(error.paths, ['b.txt', 'made.txt']);
    return true;
  });
  assert.deepEqual(workspace.writes, []);
});

test('the base of a file that a later change makes again is checked as well', async () => {
  const together = [rename('run.sh', 'new.sh', 'text'), create('run.sh', 'text')];
  const workspace = new MemoryWorkspace({});
  await assert.rejects(commitChanges(workspace, together), (error: StalePreviewError) => {
    assert.deepEqual(error.paths, ['run.sh']);
    return true;
  });
  assert.deepEqual(workspace.writes, []);
  assert.deepEqual(await stalePaths(workspace, together), ['run.sh']);
  workspace.put('run.sh', Buffer.from('text'));
  await commitChanges(workspace, together);
  assert.deepEqual(workspace.snapshot(), { 'new.sh': 'text', 'run.sh': 'text' });
});

test('what others have made where a change would make a file, and a later one remove it, is stale', async () => {
  const together = [create('made.txt', 'made'), remove('made.txt', 'made'), modify('a.txt', 'a', 'A')];
  const workspace = new MemoryWorkspace({ 'a.txt': 'a', 'made.txt': 'theirs' });
  await assert.rejects(commitChanges(workspace, together), (error: StalePreviewError) => {
    assert.deepEqual(error.paths, ['made.txt']);
    return true;
  });
  assert.deepEqual(workspace.writes, []);
});

test('a deleted base, and a folder in its place, are stale', async () => {
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
  await assert.rejects(commitChanges(workspace, changes), error => {
    assert.ok(error instanceof ToolError && !(error instanceof StalePreviewError));
    assert.match(error.message, /^Nothing was written: b\.txt could not be read: EIO/);
    return true;
  });
  assert.deepEqual(workspace.writes, []);
});

test('what goes into an editor with unsaved changes is reported as not saved', async () => {
  const workspace = new MemoryWorkspace({ 'a.txt': 'on disk', 'b.txt': 'b' });
  workspace.type('a.txt', 'a');
  assert.deepEqual(await commitChanges(workspace, [modify('b.txt', 'b', 'B'), modify('a.txt', 'a', 'A')]), {
    unsaved: ['a.txt'],
  });
  assert.equal(workspace.typed('a.txt'), 'A');
  assert.deepEqual(workspace.snapshot(), { 'a.txt': 'on disk', 'b.txt': 'B' });
});

test('a rollback reaches the editor too', async () => {
  const workspace = new MemoryWorkspace({ 'a.txt': 'on disk', 'b.txt': 'b' });
  workspace.type('a.txt', 'a');
  workspace.failWrite(2);
  await assert.rejects(commitChanges(workspace, [modify('a.txt', 'a', 'A'), modify('b.txt', 'b', 'B')]));
  assert.equal(workspace.typed('a.txt'), 'a');
});

test('the exact bytes are written, with byte order mark and line endings', async () => {
  const workspace = new MemoryWorkspace({ 'a.txt': '\ufeffone\r\n' });
  const side = (text: string) => sideOfText(text, { name: 'utf8', bom: true });
  const change = { kind: 'modify', path: 'a.txt', before: side('one\r\n'), after: side('two\r\n') } as const;
  await commitChanges(workspace, [change]);
  assert.equal(workspace.text('a.txt'), '\ufefftwo\r\n');
});

test('a write that leaves something else in the file is not said to have changed nothing', async () => {
  const workspace = new MemoryWorkspace({ 'a.txt': 'a', 'b.txt': 'b' });
  workspace.beforeWrite = path => {
    if (path !== 'b.txt') return;
    workspace.put(path, 'something else');
    throw new Error('cut short');
  };
  await assert.rejects(commitChanges(workspace, [modify('a.txt', 'a', 'A'), modify('b.txt', 'b', 'B')]), {
    message:
      'b.txt could not be written: cut short. All other files are as they were. Check these, which hold neither the old nor the proposed text: b.txt.',
  });
  assert.deepEqual(workspace.snapshot(), { 'a.txt': 'a', 'b.txt': 'something else' });
});
