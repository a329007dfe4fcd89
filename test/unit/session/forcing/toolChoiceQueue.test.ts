import { test } from 'node:test';
import assert from 'node:assert/strict';
import { ToolChoiceQueue, type RejectReason } from '../../../../src/agent/session/forcing/toolChoiceQueue.ts';
import type { ToolChoice } from '../../../../src/agent/session/model/chatProvider.ts';

const choice = (name: string): ToolChoice => ({ type: 'tool', name });
const [a, b, c] = [choice('a'), choice('b'), choice('c')];
const reasons: readonly RejectReason[] = [
  'aborted',
  'error',
  'cleared',
  'removed',
  'unavailable',
  'not_invoked',
];

/** Serves and settles until the queue is empty. */
function drain(queue: ToolChoiceQueue): ToolChoice[] {
  const served: ToolChoice[] = [];
  for (let next = queue.nextToolChoice(); next; next = queue.nextToolChoice()) {
    served.push(next);
    queue.resolve();
  }
  return served;
}

test('an empty queue has no choice, and settling nothing does nothing', () => {
  const queue = new ToolChoiceQueue();
  queue.resolve();
  queue.reject('error');
  assert.equal(queue.nextToolChoice(), undefined);
  assert.equal(queue.hasInFlight, false);
  assert.equal(queue.hasQueued, false);
  assert.equal(queue.peekInFlightInvoker(), undefined);
});

test('choices are served in the order of pushing, and `now` goes to the head', () => {
  const queue = new ToolChoiceQueue();
  queue.pushOnce(a);
  queue.pushOnce(b);
  queue.pushOnce(c, { now: true });
  assert.deepEqual(drain(queue), [c, a, b]);
});

test('a sequence is served whole before what was pushed after it', () => {
  const queue = new ToolChoiceQueue();
  queue.pushSequence([a, b]);
  queue.pushOnce(c);
  assert.deepEqual(drain(queue), [a, b, c]);
});

test('`now` comes between the rest of a sequence that is being served', () => {
  const queue = new ToolChoiceQueue();
  queue.pushSequence([a, b]);
  assert.equal(queue.nextToolChoice(), a);
  queue.resolve();
  queue.pushOnce(c, { now: true });
  assert.deepEqual(drain(queue), [c, b]);
});

test('changing the array of a sequence afterwards changes nothing', () => {
  const queue = new ToolChoiceQueue();
  const choices = [a];
  queue.pushSequence(choices);
  choices.push(b);
  assert.deepEqual(drain(queue), [a]);
});

test('an endless iterable is drawn one by one, each when its request is made', () => {
  let drawn = 0;
  const queue = new ToolChoiceQueue();
  queue.push(
    (function* () {
      for (;;) {
        drawn++;
        yield a;
      }
    })(),
    { label: 'endless' },
  );
  assert.equal(drawn, 0);
  for (let n = 1; n <= 3; n++) {
    assert.equal(queue.nextToolChoice(), a);
    assert.equal(drawn, n);
    queue.resolve();
  }
  assert.equal(queue.hasQueued, true);
  queue.removeByLabel('endless');
  assert.equal(queue.nextToolChoice(), undefined);
});

test('an empty iterable is passed over', () => {
  const queue = new ToolChoiceQueue();
  queue.pushSequence([]);
  queue.push(new Set<ToolChoice>());
  queue.pushOnce(a);
  assert.deepEqual(drain(queue), [a]);
});

test('a served choice is in flight until it is settled, and no longer queued', () => {
  const queue = new ToolChoiceQueue();
  queue.pushOnce(a, { label: 'one' });
  assert.deepEqual(queue.inspect(), { queued: ['one'], inFlight: undefined });
  assert.equal(queue.hasQueued, true);
  queue.nextToolChoice();
  assert.deepEqual(queue.inspect(), { queued: [], inFlight: { label: 'one', invoked: false } });
  assert.equal(queue.hasQueued, false);
  assert.equal(queue.hasInFlight, true);
  queue.resolve();
  assert.deepEqual(queue.inspect(), { queued: [], inFlight: undefined });
  assert.equal(queue.hasInFlight, false);
});

test('the rest of a sequence stays queued while one of it is in flight', () => {
  const queue = new ToolChoiceQueue();
  queue.pushSequence([a, b], { label: 'two' });
  queue.nextToolChoice();
  assert.equal(queue.hasQueued, true);
  queue.resolve();
  queue.nextToolChoice();
  assert.equal(queue.hasQueued, false);
});

test('onResolved is called once, with the choice that was settled', () => {
  const queue = new ToolChoiceQueue();
  const heard: unknown[] = [];
  queue.pushOnce(a, {
    onResolved: served => heard.push(served),
    onRejected: () => assert.fail('not rejected'),
  });
  queue.nextToolChoice();
  queue.resolve();
  queue.resolve();
  assert.deepEqual(heard, [a]);
});

