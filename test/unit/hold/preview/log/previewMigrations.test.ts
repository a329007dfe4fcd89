import { appendFile, mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import { after, beforeEach, test } from 'node:test';
import assert from 'node:assert/strict';
import { encodeHeader } from '../../../../../src/agent/base/log/logFormat.ts';
import { openPreviewLog } from '../../../../../src/agent/hold/preview/log/openPreviewLog.ts';
import { previewLogFormat } from '../../../../../src/agent/hold/preview/log/previewLog.ts';
import { PreviewStore } from '../../../../../src/agent/hold/preview/previewStore.ts';
import { textIn } from '../../../../support/changes.ts';
import { TempFolder } from '../../../../support/tempFolder.ts';

/** A log as a version wrote it. */
const fixture = (version: number): Promise<string> =>
  readFile(path.join(import.meta.dirname, `../../../../fixtures/logs/previews.v${version}.jsonl`), 'utf8');
/** With a line that cannot be read and a torn one. */
const version1 = await fixture(1);
const lines1 = version1.split('\n');

const temp = await TempFolder.create();
after(() => temp.remove());

let count = 0;
let file = '';
beforeEach(async () => {
  file = await temp.file(`${count++}.jsonl`, version1);
});

const faults = { badLines: [lines1.findIndex(line => line.endsWith('"pat')) + 1], torn: true };

async function restored(): Promise<PreviewStore> {
  const log = openPreviewLog(file);
  const store = new PreviewStore(log, error => assert.fail(String(error)));
  store.restore((await log.load()).entries);
  return store;
}

test('previews of version 1 get the kind that they had, and stay a human’s where they were', async () => {
  const store = await restored();
  assert.deepEqual(
    store.all().map(({ id, kind, humanOnly, state }) => [id, kind, humanOnly, state.kind]),
    [
      ['p1', 'files', undefined, 'pending'],
      ['p2', 'action', true, 'applied'],
      ['p3', 'plan', true, 'discarded'],
      ['p4', 'action', undefined, 'expired'],
      ['p5', 'files', undefined, 'applied'],
    ],
  );
  const { state } = store.get('p1') ?? assert.fail();
  assert.deepEqual(state.kind === 'pending' && state.recommendation, { action: 'apply', reason: 'ok' });
});

test('attempts of version 1 get the outcome that they had: the two failures are told apart', async () => {
  assert.deepEqual(
    (await restored()).ledger().map(({ previewId, kind, outcome }) => [previewId, kind, outcome]),
    [
      ['p1', 'files', 'failed'],
      ['p5', 'files', 'applied'],
      ['p2', 'action', 'returnedError'],
      ['p3', 'plan', 'discarded'],
    ],
  );
});

test('commits of version 1, called landings there, keep their previews and their rollback info', async () => {
  const { entries } = await openPreviewLog(file).load();
  const rollback = { newFolders: [], modes: {} };
  assert.deepEqual(
    entries.filter(({ type }) => type === 'commit'),
    [
      { type: 'commit', ids: ['p1'], rollback },
      { type: 'commit', ids: ['p5'], rollback },
      { type: 'commit', ids: ['p2'] },
    ],
  );
});

test('a log of version 1 is rewritten once, line for line, and goes on in the current version', async () => {
  const log = openPreviewLog(file);
  const first = await log.load();
  assert.deepEqual({ badLines: first.badLines, torn: first.torn }, faults);
  await log.append({ type: 'dismissed', id: 'p9' });
  const text = await readFile(file, 'utf8');
  assert.ok(text.startsWith(encodeHeader(previewLogFormat)));
  assert.equal(text.split('\n').length, lines1.length + 1, 'the torn line gave way to the new one');
  assert.ok(
    text.includes(`\n${lines1.find(line => line.endsWith('"pat'))}\n`),
    'what cannot be read is kept',
  );
  const again = await openPreviewLog(file).load();
  assert.deepEqual(again.entries, [...first.entries, { type: 'dismissed', id: 'p9' }]);
  assert.deepEqual(again.badLines, faults.badLines);
});

test('a log that is appended to without being read is migrated first', async () => {
  await openPreviewLog(file).append({ type: 'dismissed', id: 'p9' });
  const { entries } = await openPreviewLog(file).load();
  assert.equal(entries.filter(({ type }) => type === 'staged').length, 4);
  assert.deepEqual(entries.at(-1), { type: 'dismissed', id: 'p9' });
});

test('a migration that cannot be written leaves the log of version 1 as it was', async () => {
  await mkdir(`${file}.new`);
  await assert.rejects(openPreviewLog(file).load(), { code: 'EISDIR' });
  assert.equal(await readFile(file, 'utf8'), version1);
  await rmdir(`${file}.new`);
  assert.equal((await restored()).all().length, 5);
});

test('a migration that the process did not survive is made again, whatever it left beside the log', async () => {
  await appendFile(`${file}.new`, encodeHeader(previewLogFormat) + '{"type":"dismissed","id":"p1"');
  assert.equal((await restored()).all().length, 5);
  await assert.rejects(readFile(`${file}.new`), { code: 'ENOENT' });
});

test('previews of version 2, whose texts after are all stored, are the same in the current version', async () => {
  await writeFile(file, await fixture(2));
  const [preview] = (await restored()).all();
  assert.deepEqual(
    preview?.changes?.map(({ path: name, after: now }) => [name, textIn(now)]),
    [['a.ts', 'one TWO']],
    'edits that do not give the text are not believed',
  );
  const [staged] = (await openPreviewLog(file).load()).entries;
  assert.deepEqual(
    staged?.type === 'staged' && staged.preview.changes?.map(({ after: now }) => textIn(now)),
    ['ONE two', 'B'],
  );
});

test('a revision of version 3, which repeats what the one before had, is the same in the current version', async () => {
  await writeFile(file, await fixture(3));
  const previews = (await restored()).all();
  assert.deepEqual(
    previews.map(({ id, revision, changes }) => [id, revision, changes?.map(({ path: name }) => name)]),
    [
      ['p1', 2, ['two.ts', 'three.ts']],
      ['p2', 1, ['one.ts']],
    ],
  );
});

test('a diff of version 4 that an agent in a terminal would have written comes back as expired, with the reason; all else is as it was', async () => {
  await writeFile(file, await fixture(4));
  const store = await restored();
  assert.deepEqual(
    store.all().map(({ id, state }) => [id, state.kind]),
    [
      ['p1', 'pending'],
      ['p2', 'discarded'],
      ['p3', 'expired'],
      ['p4', 'applied'],
      ['p5', 'expired'],
      ['p6', 'applied'],
      ['p7', 'discarded'],
      ['p8', 'expired'],
      ['p9', 'pending'],
      ['p10', 'pending'],
      ['p11', 'applied'],
      ['p12', 'expired'],
    ],
  );
  assert.deepEqual(store.get('p3')?.state, {
    kind: 'expired',
    reason: 'An agent in a terminal would have written it. Redline no longer shows such changes.',
  });
  assert.deepEqual(store.get('p5')?.state, { kind: 'expired', interrupted: true });
  assert.deepEqual(
    store.all().flatMap(({ id, purpose }) => (purpose === undefined ? [] : [[id, purpose]])),
    [
      ['p6', 'command'],
      ['p9', 'setUp'],
      ['p10', 'holdBack'],
      ['p11', 'revert'],
    ],
  );
  assert.equal(store.get('p1')?.label, 'AST Edit: 2 replacements in 1 file');
});

for (const version of [5, 6])
  test(`what version ${version} holds is the same in the current version`, async () => {
    await writeFile(file, await fixture(version));
    const store = await restored();
    assert.deepEqual(
      store
        .get('p1')
        ?.changes?.map(({ path: name, before, after: now }) => [name, textIn(before), textIn(now)]),
      [
        ['a.ts', 'a', 'A'],
        ['b.ts', 'b', 'B'],
      ],
    );
  });
