/** *Rebase* at the user's request, even where it takes a decision. */
import { test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { silentLogger } from '../../../../../src/agent/base/logger.ts';
import { StalePreviewError } from '../../../../../src/agent/hold/preview/errors.ts';
import {
  isBinary,
  linkTo,
  sideOfText,
  type FileChange,
} from '../../../../../src/agent/hold/preview/fileChange.ts';
import type { Preview } from '../../../../../src/agent/hold/preview/preview.ts';
import { PreviewStore } from '../../../../../src/agent/hold/preview/previewStore.ts';
import type { PreviewStoreOptions } from '../../../../../src/agent/hold/preview/previewStoreOptions.ts';
import { Rebaser } from '../../../../../src/agent/hold/preview/rebase/rebaser.ts';
import { Invoker } from '../../../../../src/agent/hold/preview/resolve/invoker.ts';
import { create, modify, remove, rename, textIn } from '../../../../support/changes.ts';
import { countTurns } from '../../../../support/countTurns.ts';
import { DiskWorkspace } from '../../../../support/diskWorkspace.ts';
import { draft } from '../../../../support/drafts.ts';
import { Gate } from '../../../../support/gate.ts';
import { MemoryWorkspace } from '../../../../support/memoryWorkspace.ts';
import { MemoryPreviewLog } from '../../../../support/testSession.ts';

const text = (middle: string): string => `one\n${middle}\nthree\nfour\nfive\n`;
const marked = (current: string, proposed: string): string =>
  text(`<<<<<<< current file\n${current}\n=======\n${proposed}\n>>>>>>> proposed change`);

function bench(
  context: TestContext,
  files: Record<string, string | Uint8Array>,
  options: PreviewStoreOptions = {},
) {
  const errors: string[] = [];
  const ignore = (): void => undefined;
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)), options);
  const workspace = new MemoryWorkspace(files);
  const logger = {
    debug: ignore,
    info: ignore,
    warn: ignore,
    error: (line: string) => void errors.push(line),
  };
  const rebaser = new Rebaser({ store, workspace, logger });
  const invoker = new Invoker(store, workspace, () => 'apply');
  context.after(() => {
    rebaser.dispose();
    assert.deepEqual(errors, []);
  });
  const stage = (changes: readonly FileChange[], dependsOn: readonly string[] = []): string =>
    store.stage(draft({ changes, dependsOn })).preview.id;
  const now = (id: string): Preview => store.get(id) ?? assert.fail(`no preview ${id}`);
  const stale = (id: string): readonly string[] => {
    const { state } = now(id);
    return state.kind === 'pending' ? state.stale : assert.fail(state.kind);
  };
  const apply = (id: string) =>
    invoker.resolve({ id, revision: now(id).revision, action: 'apply', reason: 'ok', actor: 'human' });
  /** Another program writes the file, and the rebaser hears of it. */
  const moveOn = async (path: string, content: string | Uint8Array | null): Promise<void> => {
    workspace.put(path, content);
    await rebaser.filesChanged([path]);
  };
  return { store, workspace, rebaser, stage, now, stale, apply, moveOn };
}

test('a conflict becomes markers in the proposal, which cannot be applied until the user resolves it', async context => {
  const { store, workspace, rebaser, stage, now, stale, apply, moveOn } = bench(context, { a: text('two') });
  const id = stage([modify('a', text('two'), text('proposed'))]);
  await moveOn('a', text('current'));
  assert.deepEqual(stale(id), ['a']);
  assert.equal(textIn(now(id).changes?.[0]?.after), text('proposed'), 'nothing is decided for the user');

  assert.deepEqual(await rebaser.rebaseNow(id), ['a']);
  assert.deepEqual(now(id).changes, [modify('a', text('current'), marked('current', 'proposed'))]);
  assert.equal(now(id).revision, 2);
  assert.deepEqual(stale(id), ['a']);
  await assert.rejects(apply(id), /still contains conflict markers in a/);
  assert.equal(workspace.text('a'), text('current'));

  await store.revise(id, [modify('a', text('current'), text('settled'))], [], 'user');
  await rebaser.refresh([]);
  assert.deepEqual(stale(id), []);
  await apply(id);
  assert.equal(workspace.text('a'), text('settled'));
});