for (const reason of reasons) {
  test(`onRejected is called once, with the choice and ${reason}; the default is to drop it`, () => {
    const queue = new ToolChoiceQueue();
    const heard: unknown[] = [];
    queue.pushOnce(a, {
      onResolved: () => assert.fail('not resolved'),
      onRejected: (served, why) => void heard.push(served, why),
    });
    queue.nextToolChoice();
    queue.reject(reason);
    queue.reject(reason);
    assert.deepEqual(heard, [a, reason]);
    assert.equal(queue.nextToolChoice(), undefined);
  });
}

test('requeue replays the same value at the head, with its label and all its callbacks', async () => {
  const queue = new ToolChoiceQueue<string, string>();
  const heard: string[] = [];
  let answers = ['requeue', 'requeue'] as ('requeue' | 'drop')[];
  queue.pushOnce(a, {
    label: 'mine',
    onResolved: () => heard.push('resolved'),
    onRejected: (_, reason) => {
      heard.push(reason);
      const [answer = 'drop', ...rest] = answers;
      answers = rest;
      return answer;
    },
    onInvoked: args => Promise.resolve(`ran ${args}`),
  });
  queue.pushOnce(b);
  for (const reason of ['error', 'aborted'] as const) {
    assert.equal(queue.nextToolChoice(), a);
    assert.equal(queue.consumeLastServedLabel(), 'mine');
    queue.reject(reason);
  }
  assert.equal(queue.nextToolChoice(), a);
  assert.deepEqual(queue.inspect().inFlight, { label: 'mine', invoked: false });
  assert.equal(await queue.peekInFlightInvoker()?.('it'), 'ran it');
  queue.resolve();
  assert.deepEqual(heard, ['error', 'aborted', 'resolved']);
  assert.equal(queue.nextToolChoice(), b);
});

test('requeue within a sequence replays the value before the rest', () => {
  const queue = new ToolChoiceQueue();
  let rejections = 0;
  queue.pushSequence([a, b], { onRejected: () => (rejections++ === 0 ? 'requeue' : 'drop') });
  queue.nextToolChoice();
  queue.reject('error');
  assert.deepEqual(drain(queue), [a, b]);
});

test('requeue goes before what was pushed with `now` in the meantime', () => {
  const queue = new ToolChoiceQueue();
  queue.pushOnce(a, { onRejected: () => 'requeue' });
  queue.nextToolChoice();
  queue.pushOnce(b, { now: true });
  queue.reject('error');
  assert.deepEqual([queue.nextToolChoice(), queue.resolve(), queue.nextToolChoice()], [a, undefined, b]);
});

test('drop gives up the value and goes on with its sequence', () => {
  const queue = new ToolChoiceQueue();
  queue.pushSequence([a, b], { onRejected: () => 'drop' });
  queue.nextToolChoice();
  queue.reject('error');
  assert.deepEqual(drain(queue), [b]);
});

test('drop_sequence gives up the value and the rest of its sequence, and nothing else', () => {
  const queue = new ToolChoiceQueue();
  queue.pushSequence([a, b], { onRejected: () => 'drop_sequence' });
  queue.pushOnce(c);
  queue.nextToolChoice();
  queue.reject('error');
  assert.deepEqual(drain(queue), [c]);
});

test('drop_sequence of a value that was requeued before gives up the rest too', () => {
  const queue = new ToolChoiceQueue();
  const answers = ['requeue', 'drop_sequence'] as const;
  let n = 0;
  queue.pushSequence([a, b], { onRejected: () => answers[n++] });
  queue.nextToolChoice();
  queue.reject('error');
  assert.equal(queue.nextToolChoice(), a);
  queue.reject('error');
  assert.equal(queue.nextToolChoice(), undefined);
});

test('a directive whose invoker was not run is rejected with not_invoked at the end of the turn', () => {
  const queue = new ToolChoiceQueue();
  const heard: string[] = [];
  queue.pushOnce(a, {
    onInvoked: () => Promise.resolve(),
    onResolved: () => heard.push('resolved'),
    onRejected: (_, reason) => void heard.push(reason),
  });
  queue.nextToolChoice();
  assert.notEqual(queue.peekInFlightInvoker(), undefined, 'to look is not to run');
  queue.resolve();
  assert.deepEqual(heard, ['not_invoked']);
});

test('an invoker counts as run whatever comes of it', async () => {
  const queue = new ToolChoiceQueue<void, void>();
  const heard: string[] = [];
  queue.pushOnce(a, {
    onInvoked: () => Promise.reject(new Error('failed')),
    onResolved: () => heard.push('resolved'),
    onRejected: (_, reason) => void heard.push(reason),
  });
  queue.nextToolChoice();
  await assert.rejects(queue.peekInFlightInvoker()?.() ?? assert.fail(), /failed/);
  assert.equal(queue.inspect().inFlight?.invoked, true);
  queue.resolve();
  assert.deepEqual(heard, ['resolved']);
});

