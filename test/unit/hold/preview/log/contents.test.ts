/** What a log of previews stores of texts, where, and what becomes of that. */
import { after, before, beforeEach, test } from 'node:test';
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import writable, * as fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import * as path from 'node:path';
import { setImmediate as setTurn } from 'node:timers/promises';
import { sideOfText, textOf, type TextSide } from '../../../../../src/agent/hold/preview/fileChange.ts';
import { Contents } from '../../../../../src/agent/hold/preview/log/contents.ts';
import { openPreviewLog } from '../../../../../src/agent/hold/preview/log/openPreviewLog.ts';
import { CHAIN, Packs, type Place } from '../../../../../src/agent/hold/preview/log/packs.ts';
import { sharedEnds } from '../../../../../src/agent/hold/preview/log/sharedEnds.ts';
import { PreviewStore } from '../../../../../src/agent/hold/preview/previewStore.ts';
import { Invoker } from '../../../../../src/agent/hold/preview/resolve/invoker.ts';
import { resolvePart } from '../../../../../src/agent/hold/preview/resolve/resolvePart.ts';
import { undoAction } from '../../../../../src/agent/hold/preview/undo.ts';
import { create, modify } from '../../../../support/changes.ts';
import { aroundDiskCalls } from '../../../../support/diskCalls.ts';
import { draft } from '../../../../support/drafts.ts';
import { Random } from '../../../../support/fuzz/random.ts';
import { MemoryWorkspace } from '../../../../support/memoryWorkspace.ts';
import { ModelDisk } from '../../../../support/modelDisk.ts';
import { TempFolder } from '../../../../support/tempFolder.ts';

let temp: TempFolder;
let storage: string;
let tests = 0;
before(async () => (temp = await TempFolder.create()));
beforeEach(() => fs.mkdirSync((storage = temp.at(`${++tests}`))));
after(() => temp.remove());

/** @param wasLeft whether the process before ended without closing its storage */
async function open(workspace: MemoryWorkspace, wasLeft = false) {
  const lock = { isSure: true, check: () => Promise.resolve(), wasLeft };
  const log = openPreviewLog(path.join(storage, 'previews.jsonl'), undefined, lock);
  const store = new PreviewStore(log, error => assert.fail(String(error)));
  const { entries, unreadable, badLines } = await log.load();
  assert.deepEqual(badLines, []);
  store.restore(entries, unreadable);
  const invoker = new Invoker(store, workspace, () => 'apply');
  const vote = (id: string, action: 'apply' | 'discard') =>
    invoker.resolve({ id, action, reason: 'ok', actor: 'human' });
  return { log, store, workspace, invoker, vote };
}

const packs = (): string[] => fs.readdirSync(path.join(storage, 'contents'));
const sizeOf = (folder: string): number =>
  fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .reduce((sum, entry) => sum + fs.statSync(path.join(entry.parentPath, entry.name)).size, 0);
const text = Array.from({ length: 4000 }, (_, i) => `const value${i} = compute(${i}, "some text");\n`).join(
  '',
);

// The first one: the stores of others sync their logs half a second later.
test('a flush returns once all that was written before it is on the disk, whatever another flush has synced', async () => {
  const packs = new Packs(storage, false);
  const write = (text: string): void => {
    packs.add({}, Buffer.from(text));
    packs.write();
  };
  const disk = new EventEmitter();
  /** Begins a flush. @returns its end, and the sync that it waits for */
  const flush = async () => {
    const begun = once(disk, 'sync');
    const ended = packs.flush();
    const returned = ended.then(() => assert.fail('it syncs nothing'));
    const [sync] = await (Promise.race([begun, returned]) as Promise<PromiseWithResolvers<void>[]>);
    return { ended, sync: sync ?? assert.fail() };
  };
  const work = async (): Promise<void> => {
    write('one');
    const first = await flush();
    write('written while the first flush syncs');
    first.sync.resolve();
    await first.ended;
    const second = await flush();
    const third = await flush(); // while the second one syncs the same
    third.sync.reject(new Error('EIO'));
    await assert.rejects(third.ended, /EIO/);
    second.sync.reject(new Error('EIO'));
    await assert.rejects(second.ended, /EIO/);
    const fourth = await flush();
    fourth.sync.resolve();
    await fourth.ended;
    await packs.flush(); // nothing is left
  };
  await aroundDiskCalls(call => {
    if (call.name !== 'datasync') return call.make();
    const sync = Promise.withResolvers<void>();
    disk.emit('sync', sync);
    return sync.promise;
  }, work);
});

