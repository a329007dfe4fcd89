import { test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { rm } from 'node:fs/promises';
import * as os from 'node:os';
import * as path from 'node:path';
import type { FileChange } from '../../../../../src/agent/hold/preview/fileChange.ts';
import { PreviewStore } from '../../../../../src/agent/hold/preview/previewStore.ts';
import { Rebaser } from '../../../../../src/agent/hold/preview/rebase/rebaser.ts';
import { Invoker } from '../../../../../src/agent/hold/preview/resolve/invoker.ts';
import { undoAction, undoBranchAction } from '../../../../../src/agent/hold/preview/undo.ts';
import { create, remove, rename } from '../../../../support/changes.ts';
import { DiskWorkspace } from '../../../../support/diskWorkspace.ts';
import { draft } from '../../../../support/drafts.ts';
import { keptMode, snapshotOf } from '../../../../support/snapshot.ts';
import { MemoryPreviewLog } from '../../../../support/testSession.ts';

/** A real folder with the file `x`. */
function given(context: TestContext) {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'redline-folder-'));
  // The files may still be on their way to the disk.
  context.after(() => rm(root, { recursive: true, force: true, maxRetries: 5 }));
  fs.writeFileSync(path.join(root, 'x'), 'text');
  fs.chmodSync(path.join(root, 'x'), 0o640);
  const workspace = new DiskWorkspace(root);
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  const logger = { debug() {}, info() {}, warn() {}, error: (text: string) => assert.fail(text) };
  const rebaser = new Rebaser({ store, workspace, logger });
  const invoker = new Invoker(store, workspace, () => 'apply');
  const stage = async (changes: readonly FileChange[] = assert.fail('nothing')): Promise<string> => {
    const { preview } = store.stage(draft({ changes }));
    await rebaser.refresh([preview.id]);
    return preview.id;
  };
  const apply = (id: string) => invoker.resolve({ id, action: 'apply', reason: 'ok', actor: 'human' });
  const undo = (id: string) => stage(undoAction(store.get(id) ?? assert.fail(id))?.changes);
  const state = (id: string) => store.get(id)?.state;
  return { root, store, stage, apply, undo, state };
}

for (const to of ['x/inner', 'x/deep/er/inner']) {
  test(`a file that is renamed to ${to} can be renamed back, and no empty folder is left`, async context => {
    const { root, stage, apply, undo, state } = given(context);
    const before = snapshotOf(root);
    await apply(await stage([rename('x', to, 'text')]));
    assert.deepEqual(snapshotOf(root), { [to]: `${keptMode(0o640).toString(8)} text` });
    const id = await undo('p1');
    assert.deepEqual(state(id), { kind: 'pending', stale: [] });
    await apply(id);
    assert.deepEqual(snapshotOf(root), before);
  });
}

test('if the folder holds another file meanwhile, the undo fails whole', async context => {
  const { root, stage, apply, undo } = given(context);
  await apply(await stage([rename('x', 'x/inner', 'text')]));
  fs.writeFileSync(path.join(root, 'x', 'other'), 'mine');
  const before = snapshotOf(root);
  await assert.rejects(
    apply(await undo('p1')),
    /x could not be written: x is a folder.* Nothing was changed\.$/,
  );
  assert.deepEqual(snapshotOf(root), before);
});

test('a deleted file that became a folder comes back when the whole branch is undone', async context => {
  const { root, store, stage, apply, state } = given(context);
  const before = snapshotOf(root);
  await apply(await stage([remove('x', 'text')]));
  await apply(await stage([create('x/inner', 'new')]));
  const id = await stage(undoBranchAction(store.all(), store.all(), 'revert', 'branch')?.changes);
  assert.deepEqual(state(id), { kind: 'pending', stale: [] });
  await apply(id);
  assert.deepEqual(snapshotOf(root), before);
});
