import { test } from 'node:test';
import assert from 'node:assert/strict';
import type { LanguageModelToolName } from '../../../src/views/contributions.ts';
import { Overlay } from '../../../src/agent/preview/overlay.ts';
import { propose } from '../../../src/views/tools/proposal.ts';
import { silentLogger } from '../../../src/agent/base/log.ts';
import { createTestSession } from '../../support/testSession.ts';

function setUp() {
  const t = createTestSession({ files: { 'a.txt': 'one two' }, settings: { modelAuthority: 'recommend' } });
  let cancel = (): void => undefined;
  const token = {
    isCancellationRequested: false,
    onCancellationRequested: (listener: () => void) => {
      cancel = listener;
      return { dispose: () => (cancel = () => undefined) };
    },
  };
  const parts = { ...t, overlay: new Overlay(t.store), log: silentLogger };
  const run = (input: unknown, name: LanguageModelToolName = 'redline_propose_edit') =>
    propose(name, input, token as unknown as Parameters<typeof propose>[2], parts);
  return { ...t, run, token, cancel: () => cancel() };
}
const edit = (old: string, replacement: string) => ({ path: 'a.txt', edits: [{ old, new: replacement }] });

test('what another agent proposes is staged for the user, and no business of Redline’s own model', async () => {
  const { run, store, session, workspace, requests } = setUp();
  assert.match(
    await run(edit('one', 'three')),
    /^Staged as p1, no file modified yet\. The user reviews it\.\n/,
  );
  assert.equal(workspace.text('a.txt'), 'one two');
  assert.deepEqual(
    store.all().map(({ sourceToolName, origin, changes }) => [sourceToolName, origin, changes?.length]),
    [['redline_propose_edit', null, 1]],
  );
  assert.deepEqual([session.state, session.messages, requests.length], ['idle', [], 0]);
});

test('proposals build on those that are pending', async () => {
  const { run, store } = setUp();
  await run(edit('one', 'three'));
  await run(edit('three', 'four'));
  assert.deepEqual(store.get('p2')?.dependsOn, ['p1']);
});

test('what cannot be staged is an error with the words for that agent', async () => {
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
