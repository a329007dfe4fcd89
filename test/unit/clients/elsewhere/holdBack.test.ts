import assert from 'node:assert/strict';
import { test } from 'node:test';
import { english } from '../../../../src/agent/base/localiser.ts';
import { holdBack } from '../../../../src/agent/clients/elsewhere/holdBack.ts';
import { objectNameOf, type SnapshotEntry } from '../../../../src/agent/clients/elsewhere/snapshot.ts';
import { stageGathered } from '../../../../src/agent/clients/elsewhere/stageGathered.ts';
import {
  addsCarriageReturns,
  readUncommitted,
  type UncommittedOptions,
} from '../../../../src/agent/clients/elsewhere/uncommitted.ts';
import { sideOfText, type FileChange } from '../../../../src/agent/preview/fileChange.ts';
import { Overlay } from '../../../../src/agent/preview/overlay.ts';
import type { PendingAction } from '../../../../src/agent/preview/pendingAction.ts';
import type { PreviewLogEntry } from '../../../../src/agent/preview/log/previewLog.ts';
import { PreviewStore } from '../../../../src/agent/preview/previewStore.ts';
import type { QueuedPreview } from '../../../../src/agent/preview/previewStore.ts';
import { queueResolveHandler } from '../../../../src/agent/preview/queueResolveHandler.ts';
import { Rebaser } from '../../../../src/agent/preview/rebase/rebaser.ts';
import { Invoker } from '../../../../src/agent/preview/resolve/invoker.ts';
import { undoAction } from '../../../../src/agent/preview/undo.ts';
import { create, modify, remove } from '../../../support/changes.ts';
import { MemoryWorkspace } from '../../../support/memoryWorkspace.ts';

const side = (text: string) => sideOfText(text);

function world(files: Readonly<Record<string, string>>) {
  const workspace = new MemoryWorkspace(files);
  const log: PreviewLogEntry[] = [];
  const sink = {
    append: (entry: PreviewLogEntry) => void log.push(entry),
    flush: () => Promise.resolve(),
    compact: () => Promise.resolve(),
  };
  const store = new PreviewStore(sink as never, error => assert.fail(String(error)));
  const invoker = new Invoker(
    store,
    Object.assign(workspace, { isProtected: () => Promise.resolve(false) }),
    () => 'recommend',
  );
  const overlay = new Overlay(store);
  const rebaser = new Rebaser({ store, workspace, logger: console });
  const stage = (action: PendingAction): QueuedPreview => {
    const { sessionId = '', agent } = action;
    const origin = { sessionId, ...(agent ? { agent } : {}), asksModel: false };
    return queueResolveHandler({ store, invoker, overlay, l10n: english }, action, origin);
  };
  return { workspace, store, invoker, rebaser, stage, log };
}

const edited = { path: 'a.ts', head: side('a\n'), now: side('A\n') };
const fresh = { path: 'new.sh', head: null, now: side('new\n'), mode: 0o755 };
const deleted = { path: 'gone.ts', head: side('gone\n'), now: null };
const moved = { path: 'to.ts', from: 'from.ts', head: side('m\n'), now: side('M\n') };
const all = [edited, fresh, deleted, moved];
const before = { 'a.ts': 'A\n', 'new.sh': 'new\n', 'to.ts': 'M\n' };
const committed = { 'a.ts': 'a\n', 'gone.ts': 'gone\n', 'from.ts': 'm\n' };
const filesOf = (workspace: MemoryWorkspace, paths: readonly string[]) =>
  Object.fromEntries(
    paths.flatMap(path => (workspace.text(path) === undefined ? [] : [[path, workspace.text(path)]])),
  );
const paths = [...new Set([...Object.keys(before), ...Object.keys(committed)])];

