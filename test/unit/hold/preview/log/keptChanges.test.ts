import { test } from 'node:test';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { FileChange } from '../../../../../src/agent/hold/preview/fileChange.ts';
import { allChanges, withKept } from '../../../../../src/agent/hold/preview/log/keptChanges.ts';
import { PreviewStore } from '../../../../../src/agent/hold/preview/previewStore.ts';
import { create, modify } from '../../../../support/changes.ts';
import { draft } from '../../../../support/drafts.ts';
import { MemoryPreviewLog, restoredStore } from '../../../../support/testSession.ts';

const fail = (error: unknown): never => assert.fail(String(error));
const many = Array.from({ length: 500 }, (_, n) => create(`file${n}.txt`, `text ${n}`));

/** A preview of 500 files, of which one is split off and then another is changed. */
async function decided() {
  const log = new MemoryPreviewLog();
  const store = new PreviewStore(log, fail);
  const { id } = store.stage(draft({ changes: many })).preview;
  const [taken, ...others] = many;
  const part = { ...draft(), kind: 'files' as const, changes: [taken ?? fail('none')] };
  store.split(id, { changes: others, buildsOnPart: false }, part);
  const edited = others.with(200, create('file201.txt', 'edited'));
  await store.revise(id, edited, [], 'user');
  return { log, id, store, edited };
}

test('a decision on one of many files does not write the others again, and all come back', async () => {
  const { log, id, store, edited } = await decided();
  const [staged = '', split = '', revised = ''] = log.lines.slice(-3);
  assert.match(staged, /"text 300"/);
  for (const line of [split, revised]) assert.ok(line.length < 1_000, `${line.length} characters`);
  const restored = restoredStore(log, fail);
  assert.deepEqual(restored.all(), store.all());
  assert.deepEqual(restored.get(id)?.changes, edited);
});

test('a revision of which the one before cannot be read changes nothing, and the part that it split off is there', async () => {
  const { log } = await decided();
  const at = log.lines.length - 2;
  const lost = restoredStore(new MemoryPreviewLog(log.lines.toSpliced(at, 1)), fail);
  assert.deepEqual(lost.get('p1')?.changes, many);
  const [line = ''] = log.lines.slice(at, at + 1);
  const far = line.replace('"revision":2', '"revision":7');
  assert.notEqual(far, line);
  const skipped = restoredStore(new MemoryPreviewLog(log.lines.with(at, far)), fail);
  assert.deepEqual(skipped.get('p1')?.changes, many);
  assert.deepEqual(skipped.get('p2')?.changes, many.slice(0, 1));
});

const change = fc.nat(20).map(n => modify(`f${n}`, 'a', 'b'));

test('what is kept of a revision, in any order, gives its changes', () => {
  fc.assert(
    fc.property(fc.array(change), fc.array(fc.oneof(fc.nat(30), change)), (before, picked) => {
      const changes = picked.flatMap<FileChange>(one =>
        typeof one === 'number' ? (before[one] ?? []) : one,
      );
      const stored = withKept(before, changes);
      assert.deepEqual(allChanges(before, stored), changes);
    }),
  );
});

test('changes that the revision before does not have are not made up', () => {
  for (const [from, to] of [
    [0, 3],
    [-1, 1],
    [1, 1],
    [2, 1],
  ] as const)
    assert.equal(allChanges(many.slice(0, 2), [{ from, to }]), undefined);
});