test('no line holds the text of a file, and every change comes back as it was', async () => {
  const { store } = await open(new MemoryWorkspace());
  const changes = [
    modify('a', 'one secret', 'ONE secret', [{ start: 0, end: 3, text: 'ONE' }]),
    modify('b', 'two\r\nsecret\r\n', 'no\r\nsecret'),
    create('c', 'secret'),
    create('odd', '\ud800'),
    {
      kind: 'create',
      path: 'utf16',
      before: null,
      after: sideOfText('secret', { name: 'utf16le', bom: true }),
    },
  ] as const;
  const { id } = store.stage(draft({ changes })).preview;
  await store.drain();
  assert.doesNotMatch(fs.readFileSync(path.join(storage, 'previews.jsonl'), 'utf8'), /secret/);
  assert.deepEqual((await open(new MemoryWorkspace())).store.get(id)?.changes, changes);
});

test('hunk by hunk through a large file stores hunks, and all of it can be undone', async () => {
  const proposed = text.replaceAll(/00, "some text"\);/g, '00, "other text");');
  const hunks = 38; // of 39: the last one is the preview itself
  const workspace = new MemoryWorkspace({ 'a.ts': text });
  const { store, invoker } = await open(workspace);
  store.stage(draft({ changes: [modify('a.ts', text, proposed)] }));
  for (let i = 0; i < hunks; i++) {
    const preview = store.list('oldestFirst').find(({ part }) => !part);
    assert.ok(preview);
    const action = i % 3 === 0 ? 'discard' : 'apply';
    const request = {
      id: preview.id,
      revision: preview.revision,
      action,
      reason: 'ok',
      actor: 'human',
    } as const;
    await resolvePart({ store, invoker }, request, { path: 'a.ts', hunk: 0 });
  }
  const decided = store.all().filter(({ part }) => part);
  assert.equal(decided.length, hunks);
  await store.forgetResolved(new Date(0), 4 * text.length);
  assert.ok(sizeOf(storage) < 4 * text.length, `${sizeOf(storage)} bytes are stored`);

  const next = await open(workspace);
  for (const { id, state } of decided.toReversed()) {
    assert.deepEqual(next.store.get(id)?.changes, store.get(id)?.changes);
    if (state.kind !== 'applied') continue;
    const preview = next.store.get(id);
    const undo = preview && undoAction(preview);
    assert.ok(undo?.changes);
  }
});

