import { test } from 'node:test';
import assert from 'node:assert/strict';
import { english, type Localiser } from '../../../../src/agent/base/localiser.ts';
import { Overlay } from '../../../../src/agent/hold/preview/overlay.ts';
import { textResult, type PendingAction } from '../../../../src/agent/hold/preview/pendingAction.ts';
import { queueResolveHandler } from '../../../../src/agent/hold/preview/queueResolveHandler.ts';
import { create, modify, remove, rename } from '../../../support/changes.ts';
import { InvokerHarness } from '../../../support/invokerHarness.ts';

const apply = () => Promise.resolve(textResult('done'));

test('a staged preview is registered, stored and told of; nothing is changed', async () => {
  const { store, invoker, workspace, log } = new InvokerHarness();
  const told: unknown[] = [];
  store.onDidStage(p => told.push(p));
  const origin = { sessionId: 's', call: { messageId: 'm', toolCallId: 't' }, asksModel: true };
  const changes = [modify('a.txt', 'a', 'A')];
  const { preview, stored } = queueResolveHandler(
    { store, invoker, overlay: new Overlay(store), l10n: english },
    { label: 'Edit', sourceToolName: 'edit_file', changes, details: { n: 1 } },
    origin,
  );
  await stored;
  const { stagedAt, ...rest } = preview;
  assert.ok(Math.abs(Date.parse(stagedAt) - Date.now()) < 60_000);
  assert.deepEqual(rest, {
    id: 'p1',
    revision: 1,
    label: 'Edit',
    sourceToolName: 'edit_file',
    kind: 'files',
    changes,
    dependsOn: [],
    details: { n: 1 },
    roots: workspace.roots,
    origin,
    state: { kind: 'pending', stale: [] },
  });
  assert.deepEqual(told, [preview]);
  assert.equal(log.entries.length, 1);
  assert.deepEqual(workspace.writes, []);
});

test('a title is said in the language of the user, the label stays as the model knows it', () => {
  const { store, invoker } = new InvokerHarness();
  const german: Localiser = {
    t: (text, ...args) => english.t(text === 'Delete {0}' ? '{0} löschen' : text, ...args),
  };
  const host = { store, invoker, overlay: new Overlay(store), l10n: german };
  const action = { label: 'Delete a.txt', sourceToolName: 'delete_file', changes: [remove('a.txt', 'a')] };
  const said: PendingAction = { ...action, title: l10n => l10n.t('Delete {0}', 'a.txt') };
  assert.partialDeepStrictEqual(queueResolveHandler(host, said, null).preview, {
    label: 'Delete a.txt',
    title: 'a.txt löschen',
  });
  const given: PendingAction = { ...action, title: 'Tidy up' };
  assert.equal(queueResolveHandler(host, given, null).preview.title, 'Tidy up');
  assert.equal(queueResolveHandler(host, action, null).preview.title, undefined);
});

test('the callbacks are there when the session is told of a preview', async () => {
  const { store, invoker } = new InvokerHarness();
  let resolved: Promise<unknown> | undefined;
  store.onDidStage(({ id }) => {
    resolved = invoker.resolve({ id, action: 'apply', reason: '', actor: 'extension' });
  });
  queueResolveHandler(
    { store, invoker, overlay: new Overlay(store), l10n: english },
    { label: 'Opaque', sourceToolName: 'test', apply },
    null,
  );
  await resolved;
  assert.equal(store.get('p1')?.state.kind, 'applied');
});

test('details are kept as the log will give them back', () => {
  const { stage } = new InvokerHarness();
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  assert.match(String(stage({ details: cycle }).details), /^\[not storable/);
  assert.deepEqual(stage({ details: { at: new Date(0) } }).details, { at: '1970-01-01T00:00:00.000Z' });
});

test('an action without changes and without apply is a mistake of its producer, and leaves nothing behind', () => {
  const { store, invoker, reminded } = new InvokerHarness();
  const host = {
    store,
    invoker,
    overlay: new Overlay(store),
    l10n: english,
  };
  const action: PendingAction = { label: 'Nothing', sourceToolName: 'test' };
  assert.throws(() => queueResolveHandler(host, action, null), TypeError);
  assert.deepEqual(store.all(), []);
  assert.deepEqual(reminded, []);
});

test('text with NUL, which VS Code shows as binary, is never staged', () => {
  const { store, stage } = new InvokerHarness();
  for (const changes of [
    [modify('a.txt', 'a', 'A'), create('b.txt', 'b\0')],
    [modify('a.txt', 'a', '\0')],
    [rename('a.txt', 'c.txt', 'a', 'a\0b')],
    [remove('a.txt', 'a\0')],
  ])
    assert.throws(
      () => stage({ changes }),
      /of [abc]\.txt contains the character NUL \(U\+0000\).* Nothing was staged\.$/,
    );
  assert.deepEqual(store.all(), []);
});
