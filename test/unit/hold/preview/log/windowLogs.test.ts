/** The log of an older version's window joins that of the storage whole and once, whatever ends the process or cuts the power. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { JsonLog } from '../../../../../src/agent/base/log/jsonLog.ts';
import { binarySide } from '../../../../../src/agent/hold/preview/blobs.ts';
import { openPreviewLog } from '../../../../../src/agent/hold/preview/log/openPreviewLog.ts';
import { previewLogFormat } from '../../../../../src/agent/hold/preview/log/previewLog.ts';
import { joinWindowLogs } from '../../../../../src/agent/hold/preview/log/windowLogs.ts';
import { countedNumbers } from '../../../../../src/agent/hold/preview/previewNumbers.ts';
import { PreviewStore } from '../../../../../src/agent/hold/preview/previewStore.ts';
import { Invoker } from '../../../../../src/agent/hold/preview/resolve/invoker.ts';
import { create, modify } from '../../../../support/changes.ts';
import { withFault, type Fault } from '../../../../support/diskFaults.ts';
import { draft } from '../../../../support/drafts.ts';
import { Random } from '../../../../support/fuzz/random.ts';
import { MemoryWorkspace } from '../../../../support/memoryWorkspace.ts';
import { ModelDisk, withoutSyncs } from '../../../../support/modelDisk.ts';
import { TempFolder } from '../../../../support/tempFolder.ts';

const temp = await TempFolder.create();
after(() => temp.remove());
const fail = (error: unknown): never => assert.fail(String(error));
const image = Buffer.from('\0image'.repeat(2_000));

/** A storage with a pending preview, and the log of a window with two decided ones and a pending one. */
const left = temp.at('left');
before(async () => {
  const windows = path.join(left, 'windows');
  fs.mkdirSync(windows, { recursive: true });
  const own = openPreviewLog(path.join(left, 'previews.jsonl'));
  await own.load();
  const store = new PreviewStore(own, fail);
  store.stage(draft({ changes: [create('own.txt', 'own')] }));
  await store.close();
  // It has texts in its lines, and binary files in a folder.
  const log = new JsonLog(path.join(windows, 'older.jsonl'), { ...previewLogFormat, version: 8 });
  const sink = Object.assign(log, { compact: () => Promise.reject(new Error('not in this test')) });
  const older = new PreviewStore(sink, fail, { numbers: countedNumbers(7) });
  const invoker = new Invoker(older, new MemoryWorkspace({ 'a.txt': 'a' }), () => 'apply');
  for (const changes of [[modify('a.txt', 'a', 'A')], [modify('a.txt', 'A', 'a')]]) {
    const { id } = older.stage(draft({ changes })).preview;
    await invoker.resolve({ id, action: 'apply', reason: 'ok', actor: 'human' });
  }
  const side = binarySide(image);
  fs.mkdirSync(path.join(left, 'blobs'));
  fs.writeFileSync(path.join(left, 'blobs', side.hash), image);
  const binary = { kind: 'create', path: 'b.bin', before: null, after: side } as const;
  older.stage(draft({ changes: [create('c.txt', 'text\n'.repeat(2_000)), binary] }));
  await older.close();
});

let count = 0;
function copy(): string {
  const root = temp.at(`${++count}`);
  fs.cpSync(left, root, { recursive: true });
  return root;
}

/** A start. */
async function open(root: string, onFailure: (error: unknown) => void = fail): Promise<PreviewStore> {
  const log = openPreviewLog(path.join(root, 'previews.jsonl'));
  const windows = path.join(root, 'windows');
  if (fs.existsSync(windows)) assert.deepEqual(await joinWindowLogs(log, windows, onFailure), []);
  const store = new PreviewStore(log, onFailure);
  const { entries, unreadable } = await log.load();
  store.restore(entries, unreadable);
  await store.close();
  return store;
}

async function check(root: string): Promise<void> {
  const store = await open(root);
  assert.deepEqual(
    store.all().map(({ id, state }) => `${id} ${state.kind}`),
    ['p1 pending', 'p8 applied', 'p9 applied', 'p10 pending'],
  );
  assert.deepEqual(
    store.ledger().map(({ previewId, outcome }) => `${previewId} ${outcome}`),
    ['p8 applied', 'p9 applied'],
  );
  structuredClone(store.all()); // all texts can be read
  const after = store.get('p10')?.changes?.[1]?.after;
  assert.ok(after && 'size' in after);
  assert.deepEqual(Buffer.from(await store.blobs.get(after)), image);
  assert.equal(fs.existsSync(path.join(root, 'windows')), false);
}

test('after a power cut at any call', async () => {
  const root = copy();
  const disk = new ModelDisk(root);
  await disk.watch(() => open(root));
  const { now } = disk;
  for (let seed = 0; seed < 6; seed++)
    for (let at = 0; at <= now; at++) {
      disk.cut(at, new Random(seed * 1_000 + at));
      await withoutSyncs(() => check(root)).catch((error: unknown) => {
        throw new Error(`seed ${seed}, cut at ${at} of ${now}`, { cause: error });
      });
    }
});

for (const fault of ['error', 'death', 'half'] satisfies Fault[])
  test(`after a fault at any call: ${fault}`, async () => {
    let isOver = false;
    for (let at = 1; !isOver; at++) {
      const root = copy();
      const made = await withFault(
        at,
        fault,
        () => open(root, () => undefined).catch(() => undefined),
        fault === 'error',
      );
      isOver = made < at;
      await withoutSyncs(() => check(root)).catch((error: unknown) => {
        throw new Error(`at call ${at} of ${made}`, { cause: error });
      });
    }
  });