test('a conflict in one of two files leaves the other rebased, and names the one', async context => {
  const { rebaser, stage, now, moveOn } = bench(context, { a: text('two'), b: text('two') });
  const id = stage([modify('a', text('two'), text('A')), modify('b', text('two'), text('B'))]);
  await moveOn('a', text('current'));
  await moveOn('b', `zero\n${text('two')}`);
  assert.deepEqual(await rebaser.rebaseNow(id), ['a']);
  assert.deepEqual(now(id).changes, [
    modify('a', text('current'), marked('current', 'A')),
    modify('b', `zero\n${text('two')}`, `zero\n${text('B')}`),
  ]);
});

test('a new file where one appeared, and a deletion of one that changed, are shown as they would be now', async context => {
  const { rebaser, stage, now, stale, moveOn } = bench(context, { gone: 'old\n' });
  const id = stage([create('new', 'mine\n'), remove('gone', 'old\n')]);
  await moveOn('new', 'theirs\n');
  await moveOn('gone', 'changed\n');
  assert.deepEqual(stale(id), ['new', 'gone']);
  assert.deepEqual(await rebaser.rebaseNow(id), []);
  assert.deepEqual(now(id).changes, [modify('new', 'theirs\n', 'mine\n'), remove('gone', 'changed\n')]);
  assert.deepEqual(stale(id), []);
});

test('an edit of a deleted file creates it again', async context => {
  const { rebaser, stage, now, moveOn, apply, workspace } = bench(context, { a: 'old\n' });
  const id = stage([modify('a', 'old\n', 'new\n')]);
  await moveOn('a', null);
  assert.deepEqual(await rebaser.rebaseNow(id), []);
  assert.deepEqual(now(id).changes, [create('a', 'new\n')]);
  await apply(id);
  assert.equal(workspace.text('a'), 'new\n');
});

test('a rename whose content conflicts stays a rename', async context => {
  const { rebaser, stage, now, moveOn } = bench(context, { a: text('two') });
  const id = stage([rename('a', 'b', text('two'), text('proposed'))]);
  await moveOn('a', text('current'));
  assert.deepEqual(await rebaser.rebaseNow(id), ['b']);
  assert.deepEqual(now(id).changes, [rename('a', 'b', text('current'), marked('current', 'proposed'))]);
});

test('on a preview that is stale itself it waits, and names it', async context => {
  const { rebaser, stage, stale, now, moveOn } = bench(context, { a: text('two') });
  const first = stage([modify('a', text('two'), text('first'))]);
  const second = stage([modify('a', text('first'), text('second'))], [first]);
  await moveOn('a', text('current'));
  assert.deepEqual([stale(first), stale(second)], [['a'], ['a']]);
  await assert.rejects(
    rebaser.rebaseNow(second),
    /^ToolError: p1, which it builds on, is stale itself\. Rebase that first\.$/,
  );
  assert.equal(now(second).revision, 1);
});

test('a preview whose changes the files already contain is refused', async context => {
  const { rebaser, stage, now, moveOn } = bench(context, { a: 'old\n' });
  const id = stage([modify('a', 'old\n', 'new\n')]);
  await moveOn('a', 'new\n');
  await assert.rejects(rebaser.rebaseNow(id), /already hold what p1 proposes, or are gone\. Discard it\./);
  assert.equal(now(id).revision, 1);
});

test('a file that is no longer text cannot be merged: Rebase shows that the proposal replaces it', async context => {
  const { store, rebaser, stage, now, moveOn } = bench(context, { a: 'old\n' });
  const id = stage([modify('a', 'old\n', 'new\n')]);
  await moveOn('a', Uint8Array.of(0xff, 0, 0xfe));
  assert.deepEqual(await rebaser.rebaseNow(id), []);
  const [change] = now(id).changes ?? [];
  assert.equal(textIn(change?.after), 'new\n');
  assert.ok(change?.before && isBinary(change.before));
  assert.deepEqual(await store.blobs.get(change.before), Uint8Array.of(0xff, 0, 0xfe));
});

