import { test } from 'node:test';
import assert from 'node:assert/strict';
import type { ResolveCall } from '../../../src/agent/session/forcing/modelResolver.ts';
import { textResult } from '../../../src/agent/hold/preview/pendingAction.ts';
import { modify } from '../../support/changes.ts';
import type { ScriptedTurn } from '../../support/scriptedProvider.ts';
import { createTestSession } from '../../support/testSession.ts';

const files = { 'a.txt': 'a', 'b.txt': 'b' };
const ok: ScriptedTurn = { text: 'ok' };
const resolve = (more: object): ScriptedTurn => ({
  toolCalls: [{ name: 'resolve', arguments: { action: 'apply', reason: 'r', ...more } }],
});

test('a prompt that is given while a new conversation begins belongs to it', async () => {
  const t = createTestSession({ script: [{ hang: true }, ok] });
  void t.session.prompt('Old.');
  const renewed = t.session.new();
  const prompted = t.session.prompt('New.');
  await renewed;
  await prompted;
  assert.deepEqual(
    t.session.messages.map(message => ('text' in message ? message.text : '')),
    ['New.', 'ok'],
  );
  t.assertSound();
});

test('starting a new conversation twice at once starts one', async () => {
  const t = createTestSession({ script: [ok] });
  const before = t.session.id;
  await Promise.all([t.session.new(), t.session.new()]);
  assert.equal(t.events.filter(({ type }) => type === 'reset').length, 1);
  assert.notEqual(t.session.id, before);
});

test('an id that is guessed in a new conversation does not reach the previews of the old one', async () => {
  const t = createTestSession({ files, script: [resolve({ id: 'p1' }), ok] });
  t.stage({ label: 'Old', changes: [modify('a.txt', 'a', 'A')] });
  await t.session.new();
  await t.session.prompt('Hello.');
  assert.match(t.results()[0]?.content ?? '', /^p1 \(Old\) does not belong to this conversation/);
  assert.equal(t.workspace.text('a.txt'), 'a');
  assert.equal(t.store.get('p1')?.state.kind, 'pending');
});

test('the model cannot resolve what the user reopened, which it has not seen', async () => {
  const t = createTestSession({ files, script: [resolve({ id: 'p1' }), ok] });
  t.session.stageForUser({ label: 'Undo', sourceToolName: 'x', changes: [modify('a.txt', 'a', 'A')] });
  await t.session.prompt('Hello.');
  assert.equal(t.workspace.text('a.txt'), 'a');
});

test('continuing an empty conversation sends nothing', async () => {
  const t = createTestSession();
  await t.session.continue();
  assert.deepEqual(t.requests, []);
});

test('a standing handler gets action, reason and extra, and nothing else; its details are in the result', async () => {
  const calls: unknown[] = [];
  const t = createTestSession({ script: [resolve({ extra: { title: 'T' } }), ok] });
  t.session.setStandingResolveHandler(call => {
    calls.push(call);
    return Promise.resolve(textResult('handled', { own: 1 }));
  });
  await t.session.prompt('Hello.');
  assert.deepEqual(calls, [{ action: 'apply', reason: 'r', extra: { title: 'T' } }]);
  assert.equal(t.results()[0]?.content, 'handled');
  assert.deepEqual(t.results()[0]?.details, {
    action: 'apply',
    reason: 'r',
    extra: { title: 'T' },
    sourceResultDetails: { own: 1 },
  });
});

test('a standing handler is not subject to the model’s authority', async () => {
  let runs = 0;
  const t = createTestSession({ settings: { modelAuthority: 'recommend' }, script: [resolve({}), ok] });
  t.session.setStandingResolveHandler(() => {
    runs++;
    return Promise.resolve(textResult('handled'));
  });
  await t.session.prompt('Hello.');
  assert.equal(runs, 1);
});

test('plan mode takes precedence over a standing handler and does not remove it', async () => {
  const calls: Pick<ResolveCall, 'reason'>[] = [];
  const t = createTestSession({
    script: [{ ...resolve({}), text: '# Plan' }, ok, resolve({}), ok],
  });
  t.session.setPlanMode(true);
  t.session.setStandingResolveHandler(call => {
    calls.push(call);
    return Promise.resolve(textResult('handled'));
  });
  await t.session.prompt('Plan.');
  assert.deepEqual(calls, [], 'the plan was submitted');
  assert.equal(t.store.get('p1')?.label, 'Plan ready for approval');
  t.session.setPlanMode(false);
  await t.session.prompt('Resolve.');
  assert.equal(calls.length, 1);
});

test('a plan of an older conversation that is approved late does not end the plan mode of the new one', async () => {
  const t = createTestSession({ script: [{ ...resolve({}), text: '# Plan' }, ok] });
  t.session.setPlanMode(true);
  await t.session.prompt('Plan.');
  await t.session.new();
  t.session.setPlanMode(true);
  await t.click('p1', 'apply');
  assert.equal(t.session.planMode, true);
});
