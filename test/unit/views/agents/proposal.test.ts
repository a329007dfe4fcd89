import { test } from 'node:test';
import assert from 'node:assert/strict';
import { english } from '../../../../src/agent/base/localiser.ts';
import { silentLogger } from '../../../../src/agent/base/logger.ts';
import { Overlay } from '../../../../src/agent/hold/preview/overlay.ts';
import { resolvePart } from '../../../../src/agent/hold/preview/resolve/resolvePart.ts';
import type { LanguageModelToolName } from '../../../../src/views/contributions.ts';
import { propose } from '../../../../src/views/agents/proposal.ts';
import { modify } from '../../../support/changes.ts';
import { createTestSession } from '../../../support/testSession.ts';

const LINES = ['one', ...Array.from({ length: 20 }, (_, n) => `line ${n}`), 'two', ''].join('\n');

function setUp() {
  const files = { 'a.txt': 'one two', 'long.txt': LINES };
  const t = createTestSession({ files, settings: { modelAuthority: 'recommend' } });
  let cancel = (): void => undefined;
  const token = {
    isCancellationRequested: false,
    onCancellationRequested: (listener: () => void) => {
      cancel = listener;
      return { dispose: () => (cancel = () => undefined) };
    },
  };
  const parts = { ...t, overlay: new Overlay(t.store), l10n: english, logger: silentLogger };
  const run = (input: unknown, name: LanguageModelToolName = 'redline_propose_edit') =>
    propose(name, input, token as unknown as Parameters<typeof propose>[2], parts);
  /** Proposes, and settles when the preview is staged, while the call still waits. */
  const staged = async (input: unknown): Promise<{ id: string; told: Promise<string> }> => {
    const change = new Promise<string>(resolve => {
      const listening = t.store.onDidChange(({ id }) => {
        listening.dispose();
        resolve(id);
      });
    });
    const told = run(input);
    return { id: await change, told };
  };
  return { ...t, run, staged, token, cancel: () => cancel() };
}
const edit = (old: string, replacement: string, path = 'a.txt') => ({
  path,
  edits: [{ old, new: replacement }],
});
const TWO_HUNKS = {
  path: 'long.txt',
  edits: [
    { old: 'one', new: 'ONE' },
    { old: 'two', new: 'TWO' },
  ],
};

test('a proposal of another agent is staged for the user, and Redline’s own session is not involved', async () => {
  const { staged, store, session, workspace, requests, click } = setUp();
  const { id, told } = await staged(edit('one', 'three'));
  assert.equal(workspace.text('a.txt'), 'one two');
  assert.deepEqual(
    store.all().map(({ sourceToolName, origin, changes }) => [sourceToolName, origin, changes?.length]),
    [['redline_propose_edit', null, 1]],
  );
  assert.deepEqual([session.state, session.messages, requests.length], ['idle', [], 0]);
  await click(id, 'apply', 'Good.');
  assert.equal(workspace.text('a.txt'), 'three two');
  const text = await told;
  assert.match(text, /^Staged as p1, no file modified yet\. The user reviews it\.\n/);
  assert.match(text, /\nThe user applied p1 \(Edit a\.txt \(1 edit\)\)\. Reason: "Good\."$/);
  assert.deepEqual([session.state, session.messages, requests.length], ['idle', [], 0]);
});

test('a refusal is an answer', async () => {
  const { staged, workspace, click } = setUp();
  const { id, told } = await staged(edit('one', 'three'));
  await click(id, 'discard', 'Not now.');
  assert.match(
    await told,
    /\nThe user discarded p1 .*This is the user's decision, not a failure\. Reason: "Not now\."$/,
  );
  assert.equal(workspace.text('a.txt'), 'one two');
});