test('a preview that is resolved meanwhile is left as it is', async context => {
  const { store, workspace, rebaser, stage, now, moveOn } = bench(context, { a: text('two') });
  const id = stage([modify('a', text('two'), text('proposed'))]);
  await moveOn('a', text('current'));
  workspace.beforeRead = () => store.revise(id, [modify('a', text('current'), text('typed'))], [], 'user');
  await assert.rejects(rebaser.rebaseNow(id), /p1 changed in the meantime/);
  assert.equal(textIn(now(id).changes?.[0]?.after), text('typed'));
  workspace.beforeRead = undefined;
});

test('a resolved or opaque preview is not rebased', async context => {
  const { store, rebaser, stage, apply } = bench(context, { a: 'old\n' });
  const id = stage([modify('a', 'old\n', 'new\n')]);
  await apply(id);
  const opaque = store.stage(draft({ changes: null })).preview.id;
  assert.deepEqual(await rebaser.rebaseNow(id), []);
  assert.deepEqual(await rebaser.rebaseNow(opaque), []);
  assert.deepEqual(await rebaser.rebaseNow('p9'), []);
  assert.equal(sideOfText('new\n').hash, store.get(id)?.changes?.[0]?.after?.hash);
});

test('of those that a preview builds on, the one staged last is its base, whatever their numbers', async context => {
  // Where the numbers that are taken cannot be told, they are random.
  const numbers = [5_000_000_007, 5_000_000_003, 5_000_000_005];
  const next = (): number => numbers.shift() ?? assert.fail('no more');
  const { rebaser, stage, now, stale } = bench(context, { a: text('two') }, { numbers: { next } });
  const first = stage([modify('a', text('two'), text('three'))]);
  const second = stage([modify('a', text('three'), text('four'))], [first]);
  const top = stage([modify('a', text('four'), text('five'))], [first, second]);
  await rebaser.refresh([top]);
  assert.deepEqual(stale(top), []);
  assert.equal(now(top).revision, 1);
});

test('what a preview builds on is the uppermost that has the file, not what lies below the newest', async context => {
  const { rebaser, stage, now, stale, store } = bench(context, { x: text('two'), z: 'z\n' });
  const first = stage([modify('x', text('two'), text('three')), modify('z', 'z\n', 'y\n')]);
  const onX = stage([modify('x', text('three'), text('four'))], [first]);
  const onZ = stage([modify('z', 'y\n', 'w\n')], [first]);
  const top = stage([modify('x', text('four'), text('five')), modify('z', 'w\n', 'v\n')], [onX, onZ]);
  await rebaser.refresh([top]);
  assert.deepEqual(stale(top), []);
  assert.deepEqual([now(top).revision, now(top).dependsOn], [1, [onX, onZ]]);
  assert.equal(textIn(store.get(top)?.changes?.[0]?.after), text('five'));
});

test('while a preview of many files is rebased onto another one, other work runs', async context => {
  const { rebaser, stage, stale } = bench(context, {});
  const paths = Array.from({ length: 300 }, (_, n) => `file${n}`);
  const below = stage(paths.map(path => create(path, 'a')));
  const above = stage(
    paths.map(path => modify(path, 'a', 'b')),
    [below],
  );
  const turns = countTurns(context);
  await rebaser.refresh([above]);
  assert.ok(turns() >= 100, `${turns()} turns`);
  assert.deepEqual(stale(above), []);
});

