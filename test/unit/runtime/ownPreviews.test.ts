import { test } from 'node:test';
import assert from 'node:assert/strict';
import { reopenAction, undoAction } from '../../../src/agent/hold/preview/undo.ts';
import { Rebaser } from '../../../src/agent/hold/preview/rebase/rebaser.ts';
import { create, modify, rename, textIn } from '../../support/changes.ts';
import type { ScriptedTurn } from '../../support/scriptedProvider.ts';
import { createTestSession, type TestSession, type TestSessionOptions } from '../../support/testSession.ts';

const files = { 'a.txt': 'one\ntwo\nthree\n' };
const ok: ScriptedTurn = { text: 'ok' };
const call = (name: string, args: object): ScriptedTurn => ({ toolCalls: [{ name, arguments: args }] });
const read = call('read_file', { path: 'a.txt' });
const edit = (old: string, replacement: string): ScriptedTurn =>
  call('edit_file', { path: 'a.txt', edits: [{ old, new: replacement }] });

/** The model only acts when it is asked to. */
function start(options: TestSessionOptions): TestSession & { rebaser: Rebaser } {
  const t = createTestSession({ files, ...options, settings: { forcing: 'off', ...options.settings } });
  const logger = { debug() {}, info() {}, warn() {}, error: (text: string) => assert.fail(text) };
  return { ...t, rebaser: new Rebaser({ store: t.store, workspace: t.workspace, logger }) };
}
const stale = (t: TestSession, id: string): readonly string[] | undefined => {
  const state = t.store.get(id)?.state;
  return state?.kind === 'pending' ? state.stale : undefined;
};
const lastResult = (t: TestSession): string => t.results().at(-1)?.content ?? '';

test('a conversation reads and edits files without the pending previews of another one', async () => {
  const t = start({ script: [edit('one', 'ONE'), ok, read, edit('one', '1'), ok] });
  await t.session.prompt('First.');
  await t.session.new();
  await t.session.prompt('Second.');
  assert.equal(t.results()[0]?.content, 'a.txt, lines 1-3 of 3.\n1\tone\n2\ttwo\n3\tthree');
  assert.deepEqual(t.store.get('p2')?.dependsOn, []);
  assert.equal(textIn(t.store.get('p2')?.changes?.[0]?.after), '1\ntwo\nthree\n');
});

test('a conversation that is opened again after a reload sees its own previews, and not the newer ones', async () => {
  const first = start({ script: [edit('one', 'ONE'), ok] });
  await first.session.prompt('First.');
  const { log, sessionLog, workspace } = first;
  const other = start({ log, workspace, script: [edit('two', 'TWO'), ok] });
  await other.session.prompt('Meanwhile.');
  const again = start({ log, sessionLog, workspace, script: [read, ok] });
  await again.session.prompt('Again.');
  assert.match(lastResult(again), /pending preview p1 applied\.\n1\tONE\n2\ttwo\n/);
});

test('a change that is made on the same text as a preview of another conversation does not build on it', async () => {
  const t = start({ script: [edit('one', 'ONE'), ok] });
  await t.session.prompt('First.');
  await t.session.new();
  t.stage({ label: 'New', changes: [modify('a.txt', 'ONE\ntwo\nthree\n', 'ONE\ntwo\n3\n')] });
  assert.deepEqual(t.store.get('p2')?.dependsOn, []);
});

test('within one conversation, changes still stack, and a chain is applied as one', async () => {
  const t = start({ script: [edit('one', 'ONE'), edit('two', 'TWO'), edit('three', 'THREE'), ok] });
  await t.session.prompt('All.');
  assert.deepEqual([t.store.get('p2')?.dependsOn, t.store.get('p3')?.dependsOn], [['p1'], ['p2']]);
  await t.invoker.resolve({
    id: 'p3',
    action: 'apply',
    reason: 'ok',
    actor: 'human',
    chain: { p1: 1, p2: 1 },
  });
  assert.equal(t.workspace.text('a.txt'), 'ONE\nTWO\nTHREE\n');
});

test('of two conversations that change one file, the later apply is rebased where the changes are apart', async () => {
  const t = start({ script: [edit('one', 'ONE'), ok, edit('three', 'THREE'), ok] });
  await t.session.prompt('First.');
  await t.session.new();
  await t.session.prompt('Second.');
  await t.click('p1', 'apply');
  await t.rebaser.refresh([]);
  assert.equal(t.store.get('p2')?.revision, 2);
  await t.click('p2', 'apply');
  assert.equal(t.workspace.text('a.txt'), 'ONE\ntwo\nTHREE\n');
});

