import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Emitter } from '../../../../../src/agent/base/event.ts';
import type { PreviewOrigin } from '../../../../../src/agent/hold/preview/preview.ts';
import { PreviewStore } from '../../../../../src/agent/hold/preview/previewStore.ts';
import { Invoker } from '../../../../../src/agent/hold/preview/resolve/invoker.ts';
import type { SessionEvent } from '../../../../../src/agent/session/events.ts';
import type { SessionState } from '../../../../../src/agent/session/conversation/storage/sessionEntry.ts';
import { create } from '../../../../support/changes.ts';
import { draft } from '../../../../support/drafts.ts';
import * as stub from '../../../../support/fuzz/vscodeStub.ts';
import { MemoryWorkspace } from '../../../../support/memoryWorkspace.ts';
import { MemoryPreviewLog } from '../../../../support/testSession.ts';

stub.useVscodeStub();
const { WaitingNotice } = await import('../../../../../src/views/review/pending/waitingNotice.ts');

function given(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  const invoker = new Invoker(store, new MemoryWorkspace({}), () => 'apply');
  const events = new Emitter<SessionEvent>();
  const session = { state: 'idle' as SessionState, onDidEmit: events.event };
  const now = { isInSight: false, reviews: 0 };
  const shown: string[] = [];
  const clicks: ((button: string | undefined) => void)[] = [];
  Object.assign(stub.window, {
    showInformationMessage: (text: string, button: string) => {
      shown.push(`${text} [${button}]`);
      return new Promise(resolve => clicks.push(resolve));
    },
  });
  Object.assign(stub.commands, {
    executeCommand: async (id: string) => id === 'redline.preview.open' && now.reviews++,
  });
  const notice = new WaitingNotice({ session, store } as never, () => now.isInSight);
  t.after(() => notice.dispose());
  return {
    now,
    shown,
    clicks,
    stage: (path: string, origin?: PreviewOrigin) =>
      store.stage({ ...draft({ changes: [create(path, 'x')] }), ...(origin ? { origin } : {}) }).preview.id,
    discard: (id: string) => invoker.resolve({ id, action: 'discard', reason: 'test', actor: 'human' }),
    go: (state: SessionState) => {
      session.state = state;
      events.fire({ type: 'state_changed', state });
    },
    wait: () => t.mock.timers.tick(1_000),
  };
}

test('one notification for each time that the agent waits out of sight, whose button opens the review', async t => {
  const { now, shown, clicks, stage, go, wait } = given(t);
  go('running');
  stage('a.ts');
  go('awaitingReview');
  assert.deepEqual(shown, []);
  wait();
  assert.equal(shown.length, 1);
  assert.match(shown[0] ?? '', /^Redline waits for your review: .* \[Review\]$/);
  stage('b.ts');
  wait();
  assert.equal(shown.length, 1, 'it still waits');
  go('running');
  go('awaitingReview');
  wait();
  assert.equal(shown[1], 'Redline waits for your review of 2 changes. [Review]');
  clicks[0]?.(undefined);
  await new Promise(setImmediate);
  assert.equal(now.reviews, 0);
  go('idle');
  clicks[1]?.('Review');
  await new Promise(setImmediate);
  assert.equal(now.reviews, 1, 'also when it no longer waits');
});

test('nothing while it is in sight or resolved within a moment', async t => {
  const { now, shown, stage, discard, go, wait } = given(t);
  now.isInSight = true;
  const first = stage('a.ts');
  go('awaitingReview');
  wait();
  now.isInSight = false;
  wait();
  assert.deepEqual(shown, [], 'it was seen when it began');
  go('running');
  go('awaitingReview');
  await discard(first);
  go('idle');
  wait();
  assert.deepEqual(shown, []);
});

test('an agent of another program waits as long as something of it is pending', async t => {
  const { shown, stage, discard, wait } = given(t);
  stage('mine.ts');
  wait();
  assert.deepEqual(shown, [], 'what the user or a call staged while the session runs is not waited for');
  const origin = { sessionId: 's9', agent: { name: 'claude-code', version: '1' }, asksModel: false };
  const one = stage('a.ts', origin);
  const two = stage('b.ts', origin);
  wait();
  assert.equal(shown.length, 1);
  await discard(one);
  wait();
  assert.equal(shown.length, 1);
  await discard(two);
  stage('c.ts', origin);
  wait();
  assert.equal(shown.length, 2);
});