test('links and binary files are never merged: a changed base makes the preview stale, and Rebase shows it on what is there now', async context => {
  const { store, workspace, rebaser, stage, now, stale, apply } = bench(context, { 'a.txt': 'text' });
  const [old, other, next] = [Buffer.of(0, 1), Buffer.of(0, 2), Buffer.of(0, 3)];
  const binary = { before: await store.blobs.put(old), after: await store.blobs.put(next) };
  workspace.putWhole('a.bin', old);
  workspace.putWhole('link', { link: 'a.txt' });
  const link = { before: linkTo('a.txt'), after: linkTo('b.txt') };
  const id = stage([{ kind: 'modify', path: 'a.bin', ...binary }]);
  const linkId = stage([{ kind: 'modify', path: 'link', ...link }]);
  const textId = stage([modify('a.txt', 'text', 'new')]);
  await rebaser.filesChanged(['a.bin', 'link']);
  assert.deepEqual([stale(id), stale(linkId), now(id).revision], [[], [], 1]);

  workspace.putWhole('a.bin', other);
  workspace.putWhole('link', { link: 'other' });
  workspace.putWhole('a.txt', old);
  await rebaser.filesChanged(['a.bin', 'link', 'a.txt']);
  assert.deepEqual([stale(id), stale(linkId), stale(textId)], [['a.bin'], ['link'], ['a.txt']]);
  for (const each of [id, linkId, textId]) assert.deepEqual(await rebaser.rebaseNow(each), []);
  assert.deepEqual(now(linkId).changes?.[0]?.before, linkTo('other'));
  const [change] = now(id).changes ?? [];
  assert.ok(change?.before && isBinary(change.before));
  assert.deepEqual(await store.blobs.get(change.before), Uint8Array.from(other));
  for (const each of [id, linkId, textId]) await apply(each);
  assert.deepEqual(await workspace.read('a.bin'), Uint8Array.from(next));
  assert.deepEqual([(await workspace.placeOf('link')).link, workspace.text('a.txt')], ['b.txt', 'new']);

  workspace.putWhole('link', { link: 'a.txt' });
  const done = stage([{ kind: 'modify', path: 'link', before: linkTo('gone'), after: linkTo('a.txt') }]);
  await rebaser.filesChanged(['link']);
  assert.deepEqual(stale(done), ['link']);
  await assert.rejects(rebaser.rebaseNow(done), /already hold what p4 proposes/);
});

test('other line endings of all lines are rebased line by line, whichever side changed them', async context => {
  const crlf = (content: string): string => content.replaceAll('\n', '\r\n');
  for (const [before, now, proposed, after] of [
    [text('two'), crlf(text('two')), text('2'), crlf(text('2'))],
    [crlf(text('two')), text('two'), crlf(text('2')), text('2')],
    // The person has also changed a line, or the end of the file.
    [text('two'), crlf(`${text('two')}six\n`), text('2'), crlf(`${text('2')}six\n`)],
    [text('two'), crlf(text('two')).slice(0, -2), text('2'), crlf(text('2')).slice(0, -2)],
    // The file was mixed, or of an old Mac, and an editor has saved it.
    [
      'one\r\ntwo\nthree\nfour\n',
      crlf('one\ntwo\nthree\nfour\n'),
      'one\r\n2\nthree\nfour\n',
      crlf('one\n2\nthree\nfour\n'),
    ],
    [text('two').replaceAll('\n', '\r'), text('two'), text('2').replaceAll('\n', '\r'), text('2')],
    // The proposal changes them, and the person a line.
    [text('two'), text('2'), crlf(text('two')), crlf(text('2'))],
  ] as const) {
    const { stage, now: preview, stale, apply, workspace, moveOn } = bench(context, { a: before });
    const id = stage([modify('a', before, proposed)]);
    await moveOn('a', now);
    assert.deepEqual(stale(id), [], JSON.stringify(now));
    assert.deepEqual(preview(id).changes, [modify('a', now, after)]);
    await apply(id);
    assert.equal(workspace.text('a'), after);
  }
});