test('the files get back what the last commit has, the content is in a preview, and applying or undoing brings it back', async () => {
  for (const way of ['apply', 'undo'] as const) {
    const { workspace, store, invoker, rebaser, stage } = world(before);
    const held = await holdBack(all, { l10n: english, store, invoker, stage });
    assert.ok(held);
    await rebaser.refresh([]);
    assert.deepEqual(filesOf(workspace, paths), committed);
    const { id, revision, state, origin } = store.get(held.held.id) ?? assert.fail();
    assert.deepEqual(state, { kind: 'pending', stale: [] });
    assert.equal(origin?.agent?.name, 'your uncommitted changes');
    const created = held.held.changes?.find(change => change.kind === 'create');
    assert.equal(created?.mode, 0o755);
    assert.equal(store.get(held.reverted.id)?.state.kind, 'applied');
    const [entry] = store.ledger();
    assert.deepEqual(
      [entry?.previewId, entry?.actor, entry?.outcome],
      [held.reverted.id, 'human', 'applied'],
    );
    const vote = { action: 'apply', reason: '', actor: 'human' } as const;
    if (way === 'apply') await invoker.resolve({ id, revision, ...vote });
    else {
      const undo = undoAction(store.get(held.reverted.id) ?? assert.fail());
      await invoker.resolve({ id: stage(undo ?? assert.fail()).preview.id, ...vote });
    }
    assert.deepEqual(filesOf(workspace, paths), before, way);
  }
});

test('both are in the log before the first file changes', async () => {
  const { workspace, store, invoker, stage, log } = world(before);
  const at: string[][] = [];
  workspace.beforeWrite = () => void at.push(log.map(({ type }) => type));
  await holdBack([edited], { l10n: english, store, invoker, stage });
  assert.deepEqual(at, [['staged', 'staged', 'commit']]);
});

test('if the files cannot be given back, both previews are withdrawn and the files are as they were', async () => {
  const { workspace, store, invoker, stage } = world(before);
  workspace.makeReadOnly('a.ts');
  await assert.rejects(holdBack([edited, deleted], { l10n: english, store, invoker, stage }), /read-only/);
  assert.deepEqual(filesOf(workspace, paths), before);
  assert.equal(store.openCount, 0);
  assert.deepEqual(
    store.all().map(({ state }) => state.kind),
    ['discarded', 'discarded'],
  );
});

test('a file that changed since it was read is not touched', async () => {
  const { workspace, store, invoker, stage } = world(before);
  workspace.put('a.ts', 'newer\n');
  await assert.rejects(holdBack(all, { l10n: english, store, invoker, stage }), /changed/);
  assert.deepEqual(filesOf(workspace, paths), { ...before, 'a.ts': 'newer\n' });
  assert.equal(store.openCount, 0);
});

test('files as in the last commit are nothing to hold back', async () => {
  const { store, invoker, stage } = world({ 'a.ts': 'a\n' });
  assert.equal(
    await holdBack([{ ...edited, now: edited.head }], { l10n: english, store, invoker, stage }),
    undefined,
  );
  assert.equal(store.all().length, 0);
});

/** Reads these files, whose last commit has `head`. */
function read(
  here: MemoryWorkspace,
  head: Readonly<Record<string, string | Partial<SnapshotEntry>>>,
  changed: readonly string[],
  more: Partial<UncommittedOptions> = {},
) {
  const bytesOf = (path: string): Uint8Array => {
    const content = head[path];
    return Buffer.from(typeof content === 'string' ? content : '');
  };
  return readUncommitted({
    changed: changed.map(path => ({ path })),
    head: {
      entry: path => {
        const content = head[path];
        if (content === undefined) return Promise.resolve(null);
        const given = typeof content === 'string' ? {} : content;
        return Promise.resolve({ kind: 'file', size: bytesOf(path).length, isExecutable: false, ...given });
      },
      read: path => Promise.resolve(bytesOf(path)),
    },
    workspace: here,
    places: { resolve: path => here.resolvePath(path), isLink: path => Promise.resolve(path === 'link') },
    isUnsaved: path => path === 'typed.ts',
    isMerging: path => path === 'merged.ts',
    stagedObject: () => Promise.resolve(undefined),
    convertsLineEndings: () => Promise.resolve(true),
    ...more,
  });
}