test('the call waits for all parts, also after a failed apply, and reports the user’s edits', async () => {
  const { staged, store, invoker, workspace, click } = setUp();
  const { id, told } = await staged(TWO_HUNKS);
  let isOver = false;
  void told.then(() => (isOver = true));
  const request = { id, revision: 1, action: 'discard', reason: 'Keep it.', actor: 'human' } as const;
  await resolvePart({ store, invoker }, request, { path: 'long.txt', hunk: 0 });
  const rest = store.get(id)?.changes ?? assert.fail('the rest is there');
  await store.revise(id, rest, [], 'user', '-TWO\n+Two');
  workspace.put('long.txt', 'moved on');
  await assert.rejects(click(id, 'apply'), /changed after the preview was made/);
  await new Promise(resolve => setImmediate(resolve));
  assert.equal(isOver, false);
  await click(id, 'discard');
  assert.deepEqual(
    (await told).split('\n').flatMap(line => /^(The user \w+( \w+)*)/.exec(line)?.[1] ?? []),
    ['The user discarded p2', 'The user edited p1', 'The user tried to apply p1', 'The user discarded p1'],
  );
  assert.match(await told, /\nThe refused part:\n[^]*-one\n\+ONE\n/);
  assert.match(await told, /\n-TWO\n\+Two\n/);
});

test('another extension can resolve the preview too', async () => {
  const { staged, invoker } = setUp();
  const { id, told } = await staged(edit('one', 'three'));
  await invoker.resolve({ id, action: 'apply', reason: 'policy', actor: 'extension' });
  assert.match(await told, /\nAnother extension applied p1 .*Reason: "policy"$/);
});

test('proposals are made on the files as they are, not on what the session or another agent has pending', async () => {
  const { staged, stage, run, store } = setUp();
  stage({ label: 'Ours', changes: [modify('a.txt', 'one two', 'ours two')] });
  const { told } = await staged(edit('one', 'three'));
  assert.deepEqual(store.get('p2')?.dependsOn, []);
  await assert.rejects(run(edit('three', 'four')), /was not found in a\.txt/);
  void told;
});

test('input that cannot be staged is an error with a text for the agent', async () => {
  const { run, store } = setUp();
  await assert.rejects(run(edit('nowhere', 'x')), /a\.txt/);
  await assert.rejects(
    run({ path: 'a.txt' }),
    /^Error: Invalid arguments for redline_propose_edit\. edits: /,
  );
  await assert.rejects(run({}, 'redline_ast_edit'), /There is no tool named redline_ast_edit/);
  assert.deepEqual(store.all(), []);
});

test('a cancelled proposal stages nothing', async () => {
  const { run, store, token } = setUp();
  token.isCancellationRequested = true;
  await assert.rejects(run(edit('one', 'three')), /Interrupted by the user/);
  assert.deepEqual(store.all(), []);
});

test('cancelling only ends the waiting: the preview stays pending and can be applied', async () => {
  const { staged, store, workspace, cancel, click } = setUp();
  const { id, told } = await staged(edit('one', 'three'));
  await new Promise(resolve => setImmediate(resolve));
  cancel();
  await assert.rejects(told, {
    message: 'Interrupted before the user decided. Still pending in Redline: p1.',
  });
  assert.equal(store.get(id)?.state.kind, 'pending');
  await click(id, 'apply');
  assert.equal(workspace.text('a.txt'), 'three two');
});

test('a cancelled call reports the outcomes so far', async () => {
  const { staged, store, invoker, workspace, cancel } = setUp();
  const { id, told } = await staged(TWO_HUNKS);
  await new Promise(resolve => setImmediate(resolve));
  const request = { id, revision: 1, action: 'apply', reason: 'Good.', actor: 'human' } as const;
  await resolvePart({ store, invoker }, request, { path: 'long.txt', hunk: 0 });
  cancel();
  await assert.rejects(told, {
    message: `The user applied p2 (Edit long.txt (1 edit), hunk 1), a part of p1. Reason: "Good."
Interrupted before the user decided. Still pending in Redline: p1.`,
  });
  assert.match(workspace.text('long.txt') ?? '', /^ONE\n[^]*\ntwo\n$/);
});

test('a call that is cancelled in the moment of the last outcome still reports it', async () => {
  const { staged, store, cancel, click } = setUp();
  const { id, told } = await staged(edit('one', 'three'));
  await new Promise(resolve => setImmediate(resolve));
  store.onDidResolve(() => cancel());
  await click(id, 'apply');
  assert.match(await told, /^Staged as p1, [^]*\nThe user applied p1 /);
});
