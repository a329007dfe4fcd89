/** A log that has grown becomes small again, while previews are pending, and tells the same. */
import { after, afterEach, before, beforeEach, mock, test } from 'node:test';
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { textOf } from '../../../../../src/agent/hold/preview/fileChange.ts';
import { openPreviewLog } from '../../../../../src/agent/hold/preview/log/openPreviewLog.ts';
import { PreviewStore } from '../../../../../src/agent/hold/preview/previewStore.ts';
import { Invoker } from '../../../../../src/agent/hold/preview/resolve/invoker.ts';
import { undoAction } from '../../../../../src/agent/hold/preview/undo.ts';
import { resolvePart } from '../../../../../src/agent/hold/preview/resolve/resolvePart.ts';
import { modify } from '../../../../support/changes.ts';
import { withFault } from '../../../../support/diskFaults.ts';
import { draft } from '../../../../support/drafts.ts';
import { MemoryWorkspace } from '../../../../support/memoryWorkspace.ts';
import { TempFolder } from '../../../../support/tempFolder.ts';

let temp: TempFolder;
before(async () => (temp = await TempFolder.create()));
// No store flushes by itself, which would be after its test.
beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => mock.timers.reset());
after(() => temp.remove());

const never = new Date(0);
const original = Array.from({ length: 1200 }, (_, i) => `const value${i} = compute(${i});\n`).join('');
const proposed = original.replaceAll(/0\);/g, '1);');
const sizeIn = (folder: string): number =>
  fs.readdirSync(folder).reduce((sum, name) => sum + fs.statSync(path.join(folder, name)).size, 0);

async function open(folder: string, workspace: MemoryWorkspace) {
  const log = openPreviewLog(path.join(folder, 'previews.jsonl'), 20_000);
  const store = new PreviewStore(log, error => assert.fail(String(error)));
  const { entries, unreadable, badLines } = await log.load();
  assert.deepEqual(badLines, []);
  store.restore(entries, unreadable);
  return { log, store, invoker: new Invoker(store, workspace, () => 'apply') };
}

/** Everything that a store tells, texts and all. */
const toldBy = (store: PreviewStore): unknown =>
  structuredClone({
    previews: store.all(),
    ledger: store.ledger(),
    facts: store.feed.facts,
    last: store.lastNumber,
  });

async function reviewed(folder: string, workspace: MemoryWorkspace) {
  const opened = await open(folder, workspace);
  const { store, invoker } = opened;
  store.stage(draft({ changes: [modify('a.ts', original, proposed)] }));
  for (let i = 0; i < 9; i++) {
    const preview = store.list('oldestFirst').find(({ part }) => !part);
    assert.ok(preview);
    const { id, revision } = preview;
    const action = i % 3 === 0 ? 'discard' : 'apply';
    const request = { id, revision, action, reason: 'ok', actor: 'human' } as const;
    await resolvePart({ store, invoker }, request, { path: 'a.ts', hunk: 0 });
  }
  const amended = (n: number) =>
    Array.from({ length: 60 }, (_, i) => modify(`b${i}`, `old ${i}`, `new ${i} ${n}`));
  const { id } = store.stage(draft({ changes: amended(0) })).preview;
  for (let n = 1; n < 20; n++) await store.revise(id, amended(n), [], 'amend');
  await store.recommend(id, { action: 'apply', reason: 'right' });
  await store.drain();
  return opened;
}

test('a log of many revisions becomes small beside what is pending, and every start reads the same', async () => {
  const folder = temp.at('small');
  fs.mkdirSync(folder);
  const workspace = new MemoryWorkspace({ 'a.ts': original });
  const { store } = await reviewed(folder, workspace);
  const file = path.join(folder, 'previews.jsonl');
  const before = fs.statSync(file).size;
  fs.appendFileSync(file, '{"a damaged line\n');
  const told = toldBy(store);
  await store.forgetResolved(never);
  const small = fs.statSync(file).size;
  assert.ok(small < before / 4, `${before} → ${small} bytes`);
  assert.deepEqual(toldBy(store), told);
  await store.close();
  const text = fs.readFileSync(file, 'utf8');
  assert.ok(text.includes('{"a damaged line\n'));
  fs.writeFileSync(file, text.replace('{"a damaged line\n', ''));
  const { store: next } = await open(folder, workspace);
  assert.deepEqual(toldBy(next), told);
  const ino = fs.statSync(file).ino;
  await next.forgetResolved(never);
  assert.equal(fs.statSync(file).ino === ino, small <= 20_000, 'what is small is left alone');
});

