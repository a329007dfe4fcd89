/** What the log holds of rebases: next to nothing while somebody types, and the last one once something depends on it. */
import { after, before, beforeEach, test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { openPreviewLog } from '../../../../../src/agent/hold/preview/log/openPreviewLog.ts';
import { PreviewStore } from '../../../../../src/agent/hold/preview/previewStore.ts';
import { Rebaser } from '../../../../../src/agent/hold/preview/rebase/rebaser.ts';
import { silentLogger } from '../../../../../src/agent/base/logger.ts';
import { modify, textIn } from '../../../../support/changes.ts';
import { draft } from '../../../../support/drafts.ts';
import { MemoryWorkspace } from '../../../../support/memoryWorkspace.ts';
import { TempFolder } from '../../../../support/tempFolder.ts';

let temp: TempFolder;
let file: string;
let tests = 0;
before(async () => (temp = await TempFolder.create()));
beforeEach(() => (file = temp.at(`${++tests}`, 'previews.jsonl')));
after(() => temp.remove());

const PENDING = 10;
const lines = Array.from({ length: 3000 }, (_, i) => `line ${i} of some code that is not very long();`);
const text = lines.join('\n');

async function bench(context: TestContext, workspace: MemoryWorkspace) {
  const log = openPreviewLog(file);
  const store = new PreviewStore(log, error => assert.fail(String(error)));
  const { entries, unreadable, badLines } = await log.load();
  assert.deepEqual(badLines, []);
  store.restore(entries, unreadable);
  const rebaser = new Rebaser({ store, workspace, logger: silentLogger });
  context.after(() => rebaser.dispose());
  const now = (id: string) => store.get(id) ?? assert.fail(`no preview ${id}`);
  /** Somebody types at the beginning of the file, and pauses. */
  const type = async (): Promise<void> => {
    workspace.put('a.ts', `x${workspace.text('a.ts') ?? ''}`);
    await rebaser.filesChanged(['a.ts']);
  };
  return { store, rebaser, now, type, proposed: (id: string) => textIn(now(id).changes?.[0]?.after) ?? '' };
}

function stagePending(store: PreviewStore): void {
  for (let i = 0; i < PENDING; i++) {
    const changed = text.replace(`line ${100 + 5 * i} of`, `line ${100 + 5 * i} OF`);
    store.stage(draft({ changes: [modify('a.ts', text, changed)] }));
  }
}

test('typing beside pending previews costs next to no disk', async context => {
  const { store, now, type } = await bench(context, new MemoryWorkspace({ 'a.ts': text }));
  stagePending(store);
  await store.drain();
  const { size: size0 } = statSync(file);
  for (let pause = 0; pause < 44; pause++) await type();
  assert.equal(now('p1').revision, 45);
  const grown = statSync(file).size - size0;
  assert.ok(grown < PENDING * 200, `the log grew by ${grown} bytes`);
});

test('after a crash the next start rebases again, and gives out no revision twice', async context => {
  const workspace = new MemoryWorkspace({ 'a.ts': text });
  const crashed = await bench(context, workspace);
  stagePending(crashed.store);
  for (let pause = 0; pause < 3; pause++) await crashed.type();
  const [rebased, { revision }] = [crashed.proposed('p1'), crashed.now('p1')];

  const next = await bench(context, workspace);
  assert.ok(next.now('p1').revision > revision, 'no vote of before fits it');
  await next.rebaser.filesChanged(['a.ts']);
  assert.equal(next.proposed('p1'), rebased);
  const seen = next.now('p1').revision;
  await next.type();
  await next.store.recommend('p1', { action: 'apply', reason: 'as it is now' });

  const last = await bench(context, workspace);
  const { state } = last.now('p1');
  assert.equal(state.kind === 'pending' && state.recommendation?.reason, 'as it is now');
  assert.equal(last.now('p1').revision, seen + 1, 'the revision that the vote names');
  assert.equal(last.proposed('p1'), next.proposed('p1'));
});

test('a window that closes stores the last rebase of each preview', async context => {
  const workspace = new MemoryWorkspace({ 'a.ts': text });
  const { store, now, type } = await bench(context, workspace);
  stagePending(store);
  for (let pause = 0; pause < 3; pause++) await type();
  await store.close();
  const next = await bench(context, workspace);
  assert.deepEqual(next.now('p1'), now('p1'));
});

test('a revision of a person follows a rebase that was not stored', async context => {
  const workspace = new MemoryWorkspace({ 'a.ts': text });
  const { store, type, now } = await bench(context, workspace);
  stagePending(store);
  await type();
  const base = workspace.text('a.ts') ?? '';
  await store.revise('p1', [modify('a.ts', base, `${base}\nmine`)], [], 'user');
  await type();
  const next = await bench(context, workspace);
  assert.ok(next.now('p1').revision > now('p1').revision);
  assert.equal(next.proposed('p1'), `${base}\nmine`);
  assert.equal(next.now('p1').editedByUser, true);
});