test('of two conversations that change one line, the later one is stale', async () => {
  const t = start({ script: [edit('one', 'ONE'), ok, edit('one', '1'), ok] });
  await t.session.prompt('First.');
  await t.session.new();
  await t.session.prompt('Second.');
  await t.click('p1', 'apply');
  await t.rebaser.refresh([]);
  assert.deepEqual(stale(t, 'p2'), ['a.txt']);
  await assert.rejects(t.click('p2', 'apply'), /changed after the preview was made/);
  assert.equal(t.workspace.text('a.txt'), 'ONE\ntwo\nthree\n');
});

test('of two conversations that create one file, the later one is stale', async () => {
  const create = (content: string): ScriptedTurn => call('write_file', { path: 'n.txt', content });
  const t = start({ script: [create('x'), ok, create('y'), ok] });
  await t.session.prompt('First.');
  await t.session.new();
  await t.session.prompt('Second.');
  assert.equal(t.store.get('p2')?.changes?.[0]?.kind, 'create');
  await t.click('p1', 'apply');
  await t.rebaser.refresh([]);
  assert.deepEqual(stale(t, 'p2'), ['n.txt']);
});

test('a rename in one conversation and an edit in another: the edit comes along, or is stale', async () => {
  for (const first of ['p1', 'p2'] as const) {
    const t = start({
      script: [call('rename_file', { from: 'a.txt', to: 'b.txt' }), ok, edit('one', 'ONE'), ok],
    });
    await t.session.prompt('First.');
    await t.session.new();
    await t.session.prompt('Second.');
    await t.click(first, 'apply');
    await t.rebaser.refresh([]);
    if (first === 'p1') {
      assert.deepEqual(stale(t, 'p2'), ['a.txt']);
    } else {
      await t.click('p1', 'apply');
      assert.deepEqual(t.workspace.snapshot(), { 'b.txt': 'ONE\ntwo\nthree\n' });
    }
  }
});

test('Undo and what an extension stages are seen by the conversation that they concern by their origin', async () => {
  const t = start({ script: [read, ok, read, ok] });
  t.session.stageForUser({
    label: 'Undo',
    sourceToolName: 'x',
    changes: [modify('a.txt', 'one\ntwo\nthree\n', 'undone\n')],
  });
  await t.session.prompt('Read.');
  assert.match(lastResult(t), /pending preview p1 applied\.\n1\tundone/);
  await t.session.new();
  await t.session.prompt('Read.');
  assert.match(lastResult(t), /^a\.txt, lines 1-3 of 3\.\n1\tone/);
});

test('what is reopened or undone while another conversation is open concerns the one that it came from', async () => {
  for (const action of ['discard', 'apply'] as const) {
    const t = start({ script: [edit('one', 'ONE'), ok] });
    await t.session.prompt('First.');
    const { log, sessionLog, workspace } = t;
    const other = start({ log, workspace, script: [ok, read, ok] });
    await other.session.prompt('Meanwhile.');
    await other.click('p1', action);
    const resolved = other.store.get('p1') ?? assert.fail();
    other.session.stageForUser(reopenAction(resolved) ?? undoAction(resolved) ?? assert.fail());
    const was = action === 'apply' ? 'ONE' : 'one';
    await other.session.prompt('Read.');
    assert.match(lastResult(other), new RegExp(`^a\\.txt, lines 1-3 of 3\\.\\n1\\t${was}`));
    const again = start({ log, sessionLog, workspace, script: [read, ok] });
    await again.session.prompt('Again.');
    assert.match(lastResult(again), new RegExp(`p2 applied\\.\\n1\\t${was === 'one' ? 'ONE' : 'one'}`));
  }
});

test('what concerned no conversation concerns the open one once it is reopened', async () => {
  const t = start({ script: [] });
  t.store.stage({
    label: 'Elsewhere',
    sourceToolName: 'other',
    kind: 'files',
    changes: [create('n.txt', 'theirs')],
    dependsOn: [],
    origin: null,
    stagedAt: new Date().toISOString(),
  });
  await t.click('p1', 'discard');
  t.session.stageForUser(reopenAction(t.store.get('p1') ?? assert.fail()) ?? assert.fail());
  assert.equal(t.store.get('p2')?.origin?.sessionId, t.session.id);
});

test('a preview that concerns no conversation is in no overlay, and builds on nothing', async () => {
  const t = start({ script: [call('write_file', { path: 'n.txt', content: 'x' }), ok] });
  t.store.stage({
    label: 'Elsewhere',
    sourceToolName: 'other',
    kind: 'files',
    changes: [create('n.txt', 'theirs'), rename('a.txt', 'moved.txt', 'one\ntwo\nthree\n')],
    dependsOn: [],
    origin: null,
    stagedAt: new Date().toISOString(),
  });
  await t.session.prompt('Create.');
  assert.deepEqual(t.store.get('p2')?.dependsOn, []);
  assert.equal(t.store.get('p2')?.changes?.[0]?.kind, 'create');
});