test('contents that nothing names any more go while a preview is pending', async () => {
  const folder = temp.at('unnamed');
  fs.mkdirSync(folder);
  const { store } = await open(folder, new MemoryWorkspace());
  const random = (): string => Array.from({ length: 4000 }, () => Math.random().toString(36)).join('\n');
  const { id } = store.stage(draft({ changes: [modify('a', 'old', random())] })).preview;
  for (let i = 0; i < 5; i++) await store.revise(id, [modify('a', 'old', random())], [], 'user');
  const last = store.get(id)?.changes;
  const contents = path.join(folder, 'contents');
  const before = sizeIn(contents);
  await store.forgetResolved(never);
  assert.ok(sizeIn(contents) < before / 4, `${before} → ${sizeIn(contents)} bytes`);
  await store.close();
  const { store: next } = await open(folder, new MemoryWorkspace());
  assert.deepEqual(next.get(id)?.changes, last);
});

test('what is staged while the contents of forgotten previews go is there at the next start', async () => {
  const folder = temp.at('meanwhile');
  fs.mkdirSync(folder);
  const workspace = new MemoryWorkspace();
  const discarded = async (text: string) => {
    const opened = await open(folder, workspace);
    const { id } = opened.store.stage(draft({ changes: [modify('a', text, proposed)] })).preview;
    await opened.invoker.resolve({ id, action: 'discard', reason: 'no', actor: 'human' });
    return opened;
  };
  const [one, another] = [`${original}// one\n`, `${original}// another\n`];
  await (await discarded(one)).store.close();
  const { store, log } = await discarded(another);
  const likeForgotten = modify('a', `${another}// edited\n`, 'new');
  const sameAsForgotten = modify('b', one, 'new');
  const compact = log.compact.bind(log);
  log.compact = async (...given) => {
    store.stage(draft({ changes: [likeForgotten] }));
    await compact(...given);
    void setImmediate().then(() => store.stage(draft({ changes: [sameAsForgotten] })));
  };
  await store.forgetResolved(new Date(Date.now() + 60_000));
  await store.close();
  const { store: next } = await open(folder, workspace);
  const found = next.all().map(({ changes }) => changes?.map(({ before }) => textOf(before)));
  assert.deepEqual(found, [[`${another}// edited\n`], [one]]);
});

test('while previews are forgotten twice at once, the log names only contents that are there', async () => {
  const folder = temp.at('twice');
  fs.mkdirSync(folder);
  const { store, log } = await reviewed(folder, new MemoryWorkspace({ 'a.ts': original }));
  const compact = log.compact.bind(log);
  let isSecond = false;
  let second: Promise<unknown> | undefined;
  log.compact = async (...given) => {
    await compact(...given);
    log.compact = async (...again) => {
      isSecond = true;
      await first;
      const named = fs.readFileSync(path.join(folder, 'previews.jsonl'), 'utf8').matchAll(/[\da-f-]+\.pack/g);
      const there = fs.readdirSync(path.join(folder, 'contents'));
      for (const [name] of named) assert.ok(there.includes(name), name);
      await compact(...again);
    };
    second = store.forgetResolved(new Date(Date.now() + 60_000));
    for (let turn = 0; turn < 500 && !isSecond; turn++) await setImmediate();
  };
  const first = store.forgetResolved(never);
  await first;
  await second;
  assert.ok(isSecond);
});

for (const fault of ['error', 'death', 'half'] as const)
  test(`${fault} at each call that changes the disk while a log is compacted: nothing is lost`, async () => {
    const folder = temp.at(`whole ${fault}`);
    fs.mkdirSync(folder);
    const workspace = new MemoryWorkspace({ 'a.ts': original });
    await (await reviewed(folder, workspace)).store.close();
    let calls = Infinity;
    for (let at = 1; at <= calls; at++) {
      const copy = temp.at(`${fault} ${at}`);
      fs.cpSync(folder, copy, { recursive: true });
      const { store } = await open(copy, workspace);
      const told = toldBy(store);
      const made = await withFault(at, fault, () => store.forgetResolved(never).catch(() => undefined));
      if (at > made) calls = made;
      if (fault === 'error') {
        store.stage(draft({ changes: [modify('later', 'a', 'b')] }));
        assert.ok(await store.close());
      }
      const { store: next } = await open(copy, workspace);
      assert.deepEqual(toldBy(next), fault === 'error' ? toldBy(store) : told, `call ${at}`);
      fs.rmSync(copy, { recursive: true });
    }
    assert.ok(calls >= 8, `${calls} calls`);
  });

