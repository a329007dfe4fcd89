import { test } from 'node:test';
import assert from 'node:assert/strict';
import { recoverCommits } from '../../../../src/agent/hold/preview/commit/recovery.ts';
import type { Preview } from '../../../../src/agent/hold/preview/preview.ts';
import { PreviewStore } from '../../../../src/agent/hold/preview/previewStore.ts';
import { Invoker } from '../../../../src/agent/hold/preview/resolve/invoker.ts';
import { create, modify } from '../../../support/changes.ts';
import { draft } from '../../../support/drafts.ts';
import { MemoryWorkspace } from '../../../support/memoryWorkspace.ts';
import { MemoryPreviewLog, restoredStore } from '../../../support/testSession.ts';

const three = ['1', '2', '3'].join('\n');

/** A log with lines of every type, and the files that go with it. */
async function eventful(): Promise<{ log: MemoryPreviewLog; workspace: MemoryWorkspace }> {
  const log = new MemoryPreviewLog();
  const workspace = new MemoryWorkspace({ 'a.txt': 'a', 'b.txt': three });
  const store = new PreviewStore(log, error => assert.fail(String(error)));
  const invoker = new Invoker(store, workspace, () => 'apply');
  const vote = (id: string, action: 'apply' | 'discard') =>
    invoker.resolve({ id, action, reason: `${action} ${id}`, actor: 'human' });
  const stage = (...changes: NonNullable<Preview['changes']>): string =>
    store.stage(draft({ changes })).preview.id;

  await vote(stage(modify('a.txt', 'a', 'A')), 'apply'); // p1
  await vote(stage(create('new.txt', 'new')), 'discard'); // p2
  const failing = stage(create('new.txt', 'new')); // p3
  workspace.failWrite(1);
  await assert.rejects(vote(failing, 'apply'));
  await vote(failing, 'apply');
  const stays = create('stays.txt', 'stays');
  const split = stage(modify('b.txt', three, 'one\n2\nthree'), stays); // p4
  store.split(
    split,
    { changes: [modify('b.txt', 'one\n2\n3', 'one\n2\nthree'), stays], buildsOnPart: true },
    { ...draft(), kind: 'files', changes: [modify('b.txt', three, 'one\n2\n3')] }, // p5
  );
  await store.revise(split, [modify('b.txt', 'one\n2\n3', 'one\n2\n3!'), stays], ['p5'], 'user');
  await vote('p5', 'apply');
  await store.markStale(split, ['b.txt']);
  await store.markStale(split, []);
  await store.recommend(split, { action: 'apply', reason: 'good' });
  await vote(split, 'apply');
  stage(modify('a.txt', 'A', 'AA')); // p6
  const action = store.stage(draft({ changes: null })).preview.id; // p7
  await store.expire(action);
  await store.dismiss(action);
  return { log, workspace };
}

const applied = ['p1', 'p3', 'p4', 'p5'];

async function restart(lines: readonly string[], files: Record<string, string>) {
  const log = new MemoryPreviewLog(lines);
  const workspace = new MemoryWorkspace(files);
  const store = restoredStore(log, error => assert.fail(String(error)));
  const reports = await recoverCommits(store, workspace);
  return { log, store, workspace, reports };
}

test('a line that is in the log a second time, at any place after it, changes nothing', async () => {
  const { log, workspace } = await eventful();
  const files = workspace.snapshot();
  const { store: expected } = await restart(log.lines, files);
  assert.ok(new Set(log.entries.map(({ type }) => type)).size >= 8);
  for (const [at, line] of log.lines.entries()) {
    for (let to = at + 1; to <= log.lines.length; to++) {
      const about = `line ${at} again before line ${to}: ${line.slice(0, 60)}`;
      const { store, workspace: after, reports } = await restart(log.lines.toSpliced(to, 0, line), files);
      assert.deepEqual(store.all(), expected.all(), about);
      assert.deepEqual(store.ledger(), expected.ledger(), about);
      assert.deepEqual(after.snapshot(), files, about);
      assert.deepEqual(reports, [], about);
    }
  }
});

const damages: readonly [name: string, damage: (line: string) => string][] = [
  ['cut off', line => line.slice(0, line.length >> 1)],
  ['overwritten', line => '\0'.repeat(line.length)],
  ['without its braces', line => line.slice(1, -1)],
];

for (const [name, damage] of damages)
  test(`a line that is ${name}: nothing applied is undone, nothing can be applied twice, no id is used again, and the line stays`, async () => {
    const { log, workspace } = await eventful();
    const files = workspace.snapshot();
    for (const [at, line] of log.lines.entries()) {
      const about = `line ${at}: ${line.slice(0, 60)}`;
      const lines = log.lines.with(at, damage(line));
      const { log: now, store, workspace: after, reports } = await restart(lines, files);
      assert.deepEqual(after.snapshot(), files, about);
      assert.ok(
        reports.every(({ restored }) => restored.length === 0),
        about,
      );
      const invoker = new Invoker(store, after, () => 'apply');
      for (const id of applied) {
        const preview = store.get(id);
        if (preview?.state.kind !== 'pending') continue;
        const vote = { id, action: 'apply', reason: 'again', actor: 'human' } as const;
        await assert.rejects(invoker.resolve(vote), `${about}: ${id} can be applied again`);
        assert.deepEqual(after.snapshot(), files, about);
      }
      const fresh = store.stage(draft()).preview.id;
      if (!line.includes(`"p7"`)) assert.equal(fresh, 'p8', about);
      await store.forgetResolved(new Date(Date.now() + 60_000));
      assert.ok(now.lines.includes(damage(line)), about);
    }
  });

test('two lines that became one: nothing applied is undone, and no id is used again', async () => {
  const { log, workspace } = await eventful();
  const files = workspace.snapshot();
  for (const [at, line] of log.lines.slice(0, -1).entries()) {
    const about = `line ${at}: ${line.slice(0, 60)}`;
    const lines = log.lines.toSpliced(at, 2, line + log.lines[at + 1]);
    const { store, workspace: after, reports } = await restart(lines, files);
    assert.deepEqual(after.snapshot(), files, about);
    assert.ok(
      reports.every(({ restored }) => restored.length === 0),
      about,
    );
    assert.equal(store.stage(draft()).preview.id, 'p8', about);
  }
});