test('what cannot be held back is named', async () => {
  const here = new MemoryWorkspace({
    'typed.ts': 'a',
    'merged.ts': 'a',
    link: 'a',
    module: 'a',
    'i.png': 'a\0b',
    'fine.ts': 'a',
  });
  const changed = ['typed.ts', 'merged.ts', 'link', 'module', 'i.png', '../out.ts', 'fine.ts'];
  const { files, leftOut } = await read(here, { module: { kind: 'submodule' }, 'fine.ts': 'b' }, changed);
  assert.deepEqual(
    leftOut.map(({ path, why }) => `${path}: ${why}`),
    [
      'typed.ts: unsaved',
      'merged.ts: merging',
      'link: link',
      'module: submodule',
      'i.png: binary',
      '../out.ts: outside',
    ],
  );
  assert.deepEqual(
    files.map(({ path, head, now }) => [path, head?.text, now?.text]),
    [['fine.ts', 'b', 'a']],
  );
});

test('line endings that git converts are those of the file; others are those of the commit', async () => {
  const here = new MemoryWorkspace({ 'a.ts': 'a\r\nb\r\n' });
  for (const converts of [true, false]) {
    const { files } = await read(here, { 'a.ts': 'x\nb\n' }, ['a.ts'], {
      convertsLineEndings: () => Promise.resolve(converts),
    });
    assert.equal(files[0]?.head?.text, converts ? 'x\r\nb\r\n' : 'x\nb\n');
  }
  const diff = (line: string): string => `--- a/a\r\n+++ b/a\r\n@@ -1 +1 @@\n-a\n${line}\n`;
  assert.equal(addsCarriageReturns(diff('+b\r')), true);
  assert.equal(addsCarriageReturns(diff('+b')), false);
});

test('what is staged is lost when it is unstaged, so it must be what the file holds', async () => {
  const here = new MemoryWorkspace({ 'a.ts': 'a\r\n' });
  const staged = async (content: string | null): Promise<boolean> => {
    const name = content === null ? null : objectNameOf(Buffer.from(content), 40);
    const { leftOut } = await read(here, { 'a.ts': 'x\n' }, ['a.ts'], {
      stagedObject: () => Promise.resolve(name),
    });
    return leftOut.some(({ why }) => why === 'staged');
  };
  assert.deepEqual(await Promise.all(['a\r\n', 'a\n', 'other\n', null].map(staged)), [
    false,
    false,
    true,
    true,
  ]);
});

test('gathered changes are staged as one preview, and the conflicts as another one', async () => {
  const { store, stage } = world({ 'a.ts': 'a', 'gone.ts': 'x' });
  const gathered = {
    changes: [modify('a.ts', 'a', 'b'), create('new.ts', 'x')],
    conflicts: [remove('gone.ts', 'x')],
  };
  const staged = await stageGathered(
    gathered,
    { name: () => 'branch x', l10n: english, command: 'review_branch' },
    stage,
  );
  assert.deepEqual(
    staged.map(({ label, dependsOn }) => [label, dependsOn]),
    [
      ['Branch x', []],
      ['Conflicts with branch x', []],
    ],
  );
  assert.deepEqual(new Set(store.all().map(({ origin }) => origin?.agent?.name)), new Set(['branch x']));
});

test('a branch that changes very many files is a preview for each top-level folder, named by it', async () => {
  const files = (folder: string, count: number) =>
    Array.from({ length: count }, (_, n) => create(`${folder}${n}.ts`, 'x'));
  const staged = async (changes: readonly FileChange[]) => {
    const { stage } = world({});
    const elsewhere = { name: () => 'branch x', l10n: english, command: 'review_branch' } as const;
    const previews = await stageGathered({ changes, conflicts: [] }, elsewhere, stage);
    return previews.map(({ label, changes: shown }) => [label, shown?.length]);
  };
  const [deep, top, tests] = [files('src/deep/', 150), files('', 2), files('test/', 60)];
  assert.deepEqual(await staged([...deep, ...top, ...tests]), [
    ['Branch x, src/', 150],
    ['Branch x, top level', 2],
    ['Branch x, test/', 60],
  ]);
  assert.deepEqual(await staged([...top, ...tests]), [['Branch x', 62]]);
});