test('where both sides changed a line as well as the endings, only that line conflicts', async context => {
  const crlf = (content: string): string => content.replaceAll('\n', '\r\n');
  const { rebaser, stage, now, stale, moveOn } = bench(context, { a: text('two') });
  const id = stage([modify('a', text('two'), text('proposed'))]);
  await moveOn('a', crlf(text('current')));
  assert.deepEqual(stale(id), ['a']);
  assert.deepEqual(await rebaser.rebaseNow(id), ['a']);
  assert.deepEqual(now(id).changes, [
    modify('a', crlf(text('current')), crlf(marked('current', 'proposed'))),
  ]);
});

test('a link to itself in the place of a file makes the preview stale, and is no error', async context => {
  const folder = mkdtempSync(join(tmpdir(), 'redline-loop-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  const errors: string[] = [];
  const logger = { ...silentLogger, error: (text: string) => void errors.push(text) };
  const workspace = new DiskWorkspace(folder);
  const rebaser = new Rebaser({ store, workspace, logger });
  context.after(() => rebaser.dispose());
  const { id } = store.stage(draft({ changes: [modify('a.txt', 'a', 'b')] })).preview;
  for (const target of ['a.txt', 'nowhere']) {
    symlinkSync(target, join(folder, 'a.txt'));
    await rebaser.filesChanged(['a.txt']);
    const { state } = store.get(id) ?? assert.fail();
    assert.deepEqual([state.kind === 'pending' && state.stale, errors], [['a.txt'], []]);
    const apply = { id, action: 'apply', reason: 'ok', actor: 'human' } as const;
    await assert.rejects(new Invoker(store, workspace, () => 'apply').resolve(apply), StalePreviewError);
    rmSync(join(folder, 'a.txt'));
  }
});

test('a refresh that is asked for at the moment in which the others end is done, too', async context => {
  const { workspace, rebaser, store, stage, now } = bench(context, { a: text('two') });
  const id = stage([modify('a', text('two'), text('proposed'))]);
  const first = text('two').replace('five', 'FIVE');
  const get = store.get.bind(store);
  for (let ticks = 0; ticks < 12; ticks++) {
    workspace.put('a', `${first}${ticks}\n`);
    store.get = asked => {
      if (asked === 'gone') void afterTicks(ticks).then(() => rebaser.refresh([id]));
      return get(asked);
    };
    await rebaser.refresh(['gone']);
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    assert.equal(textIn(now(id).changes?.[0]?.before), `${first}${ticks}\n`, `${ticks} ticks later`);
  }
  async function afterTicks(ticks: number): Promise<void> {
    for (let n = 0; n < ticks; n++) await Promise.resolve();
  }
});

test('what the model amends while its file changes is rebased, too', async context => {
  const { workspace, rebaser, store, stage, now } = bench(context, { a: text('two'), b: 'b' });
  const id = stage([modify('a', text('two'), text('proposed')), modify('b', 'b', 'B')]);
  const gate = new Gate();
  const read = workspace.read.bind(workspace);
  workspace.read = async path => {
    const bytes = await read(path);
    if (path === 'b') await gate.pass();
    return bytes;
  };
  const current = text('two').replace('five', 'FIVE');
  workspace.put('a', current);
  const refreshed = rebaser.filesChanged(['a']);
  await gate.reached;
  await store.revise(id, [modify('a', text('two'), text('amended')), modify('b', 'b', 'B')], [], 'amend');
  gate.open();
  await refreshed;
  assert.deepEqual(now(id).changes?.[0], modify('a', current, text('amended').replace('five', 'FIVE')));
});

test('a preview of a text that its file no longer has is rebased once it is staged, or stale', async context => {
  const { workspace, rebaser, stage, now, stale } = bench(context, { 'a.txt': text('two'), 'b.txt': 'b' });
  workspace.put('a.txt', `zero\n${text('two')}`); // after a tool has read it, while nothing was pending
  workspace.put('b.txt', 'changed');
  const a = stage([modify('a.txt', text('two'), text('TWO'))]);
  const b = stage([modify('b.txt', 'b', 'B')]);
  await rebaser.refresh([]);
  assert.equal(textIn(now(a).changes?.[0]?.after), `zero\n${text('TWO')}`);
  assert.deepEqual(stale(b), ['b.txt']);
});
