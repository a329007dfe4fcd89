import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { textResult, type PendingAction } from '../../../../src/agent/hold/preview/pendingAction.ts';
import type { Actor, ResolveAction } from '../../../../src/agent/hold/preview/preview.ts';
import { PreviewStore } from '../../../../src/agent/hold/preview/previewStore.ts';
import { Invoker } from '../../../../src/agent/hold/preview/resolve/invoker.ts';
import { create } from '../../../support/changes.ts';
import { draft } from '../../../support/drafts.ts';
import * as stub from '../../../support/fuzz/vscodeStub.ts';
import { InvokerHarness } from '../../../support/invokerHarness.ts';
import { MemoryWorkspace } from '../../../support/memoryWorkspace.ts';
import { MemoryPreviewLog } from '../../../support/testSession.ts';

stub.useVscodeStub();
const { ReviewTally } = await import('../../../../src/views/review/reviewTally.ts');

function given(t: TestContext) {
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  const invoker = new Invoker(store, new MemoryWorkspace({}), () => 'apply');
  const tally = new ReviewTally(store);
  t.after(() => tally.dispose());
  const stage = (path: string): string => store.stage(draft({ changes: [create(path, 'x')] })).preview.id;
  const vote = (id: string, action: ResolveAction, actor: Actor = 'human') =>
    invoker.resolve({ id, action, reason: 'test', actor });
  return { tally, store, stage, vote };
}

test('at the end of a review one line tells what the user decided, and it goes when something is pending again', async t => {
  const { tally, stage, vote } = given(t);
  const ids = ['a', 'b', 'c'].map(stage);
  await vote(ids[0] ?? '', 'apply');
  await vote(ids[1] ?? '', 'discard');
  assert.equal(tally.line, '');
  await vote(ids[2] ?? '', 'apply');
  assert.equal(tally.line, 'Review done: 2 applied, 1 discarded');
  const next = stage('d');
  assert.equal(tally.line, '');
  await vote(next, 'discard');
  assert.equal(tally.line, 'Review done: 1 discarded');
});

test('a review ends also if the last preview expires, and the next one counts anew', async t => {
  const harness = new InvokerHarness('none');
  const tally = new ReviewTally(harness.store);
  t.after(() => tally.dispose());
  const { id } = harness.stage();
  const action = harness.stage({ apply: () => Promise.resolve(textResult('Done.')) });
  await harness.resolve({ id, action: 'discard' });
  await harness.store.expire(action.id);
  assert.equal(tally.line, 'Review done: 1 discarded');
  const next = harness.stage();
  await harness.store.expire(next.id);
  assert.equal(tally.line, '', 'nothing was decided');
  await harness.resolve({ id: harness.stage().id });
  assert.equal(tally.line, 'Review done: 1 applied');
});

test('a plan that the user approves or sends back is not counted', async t => {
  const harness = new InvokerHarness('none');
  const tally = new ReviewTally(harness.store);
  t.after(() => tally.dispose());
  const plan = () => harness.stage({ kind: 'plan', apply: () => Promise.resolve(textResult('Approved.')) });
  await harness.resolve({ id: plan().id });
  assert.equal(tally.line, '');
  const [file, second] = [harness.stage(), plan()];
  await harness.resolve({ id: file.id });
  await harness.resolve({ id: second.id, action: 'discard' });
  assert.equal(tally.line, 'Review done: 1 applied');
});

test('votes of the model are not counted, and do not end a review', async t => {
  const { tally, stage, vote } = given(t);
  const ids = ['a', 'b', 'c'].map(stage);
  await vote(ids[0] ?? '', 'apply');
  await vote(ids[1] ?? '', 'apply', 'model');
  await vote(ids[2] ?? '', 'discard', 'extension');
  assert.equal(tally.line, '');
});

test('what undoes something is not counted', async t => {
  const { tally, store, stage, vote } = given(t);
  const id = stage('a');
  await vote(id, 'apply');
  assert.equal(tally.line, 'Review done: 1 applied');
  const undo = store.stage(draft({ changes: [create('b', 'x')], undoes: [id] })).preview.id;
  assert.equal(tally.line, '');
  await vote(undo, 'apply');
  assert.equal(tally.line, '');
});

test('the line goes by itself after a while', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { tally, stage, vote } = given(t);
  await vote(stage('a'), 'apply');
  assert.equal(tally.line, 'Review done: 1 applied');
  t.mock.timers.tick(60_000);
  assert.equal(tally.line, '');
});

test('a command that was stopped or failed, and what returned an error, is not counted as applied', async t => {
  const run = (run: object, purpose: 'command' | 'toolCall' = 'command') => ({
    apply: () => Promise.resolve(textResult('Done.', { run })),
    humanOnly: true as const,
    purpose,
  });
  const lineAfter = async (...actions: readonly Partial<PendingAction>[]): Promise<string> => {
    const harness = new InvokerHarness();
    const tally = new ReviewTally(harness.store);
    t.after(() => tally.dispose());
    const ids = actions.map(action => harness.stage(action).id);
    for (const id of ids) await harness.resolve({ id });
    return tally.line;
  };
  assert.equal(await lineAfter(run({ exitCode: 0, seconds: 1 })), 'Review done: 1 applied');
  for (const unsuccessful of [
    run({ seconds: 7, endedBy: 'user' }),
    run({ seconds: 7, endedBy: 'timeLimit' }),
    run({ seconds: 7 }),
    run({ exitCode: 127, seconds: 0 }),
    {
      apply: () => Promise.resolve({ ...textResult('No such tool.'), isError: true }),
      humanOnly: true as const,
    },
  ])
    assert.equal(await lineAfter({}, unsuccessful), 'Review done: 1 applied, 1 unsuccessful');
  const notStarted = { apply: () => Promise.reject(new Error('spawn ENOENT')), humanOnly: true as const };
  await assert.rejects(lineAfter(notStarted), /spawn ENOENT/);
});