/** 2,500 decisions on previews that are gone, one that can be undone, and one preview that could not be applied and is pending. */
async function decided(folder: string) {
  const workspace = new MemoryWorkspace({ 'a.ts': 'a', 'b.ts': 'b' });
  const opened = await open(folder, workspace);
  const { store, invoker, log } = opened;
  const vote = { action: 'apply', reason: 'ok', actor: 'human' } as const;
  const stage = (name: string) =>
    store.stage(draft({ changes: [modify(`${name}.ts`, name, `${name}2`)] })).preview.id;
  const ids = [stage('a'), stage('b')] as const;
  await invoker.resolve({ id: ids[0], ...vote });
  workspace.failWrite(1);
  await assert.rejects(invoker.resolve({ id: ids[1], ...vote }));
  await store.drain();
  const [entry = assert.fail()] = store.ledger();
  for (let n = 3; n < 2_503; n++) {
    const at = new Date(Date.parse(entry.at) + 10_000 + n).toISOString();
    await log.append({ type: 'resolved', mark: `m${n}`, entries: [{ ...entry, previewId: `p${n}`, at }] });
  }
  await store.close();
  return { ids, ledger: await open(folder, workspace).then(({ store: next }) => next.ledger()) };
}

const allToldBy = async (store: PreviewStore) => ({
  previews: structuredClone(store.all()),
  ledger: await store.wholeLedger(),
  attempts: store.feed.attempts,
  last: store.lastNumber,
});

test('old decisions go to the ledger file, which a start does not read and the ledger tells', async () => {
  const folder = temp.at('decided');
  fs.mkdirSync(folder);
  const { ids, ledger } = await decided(folder);
  assert.equal(ledger.length, 2_502);
  const { store } = await open(folder, new MemoryWorkspace());
  const told = await allToldBy(store);
  assert.deepEqual(told.ledger, ledger);
  await store.forgetResolved(never);
  assert.deepEqual(await allToldBy(store), told);
  assert.deepEqual(
    store.ledger().map(({ previewId }) => previewId),
    [...ids, ...Array.from({ length: 1_000 }, (_, n) => `p${n + 1_503}`)],
  );
  assert.deepEqual(
    store.ledgerFrom(2_500).map(({ previewId }) => previewId),
    ['p2501', 'p2502'],
  );
  await store.close();
  fs.renameSync(path.join(folder, 'ledger.jsonl'), path.join(folder, 'elsewhere'));
  const { store: next } = await open(folder, new MemoryWorkspace());
  assert.deepEqual(next.ledger(), store.ledger());
  fs.renameSync(path.join(folder, 'elsewhere'), path.join(folder, 'ledger.jsonl'));
  assert.deepEqual(await allToldBy(next), told);
  assert.ok(undoAction(next.get(ids[0]) ?? assert.fail()));
  assert.equal(next.stage(draft({})).preview.id, 'p2503');
  for (let n = 0; n < 2; n++) await next.forgetResolved(new Date(Date.now() + 60_000));
  assert.deepEqual(await next.wholeLedger(), ledger);
  assert.equal(next.feed.attempts, 2_502);
  await next.close();
});

test('a damaged line of the ledger file costs that line, and is told', async () => {
  const folder = temp.at('damaged');
  fs.mkdirSync(folder);
  const { ledger } = await decided(folder);
  await (await open(folder, new MemoryWorkspace())).store.forgetResolved(never);
  const file = path.join(folder, 'ledger.jsonl');
  fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace('"previewId":"p77"', '"previewId":"p7\0"'));
  const told: string[] = [];
  const log = openPreviewLog(path.join(folder, 'previews.jsonl'));
  const store = new PreviewStore(log, error => assert.fail(String(error)), {
    onDamage: unreadable => void told.push(...unreadable.map(({ text }) => text)),
  });
  store.restore((await log.load()).entries);
  assert.deepEqual(
    await store.wholeLedger(),
    ledger.filter(({ previewId }) => previewId !== 'p77'),
  );
  assert.equal(told.length, 1);
});

for (const fault of ['error', 'half'] as const)
  test(`${fault} at each call that changes the disk while decisions go to the ledger file: each is told once`, async () => {
    const folder = temp.at(`ledger ${fault}`);
    fs.mkdirSync(folder);
    await decided(folder);
    let calls = Infinity;
    for (let at = 1; at <= calls; at++) {
      const copy = temp.at(`ledger ${fault} ${at}`);
      fs.cpSync(folder, copy, { recursive: true });
      const { store } = await open(copy, new MemoryWorkspace());
      const told = await allToldBy(store);
      const made = await withFault(at, fault, () => store.forgetResolved(never).catch(() => undefined));
      if (at > made) calls = made;
      assert.deepEqual(await allToldBy(store), told, `call ${at}`);
      const { store: next } = await open(copy, new MemoryWorkspace());
      assert.deepEqual(await allToldBy(next), told, `call ${at}, the next start`);
      fs.rmSync(copy, { recursive: true });
    }
    assert.ok(calls >= 10, `${calls} calls`);
  });