test('a directive without an invoker has none to run, and ends well', () => {
  const queue = new ToolChoiceQueue();
  let resolved = false;
  queue.pushOnce(a, { onResolved: () => (resolved = true) });
  queue.nextToolChoice();
  assert.equal(queue.peekInFlightInvoker(), undefined);
  queue.resolve();
  assert.equal(resolved, true);
});

test('a choice that was never settled is rejected with error when the next one is asked for', () => {
  const queue = new ToolChoiceQueue();
  const heard: string[] = [];
  queue.pushOnce(a, { onRejected: (_, reason) => void heard.push(reason) });
  queue.pushOnce(b);
  queue.nextToolChoice();
  assert.equal(queue.nextToolChoice(), b);
  assert.deepEqual(heard, ['error']);
});

test('removeByLabel drops every directive with the label, and rejects the one in flight with removed', () => {
  const queue = new ToolChoiceQueue();
  const heard: string[] = [];
  const onRejected = (_: ToolChoice, reason: RejectReason) => {
    heard.push(reason);
    return 'requeue' as const;
  };
  queue.pushSequence([a, b], { label: 'mine', onRejected });
  queue.pushOnce(b, { label: 'other' });
  queue.pushOnce(c, { label: 'mine', onRejected });
  queue.nextToolChoice();
  queue.removeByLabel('mine');
  assert.deepEqual(heard, ['removed'], 'the answer requeue is ignored');
  assert.equal(queue.hasInFlight, false);
  assert.deepEqual(queue.inspect().queued, ['other']);
});

test('removing a directive that is already invoked lets it complete', () => {
  const queue = new ToolChoiceQueue<void, void>();
  const heard: string[] = [];
  queue.pushOnce(a, {
    label: 'mine',
    onInvoked: () => Promise.resolve(),
    onResolved: () => heard.push('resolved'),
    onRejected: (_, reason) => void heard.push(reason),
  });
  queue.nextToolChoice();
  void queue.peekInFlightInvoker()?.();
  queue.removeByLabel('mine');
  queue.resolve();
  assert.deepEqual(heard, ['resolved']);
});

test('removing what is not there does nothing', () => {
  const queue = new ToolChoiceQueue();
  queue.pushOnce(a, { label: 'other' });
  queue.nextToolChoice();
  queue.removeByLabel('mine');
  assert.equal(queue.hasInFlight, true);
});

test('a handle removes its own directive only, also after it was requeued', () => {
  const queue = new ToolChoiceQueue();
  const handle = queue.pushOnce(a, { label: 'same', onRejected: () => 'requeue' });
  queue.pushOnce(b, { label: 'same' });
  queue.nextToolChoice();
  queue.reject('error');
  handle.remove();
  assert.deepEqual(drain(queue), [b]);
});

test('two directives that share their options are removed apart', () => {
  const queue = new ToolChoiceQueue();
  const options = { label: 'shared' };
  const handle = queue.pushOnce(a, options);
  queue.pushOnce(b, options);
  handle.remove();
  assert.deepEqual(drain(queue), [b]);
});

test('clear drops everything and rejects the one in flight with cleared, whatever it answers', () => {
  const queue = new ToolChoiceQueue();
  const heard: string[] = [];
  queue.pushSequence([a, b], {
    onRejected: (_, reason) => {
      heard.push(reason);
      return 'requeue';
    },
  });
  queue.pushOnce(c, { onRejected: () => assert.fail('it was not in flight') });
  queue.nextToolChoice();
  queue.clear();
  assert.deepEqual(heard, ['cleared']);
  assert.equal(queue.hasInFlight, false);
  assert.equal(queue.nextToolChoice(), undefined);
});

test('the label of the choice served last is read once', () => {
  const queue = new ToolChoiceQueue();
  assert.equal(queue.consumeLastServedLabel(), undefined);
  queue.pushOnce(a, { label: 'first' });
  queue.pushOnce(b);
  queue.nextToolChoice();
  queue.resolve();
  assert.equal(queue.consumeLastServedLabel(), 'first');
  assert.equal(queue.consumeLastServedLabel(), undefined);
  queue.nextToolChoice();
  assert.equal(queue.consumeLastServedLabel(), undefined, 'the one served last has no label');
});

test('a callback that pushes is not lost', () => {
  const queue = new ToolChoiceQueue();
  queue.pushOnce(a, { onResolved: () => void queue.pushOnce(b), onRejected: () => 'drop' });
  assert.deepEqual(drain(queue), [a, b]);
});