for (const [damage, harm] of [
  ['missing', (pack: string) => fs.rmSync(pack)],
  ['cut', (pack: string) => fs.truncateSync(pack, 20)],
  [
    'altered',
    (pack: string) => fs.writeFileSync(pack, fs.readFileSync(pack, 'utf8').replaceAll('new', 'odd')),
  ],
] as const)
  test(`a content that is ${damage} is refused, named, and never written`, async () => {
    const first = await open(new MemoryWorkspace({ a: 'old text' }));
    const { id } = first.store.stage(draft({ changes: [modify('a', 'old text', 'new text')] })).preview;
    await first.store.close();
    for (const name of packs()) harm(path.join(storage, 'contents', name));
    const { vote, workspace, store } = await open(new MemoryWorkspace({ a: 'old text' }));
    await assert.rejects(vote(id, 'apply'), /gone from Redline's storage, or damaged/);
    assert.equal(workspace.text('a'), 'old text');
    assert.equal(store.get(id)?.state.kind, 'pending');
    await vote(id, 'discard');
  });

test('contents that nothing names any more are removed, and those that others follow from stay', async () => {
  const { store } = await open(new MemoryWorkspace({ a: text }));
  store.stage(draft({ changes: [modify('a', text, `${text}1`)] }));
  await store.close();
  const next = await open(new MemoryWorkspace({ a: text }));
  assert.equal(next.store.get('p1')?.changes?.[0]?.kind, 'modify');
  const second = next.store.stage(draft({ changes: [modify('a', text, `${text}2`)] })).preview.id;
  const third = next.store.stage(draft({ changes: [create('b', 'b')] })).preview.id;
  await next.vote('p1', 'discard');
  await next.store.forgetResolved(new Date(Date.now() + 1000));
  assert.equal(next.store.get('p1'), undefined);
  await next.store.close();
  const last = await open(new MemoryWorkspace({ a: text }));
  assert.deepEqual(last.store.get(second)?.changes, [modify('a', text, `${text}2`)]);
  for (const id of [second, third]) await last.vote(id, 'discard');
  await last.store.forgetResolved(new Date(Date.now() + 1000));
  assert.deepEqual(packs(), []);
});

/** Changes of so many files. */
const ofMany = (mark: string, files = 1_000) =>
  Array.from({ length: files }, (_, i) => create(`${i}`, `${text.slice(0, 5_000)}${i} ${mark}\n`));

test('other work runs while thousands of files are stored, also if their texts already are', async () => {
  const { store } = await open(new MemoryWorkspace());
  for (const id of ['p1', 'p2']) {
    const { stored } = store.stage(draft({ changes: ofMany('', 3_000) }));
    const later = store.stage(draft({ changes: [create('later', `after ${id}`)] }));
    let others = 0;
    let next = setImmediate(function again() {
      others++;
      next = setImmediate(again);
    });
    await stored;
    clearImmediate(next);
    assert.ok(others > 0, id);
    await later.stored;
  }
  assert.ok(await store.close());
  const again = (await open(new MemoryWorkspace())).store.all();
  assert.deepEqual(
    again.map(({ id, changes }) => [id, changes?.length]),
    [
      ['p1', 3_000],
      ['p2', 1],
      ['p3', 3_000],
      ['p4', 1],
    ],
  );
  assert.deepEqual(again[2]?.changes, ofMany('', 3_000));
});

test('what others fail to write while the texts of a preview are stored loses none of these', async context => {
  let now = 0;
  context.mock.method(performance, 'now', () => (now += 6)); // two looks at the clock use up a slice
  const failures: unknown[] = [];
  const log = openPreviewLog(path.join(storage, 'previews.jsonl'));
  const store = new PreviewStore(log, error => void failures.push(error));
  store.restore((await log.load()).entries);
  store.stage(draft({ changes: ofMany('') }));
  for (let turn = 0; turn < 10; turn++) await setTurn();
  const full = new Error('ENOSPC');
  const refuse = (): never => {
    throw full;
  };
  await aroundDiskCalls(
    ({ isPromised, make }) => (isPromised ? make() : refuse()),
    () => assert.rejects(log.contents.put(Buffer.of(0)), full),
  );
  assert.ok(await store.close());
  assert.deepEqual(failures, [full]);
  assert.deepEqual((await open(new MemoryWorkspace())).store.get('p1')?.changes, ofMany(''));
});

for (const turns of [0, 2, 8])
  test(`thousands of files stored while contents move can be read, begun ${turns} turns later`, async () => {
    const { store, vote } = await open(new MemoryWorkspace());
    await store.stage(draft({ changes: ofMany('kept') })).stored;
    await store.stage(draft({ changes: [create('refused', 'secret\n')] })).stored;
    await vote('p2', 'discard');
    const forgetting = store.forgetResolved(new Date(Date.now() + 1000));
    for (let i = 0; i < turns; i++) await setTurn();
    const changes = [
      ...ofMany('kept'),
      ...ofMany('new').map(each => ({ ...each, path: `${each.path}.new` })),
    ];
    store.stage(draft({ changes }));
    await forgetting;
    assert.ok(await store.close());
    const next = (await open(new MemoryWorkspace())).store;
    for (const each of [store, next])
      assert.deepEqual([each.get('p1')?.changes, each.get('p3')?.changes], [ofMany('kept'), changes]);
  });

test('a disk that is full stores the entry later, with its contents', async () => {
  fs.writeFileSync(path.join(storage, 'contents'), 'no folder');
  const failed: unknown[] = [];
  const log = openPreviewLog(path.join(storage, 'previews.jsonl'));
  await log.load();
  const full = new PreviewStore(log, error => void failed.push(error));
  full.stage(draft({ changes: [create('a', 'text')] }));
  await full.drain();
  assert.equal(failed.length, 1);
  fs.rmSync(path.join(storage, 'contents'));
  assert.equal(await full.drain(), true);
  assert.deepEqual((await open(new MemoryWorkspace())).store.get('p1')?.changes, [create('a', 'text')]);
});

for (const [what, remove] of [
  ['the storage', () => fs.rmSync(storage, { recursive: true })],
  ['its contents', () => fs.rmSync(path.join(storage, 'contents'), { recursive: true })],
] as const)
  test(`what is proposed after ${what} was deleted is stored whole, also what was there before`, async () => {
    const log = openPreviewLog(path.join(storage, 'previews.jsonl'));
    await log.load();
    const store = new PreviewStore(log, () => undefined);
    const binary = async () => store.blobs.put(Buffer.from('\0binary'));
    const propose = async (after: string) => {
      const image = { kind: 'create', path: 'image', before: null, after: await binary() } as const;
      const changes = [modify('a', text, `${text}${after}`), create('b', `${text}b${after}`), image];
      return store.stage(draft({ changes }));
    };
    const first = await propose('1');
    await first.stored;
    remove();
    const second = await propose('2');
    const expected = [modify('a', text, `${text}2`), create('b', `${text}b2`)];
    assert.deepEqual(store.get('p2')?.changes?.slice(0, 2), expected, 'before it is stored');
    await second.stored;
    await store.drain();
    await log.flush(); // or nothing could be applied
    assert.ok(await store.close());
    const next = await open(new MemoryWorkspace());
    const found = next.store.get(second.preview.id)?.changes;
    assert.deepEqual(found?.slice(0, 2), expected);
    const image = await next.store.blobs.get(await binary());
    assert.equal(Buffer.from(image).toString(), '\0binary');
    await next.store.close();
  });

test('what two contents share never overlaps', () => {
  const random = (n: number): string => 'ab'.repeat(n).slice(0, n);
  for (const [one, other] of [
    ['', ''],
    ['aaa', 'aa'],
    ['aa', 'aaa'],
    ['abc', 'abd'],
    ['xbc', 'ybc'],
    [random(10_000), random(9_998)],
    [`${random(5000)}x${random(5000)}`, `${random(5000)}yy${random(5000)}`],
  ] as const) {
    const [a, b] = [Buffer.from(one), Buffer.from(other)];
    const [start, end] = sharedEnds(a, b);
    assert.ok(start + end <= Math.min(a.length, b.length));
    const own = b.subarray(start, b.length - end);
    assert.deepEqual(Buffer.concat([a.subarray(0, start), own, a.subarray(a.length - end)]), b);
  }
});

test('what is forgotten is gone from the disk, also beside texts that are still named', async () => {
  const workspace = new MemoryWorkspace({ a: 'the old secret\n' });
  const { store, vote, log } = await open(workspace);
  store.stage(draft({ changes: [modify('a', 'the old secret\n', 'the new secret\n')] }));
  store.stage(draft({ changes: [create('b', 'a refused secret\n')] }));
  store.stage(draft({ changes: [create('c', 'a pending text\n')] }));
  await vote('p1', 'apply');
  await vote('p2', 'discard');
  const onDisk = (): string =>
    packs()
      .map(name => fs.readFileSync(path.join(storage, 'contents', name), 'utf8'))
      .join('');
  assert.match(onDisk(), /the old secret/);
  await store.forgetResolved(new Date(Date.now() + 1000));
  assert.doesNotMatch(onDisk(), /secret/);
  assert.match(onDisk(), /a pending text/);
  store.stage(draft({ changes: [create('d', 'another text\n')] }));
  await log.flush();
  const again = await open(workspace);
  for (const { store: each } of [{ store }, again])
    assert.deepEqual(
      ['p3', 'p4'].map(id => each.get(id)?.changes?.[0]?.after),
      [sideOfText('a pending text\n'), sideOfText('another text\n')],
    );
});

test('where the texts cannot be written again, all of them stay', async () => {
  const workspace = new MemoryWorkspace();
  const { store, vote } = await open(workspace);
  store.stage(draft({ changes: [create('a', 'refused\n')] }));
  store.stage(draft({ changes: [create('b', 'pending\n')] }));
  await vote('p1', 'discard');
  const { writeFileSync } = writable;
  writable.writeFileSync = () => {
    throw new Error('ENOSPC');
  };
  syncBuiltinESMExports();
  await assert.rejects(store.forgetResolved(new Date(Date.now() + 1000))).finally(() => {
    writable.writeFileSync = writeFileSync;
    syncBuiltinESMExports();
  });
  const again = await open(workspace);
  for (const { store: each } of [{ store }, again])
    assert.deepEqual(each.get('p2')?.changes?.[0]?.after, sideOfText('pending\n'));
});

for (const [damage, harm] of [
  ['missing', (pack: string) => fs.rmSync(pack)],
  ['cut', (pack: string) => fs.truncateSync(pack, 20)],
  ['no record', (pack: string) => fs.writeFileSync(pack, 'x'.repeat(fs.statSync(pack).size))],
] as const)
  test(`a content that is ${damage} is left alone and told, and the rest is forgotten`, async () => {
    const first = await open(new MemoryWorkspace({ a: 'old text' }));
    const changes = [modify('a', 'old text', 'new text', [{ start: 0, end: 3, text: 'new' }])];
    first.store.stage(draft({ changes }));
    await first.store.close();
    const [damaged = ''] = packs();
    const second = await open(new MemoryWorkspace({ a: 'old text' }));
    second.store.stage(draft({ changes: [create('b', 'a refused secret')] }));
    second.store.stage(draft({ changes: [create('c', 'a pending text')] }));
    await second.store.close();
    harm(path.join(storage, 'contents', damaged));

    const third = await open(new MemoryWorkspace({ a: 'old text' }));
    await third.vote('p2', 'discard');
    assert.deepEqual(await third.store.forgetResolved(new Date(Date.now() + 1000)), ['p1']);
    const last = await open(new MemoryWorkspace({ a: 'old text' }));
    const texts = packs().map(name => fs.readFileSync(path.join(storage, 'contents', name), 'utf8'));
    assert.doesNotMatch(texts.join(''), /secret/);
    for (const { store } of [third, last]) {
      assert.equal(store.get('p2'), undefined);
      assert.deepEqual(store.get('p3')?.changes, [create('c', 'a pending text')]);
      assert.throws(() => textOf(store.get('p1')?.changes?.[0]?.after), /gone from Redline's storage/);
    }
    await last.vote('p1', 'discard');
    assert.deepEqual(await last.store.forgetResolved(new Date(Date.now() + 1000)), []);
    assert.ok(!packs().includes(damaged), 'what is named no more goes');
  });

for (const kind of ['previews.jsonl', '.pack'])
  test(`after a failed sync of ${kind}, a flush that succeeds has written it again`, async () => {
    const disk = new ModelDisk(storage);
    await disk.watch(async () => {
      const log = openPreviewLog(path.join(storage, 'previews.jsonl'));
      await log.load();
      let failures = 0;
      const store = new PreviewStore(log, () => void failures++);
      await store.stage(draft({ changes: [create('a', text)] })).stored;
      let isBad = true;
      disk.syncFails = name => isBad && name.endsWith(kind);
      await assert.rejects(log.flush(), /EIO/);
      isBad = false;
      await store.stage(draft({ changes: [create('b', 'later')] })).stored;
      await log.flush();
    });
    for (let seed = 0; seed < 8; seed++) {
      disk.cut(disk.now, new Random(seed));
      const { store } = await open(new MemoryWorkspace());
      const found = store.all().map(({ changes }) => textOf(changes?.[0]?.after ?? null));
      assert.deepEqual(found, [text, 'later']);
      await store.close();
    }
  });

test('a failed sync is known to the next flush, also while contents move to new packs', async () => {
  const disk = new ModelDisk(storage);
  await disk.watch(async () => {
    const { log, store } = await open(new MemoryWorkspace());
    await store.stage(draft({ changes: [create('a', text)] })).stored;
    const [pack] = packs();
    disk.syncFails = name => name.endsWith(String(pack));
    const named = () => Promise.resolve(new Set([sideOfText(text).hash]));
    await assert.rejects(log.contents.move(named, () => Promise.reject(new Error('not rewritten'))));
    disk.syncFails = () => false;
    await log.flush();
  });
  for (let seed = 0; seed < 8; seed++) {
    disk.cut(disk.now, new Random(seed));
    const { store } = await open(new MemoryWorkspace());
    assert.equal(textOf(store.get('p1')?.changes?.[0]?.after ?? null), text);
    await store.close();
  }
});

test('a text of a long chain can be read, also if the log was read twice before it was stored', () => {
  const sides = Array.from({ length: CHAIN + 100 }, (_, i) => sideOfText(`${'x'.repeat(1000)}${i}\n`));
  const places = new Map<TextSide, Place>();
  const put = (contents: Contents, some: readonly TextSide[]): void => {
    for (const side of some) places.set(side, contents.placeOf(side, 'a') ?? assert.fail());
    contents.write();
  };
  const bind = (contents: Contents): readonly TextSide[] =>
    Array.from(places, ([{ hash, encoding }, place]) => {
      const side = { hash, text: '', encoding };
      contents.bind(side, place);
      return side;
    });
  put(new Contents(storage), sides.slice(0, 200));
  const contents = new Contents(storage);
  assert.equal(bind(contents).at(-1)?.text, sides[199]?.text);
  bind(contents);
  put(contents, sides.slice(199));
  const read = bind(new Contents(storage)).map(side => side.text);
  assert.deepEqual(
    read,
    sides.map(side => side.text),
  );
});

for (const failing of ['nothing', 'previews.jsonl', '.pack'])
  test(`a start flushes the previews of a process that died before it had flushed them: ${failing} failed`, async () => {
    const disk = new ModelDisk(storage);
    await disk.watch(async () => {
      const { store, log } = await open(new MemoryWorkspace());
      await store.stage(draft({ changes: [create('a', text)] })).stored;
      disk.syncFails = name => name.endsWith(failing);
      if (failing !== 'nothing') await assert.rejects(log.flush(), /EIO/);
      disk.syncFails = () => false;
      assert.ok(await (await open(new MemoryWorkspace(), true)).store.close());
    });
    for (let seed = 0; seed < 8; seed++) {
      disk.cut(disk.now, new Random(seed));
      const { store } = await open(new MemoryWorkspace());
      assert.equal(textOf(store.get('p1')?.changes?.[0]?.after ?? null), text);
      await store.close();
    }
  });

test('a text that is based on one in a pack that somebody deleted is stored anew', async () => {
  const texts = Array.from({ length: 3 }, (_, n) => `${text}// ${n}\n`);
  const [old = '', next = '', last = ''] = texts;
  const first = await open(new MemoryWorkspace());
  first.store.stage(draft({ changes: [create('a.ts', old)] }));
  await first.store.close();
  const second = await open(new MemoryWorkspace());
  const [one] = second.store.all();
  assert.equal(textOf(one?.changes?.[0]?.after ?? null), old); // from now on, others may be based on it
  const [gone = ''] = packs();
  second.store.stage(draft({ changes: [modify('a.ts', old, next)] }));
  fs.rmSync(path.join(storage, 'contents', gone));
  const ids = [modify('a.ts', old, next), modify('a.ts', next, last)].map(
    change => second.store.stage(draft({ changes: [change] })).preview.id,
  );
  await second.store.close();
  const third = await open(new MemoryWorkspace());
  const stored = ids.map(id => textOf(third.store.get(id)?.changes?.[0]?.after ?? null));
  assert.deepEqual(stored, [next, last]);
  await third.store.close();
});
