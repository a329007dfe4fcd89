import { test } from 'node:test';
import assert from 'node:assert/strict';
import { placeForeign, type ForeignFile } from '../../../../src/agent/hold/external/foreignChange.ts';
import { leftOutOf } from '../../../../src/agent/hold/external/readForeign.ts';
import { MemoryBlobs } from '../../../../src/agent/hold/preview/blobs.ts';
import { linkTo } from '../../../../src/agent/hold/preview/fileChange.ts';
import type { FileContent } from '../../../../src/agent/hold/preview/workspace.ts';
import { modify } from '../../../support/changes.ts';
import { DiskWorkspace } from '../../../support/diskWorkspace.ts';
import { MemoryWorkspace } from '../../../support/memoryWorkspace.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

const blobs = new MemoryBlobs();
const [old, other] = [Uint8Array.of(0, 1), Uint8Array.of(0, 2)];

/** Brings a change of `it` to where something else stands there. @param onRead is called when that is read */
async function placed(
  file: Omit<ForeignFile, 'path'>,
  now: FileContent | null,
  onRead?: (workspace: MemoryWorkspace) => void,
): ReturnType<typeof placeForeign> {
  const workspace = new MemoryWorkspace({ 'a.txt': 'a' });
  workspace.putWhole('it', now);
  workspace.beforeRead = () => onRead?.(workspace);
  return placeForeign([{ path: 'it', ...file }], { workspace, blobs });
}

test('permission bits alone are set on what the file holds now', async () => {
  const after = await blobs.put(other);
  const { changes, conflicts } = await placed({ base: old, theirs: old, mode: 0o755 }, other);
  assert.deepEqual(changes, [{ kind: 'modify', path: 'it', before: after, after, mode: 0o755 }]);
  assert.deepEqual(conflicts, []);
  const text = { base: Buffer.from('1'), theirs: Buffer.from('1'), mode: 0o755 };
  assert.deepEqual((await placed(text, Buffer.from('2'))).changes, [
    { ...modify('it', '2', '2'), mode: 0o755 },
  ]);
});

test('permission bits alone bring no file back, and are not those of a link', async () => {
  for (const content of [old, Buffer.from('text')]) {
    const bits = { base: content, theirs: content, mode: 0o755 };
    for (const now of [null, ...(content === old ? [{ link: 'a.txt' }] : [])]) {
      const { changes, conflicts, leftOut } = await placed(bits, now);
      assert.deepEqual([...changes, ...conflicts, ...leftOut], []);
    }
  }
});

test('a link that was deleted there, and changed here meanwhile, is a conflict about the link itself', async () => {
  for (const link of ['a.txt', 'nowhere']) {
    const { changes, conflicts } = await placed(
      { base: { link }, theirs: null, isBaseUnknown: true },
      { link },
    );
    assert.deepEqual(changes, []);
    assert.deepEqual(conflicts, [{ kind: 'delete', path: 'it', before: linkTo(link), after: null }]);
  }
});

test('a file that has taken the place of a link which was deleted there is a conflict', async () => {
  const { changes, conflicts } = await placed({ base: { link: 'a.txt' }, theirs: null }, other);
  assert.deepEqual(changes, []);
  assert.deepEqual(conflicts, [{ kind: 'delete', path: 'it', before: await blobs.put(other), after: null }]);
});

test('a link that takes the place of a file while that is read is what the change is made on', async () => {
  const link = 'a.txt';
  const { conflicts } = await placed({ base: old, theirs: null }, old, workspace =>
    workspace.putWhole('it', { link }),
  );
  assert.deepEqual(conflicts, [{ kind: 'delete', path: 'it', before: linkTo(link), after: null }]);
});

test('a folder takes the place of a file that was deleted or moved away there, in whatever order they are told', async () => {
  const [a, x] = ['a', 'x'].map(text => Buffer.from(text));
  const below = { path: 'a.txt/x', base: null, theirs: x ?? null };
  const inPlaceOf = async (...files: readonly ForeignFile[]): Promise<readonly string[]> => {
    const workspace = new MemoryWorkspace({ 'a.txt': 'a' });
    const { changes, leftOut } = await placeForeign(files, { workspace, blobs });
    return [...changes.map(({ kind, path }) => `${kind} ${path}`), ...leftOut.map(({ why }) => why)].sort();
  };
  const deleted = { path: 'a.txt', base: a ?? null, theirs: null };
  for (const files of [
    [deleted, below],
    [below, deleted],
  ])
    assert.deepEqual(await inPlaceOf(...files), ['create a.txt/x', 'delete a.txt']);
  const moved = { path: 'b', from: 'a.txt', base: a ?? null, theirs: a ?? null };
  assert.deepEqual(await inPlaceOf(below, moved), ['create a.txt/x', 'rename b']);
  assert.deepEqual(await inPlaceOf(below), ['unreadable']);
});

test('a file that cannot be read here is left out, and the others are placed', async () => {
  const workspace = new MemoryWorkspace({ '.env': 'a', 'a.txt': 'a' });
  workspace.beforeRead = path => {
    const refusal = new Error("EACCES: permission denied, open '/workspace/.env'");
    if (path === '.env') throw Object.assign(refusal, { code: 'EACCES', syscall: 'open' });
  };
  const [base, theirs] = [Buffer.from('a'), Buffer.from('b')];
  const files = ['.env', 'a.txt'].map(path => ({ path, base, theirs }));
  const { changes, leftOut } = await placeForeign(files, { workspace, blobs });
  assert.deepEqual(changes, [modify('a.txt', 'a', 'b')]);
  assert.deepEqual(leftOut, [{ path: '.env', why: 'unreadable', detail: 'EACCES: permission denied' }]);
  workspace.beforeRead = () => {
    throw new Error('a fault');
  };
  await assert.rejects(placeForeign(files, { workspace, blobs }), /a fault/);
});

test('what the system refuses says something about one file, and any other fault about none', () => {
  const refusal = new Error("EACCES: permission denied, open '/workspace/.env'");
  const error = Object.assign(refusal, { code: 'EACCES', syscall: 'open' });
  assert.deepEqual(leftOutOf('.env', error), {
    path: '.env',
    why: 'unreadable',
    detail: 'EACCES: permission denied',
  });
  assert.throws(() => leftOutOf('.env', new Error('a fault')), /a fault/);
});

test('nothing is read through a link that has taken the place of a folder and leads out of the workspace', async t => {
  const temp = await TempFolder.create();
  t.after(() => temp.remove());
  await temp.file('outside/it', 'SECRET');
  const root = await temp.folder('w');
  await temp.link('w/folder', temp.at('outside'));
  const [base, theirs] = ['old', 'new'].map(text => Buffer.from(text));
  const file = { path: 'folder/it', base: base ?? null, theirs: theirs ?? null };
  const found = await placeForeign([file], { workspace: new DiskWorkspace(root), blobs });
  assert.deepEqual([found.changes, found.conflicts], [[], []]);
  assert.deepEqual(
    found.leftOut.map(({ path, why }) => [path, why]),
    [['folder/it', 'unreadable']],
  );
});
