import { test } from 'node:test';
import assert from 'node:assert/strict';
import { StalePreviewError } from '../../../../../src/agent/hold/preview/errors.ts';
import type { FileChange } from '../../../../../src/agent/hold/preview/fileChange.ts';
import { PreviewStore } from '../../../../../src/agent/hold/preview/previewStore.ts';
import { Invoker } from '../../../../../src/agent/hold/preview/resolve/invoker.ts';
import { modify, remove, rename } from '../../../../support/changes.ts';
import { draft } from '../../../../support/drafts.ts';
import { MemoryWorkspace } from '../../../../support/memoryWorkspace.ts';
import { MemoryPreviewLog } from '../../../../support/testSession.ts';

/** Applies changes that were made on these files, after the person has moved some of them. */
async function refusal(
  changes: readonly FileChange[],
  moves: Readonly<Record<string, string>>,
  more: Readonly<Record<string, string>> = {},
): Promise<StalePreviewError> {
  const files = { 'old/a.ts': 'a\n', 'old/[id].tsx': 'b\n', 'old/deep/c.ts': 'c\n' };
  const workspace = new MemoryWorkspace({ ...files, ...more });
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  const invoker = new Invoker(store, workspace, () => 'apply');
  const { id } = store.stage(draft({ changes })).preview;
  for (const [from, to] of Object.entries(moves)) {
    workspace.put(to, workspace.text(from) ?? assert.fail(from));
    workspace.put(from, null);
  }
  const preview = store.get(id) ?? assert.fail(id);
  const vote = { id, revision: 1, action: 'apply', reason: 'ok', actor: 'human' } as const;
  const early = await invoker.assertApplicable(preview, vote).catch((error: unknown) => error);
  const error: unknown = await invoker.resolve(vote).then(
    () => assert.fail('applied'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof StalePreviewError && early instanceof StalePreviewError);
  assert.equal(early.message, error.message);
  assert.equal(store.get(id)?.state.kind, 'pending');
  return error;
}

test('a vote on files of a folder that the person has renamed is refused with the new places', async () => {
  const error = await refusal(
    [modify('old/a.ts', 'a\n', 'A\n'), remove('old/[id].tsx', 'b\n'), rename('old/deep/c.ts', 'x.ts', 'c\n')],
    { 'old/a.ts': 'new/a.ts', 'old/[id].tsx': 'new/[id].tsx', 'old/deep/c.ts': 'new/deep/c.ts' },
  );
  assert.deepEqual(
    [...error.moved],
    [
      ['old/a.ts', 'new/a.ts'],
      ['old/[id].tsx', 'new/[id].tsx'],
      ['old/deep/c.ts', 'new/deep/c.ts'],
    ],
  );
  assert.match(error.fact, /old\/a\.ts was moved to new\/a\.ts\./);
});

test('no place is named where none, or several, have the same file', async () => {
  const change = [modify('old/a.ts', 'a\n', 'A\n')];
  const twin = { 'copy/a.ts': 'a\n' };
  assert.equal((await refusal(change, { 'old/a.ts': 'new/a.ts' }, twin)).moved.size, 0, 'several');
  assert.equal((await refusal(change, { 'old/a.ts': 'new/other.ts' })).moved.size, 0, 'another name');
  const other = { 'new/a.ts': 'other\n' };
  assert.equal((await refusal(change, { 'old/a.ts': 'gone.ts' }, other)).moved.size, 0, 'other bytes');
});
