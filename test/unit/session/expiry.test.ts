import { test } from 'node:test';
import assert from 'node:assert/strict';
import {
  resultText,
  textResult,
  type AgentToolResult,
} from '../../../src/agent/hold/preview/pendingAction.ts';
import { create } from '../../support/changes.ts';
import { createTestSession } from '../../support/testSession.ts';

const done = (): Promise<AgentToolResult> => Promise.resolve(textResult('done'));
const GONE =
  'p1 (Rename) has expired: it did not run, and what it would have run is gone. Stage it again if it is still needed.';

test('an opaque preview whose producer is gone expires: it cannot be applied and blocks nothing', async () => {
  const t = createTestSession({ script: [{ text: 'ok' }] });
  t.stage({ label: 'Rename', apply: () => assert.fail('it was applied') });
  t.invoker.expire('p1');
  assert.equal(t.store.get('p1')?.state.kind, 'expired');
  assert.deepEqual([t.store.hasPending, t.store.ledger()], [false, []]);
  assert.equal(resultText((await t.click('p1', 'apply')) as AgentToolResult), GONE);
  await t.session.prompt('Hello.');
  assert.equal(t.requests[0]?.toolChoice, undefined, 'nothing is forced');
  assert.deepEqual(
    t.steering().map(({ text }) => text),
    [GONE],
    'the model is told, and no longer reminded',
  );
  t.assertSound();
});

test('it stays expired after a reload', () => {
  const t = createTestSession();
  t.stage({ label: 'Rename', apply: done });
  t.invoker.expire('p1');
  assert.equal(createTestSession({ log: t.log }).store.get('p1')?.state.kind, 'expired');
});

test('declared changes need no producer, and what is resolved or unknown is left alone', async () => {
  const t = createTestSession();
  t.stage({ label: 'Write', changes: [create('a.txt', 'a')] });
  t.stage({ label: 'Rename', apply: done });
  await t.click('p2', 'apply');
  for (const id of ['p1', 'p2', 'p9']) t.invoker.expire(id);
  assert.deepEqual(
    t.store.all().map(({ state }) => state.kind),
    ['pending', 'applied'],
  );
});

test('what is being applied right now is applied', async () => {
  const t = createTestSession();
  let end: (result: AgentToolResult) => void = () => undefined;
  t.stage({ label: 'Rename', apply: () => new Promise(resolve => (end = resolve)) });
  const applying = t.click('p1', 'apply');
  t.invoker.expire('p1');
  assert.equal(t.store.get('p1')?.state.kind, 'applying');
  end(textResult('done'));
  await applying;
  assert.equal(t.store.get('p1')?.state.kind, 'applied');
});

for (const action of ['apply', 'discard'] as const) {
  test(`a preview whose ${action} fails after its producer went away expires, and is not forced`, async () => {
    const t = createTestSession({ script: [{ text: 'ok' }] });
    let fail: (error: Error) => void = () => undefined;
    const callback = (): Promise<never> => new Promise((_, reject) => (fail = reject));
    t.stage({ label: 'Rename', apply: callback, reject: callback });
    const resolving = t.click('p1', action);
    t.invoker.expire('p1');
    fail(new Error('disk is full'));
    await assert.rejects(resolving, /disk is full/);
    assert.equal(t.store.get('p1')?.state.kind, 'expired');
    assert.equal(t.store.ledger().at(-1)?.outcome, 'failed');
    await t.session.prompt('Hello.');
    assert.equal(t.requests[0]?.toolChoice, undefined, 'nothing is forced');
    t.assertSound();
  });
}

for (const [continueAfterReview, state, answers] of [
  [true, 'idle', ['Waiting.', 'I see.']],
  [false, 'idle', ['Waiting.']],
] as const) {
  test(`a review that waited for it alone is over; the session ${continueAfterReview ? 'continues' : 'is idle'}`, async () => {
    const t = createTestSession({
      settings: { modelAuthority: 'none', continueAfterReview },
      script: [{ text: 'Waiting.' }, { text: 'I see.' }],
    });
    const prompt = t.session.prompt('Hello.');
    t.stage({ label: 'Rename', apply: done });
    await prompt;
    assert.equal(t.session.state, 'awaitingReview');
    t.invoker.expire('p1');
    await t.untilState(state);
    assert.deepEqual(
      t.answers().map(({ text }) => text),
      answers,
    );
    t.assertSound();
  });
}
