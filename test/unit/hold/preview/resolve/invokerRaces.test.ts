import { test } from 'node:test';
import assert from 'node:assert/strict';
import { isAbortError } from '../../../../../src/agent/base/errors.ts';
import {
  resultText,
  textResult,
  type AgentToolResult,
} from '../../../../../src/agent/hold/preview/pendingAction.ts';
import { Gate } from '../../../../support/gate.ts';
import { InvokerHarness } from '../../../../support/invokerHarness.ts';

/** A harness with one opaque preview whose apply waits at a gate. */
function heldApply(
  end: () => Promise<ReturnType<typeof textResult>> = () => Promise.resolve(textResult('done')),
) {
  const harness = new InvokerHarness();
  const gate = new Gate();
  const counts = { runs: 0, running: 0, most: 0 };
  harness.stage({
    apply: async () => {
      counts.runs++;
      counts.most = Math.max(counts.most, ++counts.running);
      try {
        await gate.pass();
        return await end();
      } finally {
        counts.running--;
      }
    },
  });
  return { ...harness, gate, counts };
}

/** Lets everything run that is not blocked. */
function nothingMoves(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve));
}

test('while it is being applied, every other resolver waits and is told the final outcome', async () => {
  const { resolve, gate, counts, state, outcomes } = heldApply();
  const first = resolve({ reason: 'mine' });
  const others = [
    resolve({ actor: 'model' }),
    resolve({ actor: 'extension', action: 'discard' }),
    resolve({ revision: 99 }),
  ];
  await gate.reached;
  assert.deepEqual(state(), { kind: 'applying', action: 'apply', actor: 'human' });
  gate.open();
  assert.equal(resultText(await first), 'done');
  for (const other of others) {
    assert.equal(
      resultText(await other),
      'p1 (Edit) was already resolved by the user: applied. Reason: mine',
    );
  }
  assert.deepEqual(counts, { runs: 1, running: 0, most: 1 });
  assert.deepEqual(outcomes(), ['p1 apply applied']);
});

test('when the first one fails, the second is told that it is pending again, and starts nothing', async () => {
  const { resolve, gate, counts } = heldApply(() => Promise.reject(new Error('busy')));
  const first = resolve();
  const second = resolve({ actor: 'model' });
  gate.open();
  await assert.rejects(first, /Apply failed: busy/);
  assert.match(
    resultText(await second),
    /^Another attempt to resolve p1 .* failed: busy\. It is pending again\.$/,
  );
  assert.equal(counts.runs, 1);
});

test('an attempt that begins the moment another one has failed is waited for like any other', async () => {
  const gate = new Gate();
  let runs = 0;
  const harness = new InvokerHarness();
  harness.stage({
    apply: async () => {
      if (++runs === 1) throw new Error('busy');
      await gate.pass();
      return textResult('done');
    },
  });
  let second: Promise<AgentToolResult> | undefined;
  harness.invoker.onDidFailApply(() => (second ??= harness.resolve()));
  await assert.rejects(harness.resolve(), /Apply failed: busy/);
  const third = harness.resolve({ actor: 'model', action: 'discard' });
  gate.open();
  assert.equal(resultText((await second) ?? assert.fail('no second attempt')), 'done');
  assert.match(resultText(await third), /^p1 \(Edit\) was already resolved by the user: applied\./);
});

test('a vote that waits for an attempt waits on if another one begins the moment that it has failed', async () => {
  const [first, second] = [new Gate(), new Gate()];
  let runs = 0;
  const harness = new InvokerHarness();
  harness.stage({
    apply: async () => {
      if (++runs > 1) return second.pass().then(() => textResult('done'));
      await first.pass();
      throw new Error('busy');
    },
  });
  let again: Promise<AgentToolResult> | undefined;
  harness.invoker.onDidFailApply(() => (again ??= harness.resolve()));
  const failing = assert.rejects(harness.resolve(), /Apply failed: busy/);
  const waiting = harness.resolve({ actor: 'model', action: 'discard' });
  first.open();
  await failing;
  await nothingMoves();
  second.open();
  assert.equal(resultText((await again) ?? assert.fail('no second attempt')), 'done');
  assert.match(resultText(await waiting), /^p1 \(Edit\) was already resolved by the user: applied\./);
});

test('a vote that waited for an attempt is told that there is no such preview if its end is already forgotten', async t => {
  const { resolve, gate, store } = heldApply();
  // Forgetting takes longer than the vote waits, so the store answers at once as it does afterwards.
  store.onDidResolve(() => t.mock.method(store, 'get', () => undefined));
  const first = resolve();
  const second = assert.rejects(resolve({ actor: 'model' }), /^ToolError: There is no preview p1\./);
  gate.open();
  assert.equal(resultText(await first), 'done');
  await second;
});

test('a second resolver is told so from the very first moment: there is no gap before the callback starts', async () => {
  const { stage, resolve, workspace } = new InvokerHarness();
  stage();
  const results = await Promise.all(Array.from({ length: 20 }, () => resolve({ actor: 'human' })));
  assert.equal(results.filter(result => resultText(result).startsWith('Applied:')).length, 1);
  assert.equal(workspace.writes.length, 1);
});

test('two previews are applied side by side', async () => {
  const { stage, resolve } = new InvokerHarness();
  const gate = new Gate();
  stage({ apply: () => gate.pass().then(() => textResult('slow')) });
  stage({ apply: () => Promise.resolve(textResult('fast')) });
  const slow = resolve({ id: 'p1' });
  assert.equal(resultText(await resolve({ id: 'p2' })), 'fast');
  gate.open();
  assert.equal(resultText(await slow), 'slow');
});

test('an abort before the start cancels: the callback never runs and nothing is recorded', async () => {
  const { resolve, counts, state, outcomes } = heldApply();
  await assert.rejects(resolve({ signal: AbortSignal.abort() }), isAbortError);
  assert.equal(counts.runs, 0);
  assert.equal(state().kind, 'pending');
  assert.deepEqual(outcomes(), []);
});

test('an abort while the journal is being written cancels: the callback never runs', async () => {
  const { resolve, counts, state, store, log } = heldApply();
  const writing = new Gate();
  const append = log.append.bind(log);
  log.appendNow = () => false;
  log.append = async entry => {
    if (entry.type === 'commit') await writing.pass();
    return append(entry);
  };
  const controller = new AbortController();
  const call = resolve({ actor: 'model', signal: controller.signal });
  await writing.reached;
  controller.abort();
  await assert.rejects(call, isAbortError);
  const recorded = new Promise<void>(resolve => store.onDidResolve(() => resolve()));
  writing.open();
  await Promise.race([recorded, nothingMoves()]);
  assert.equal(counts.runs, 0);
  assert.equal(state().kind, 'pending');
  assert.deepEqual(store.interruptedCommits, []);
});

test('an abort while it runs reaches the caller at once; the callback runs to its end and is recorded truly', async () => {
  const { resolve, gate, counts, state, outcomes, store } = heldApply();
  const controller = new AbortController();
  const call = resolve({ actor: 'model', signal: controller.signal });
  await gate.reached;
  controller.abort();
  await assert.rejects(call, error => isAbortError(error) && !/Apply failed/.test(String(error)));
  assert.equal(state().kind, 'applying');

  const second = resolve({ actor: 'human' });
  assert.equal(counts.runs, 1, 'it is never started twice');
  const recorded = new Promise<void>(resolve => store.onDidResolve(() => resolve()));
  gate.open();
  await recorded;
  assert.equal(state().kind, 'applied');
  assert.deepEqual(outcomes(), ['p1 apply applied']);
  assert.match(resultText(await second), /already resolved by the model: applied/);
  assert.equal(counts.runs, 1);
});

test('an apply that fails after its caller aborted is pending again, with its error, and no rejection is unhandled', async () => {
  const { resolve, gate, state, store } = heldApply(() => Promise.reject(new Error('late')));
  const controller = new AbortController();
  const call = resolve({ signal: controller.signal });
  await gate.reached;
  controller.abort();
  await assert.rejects(call, isAbortError);
  const recorded = new Promise<void>(resolve => store.onDidResolve(() => resolve()));
  gate.open();
  await recorded;
  assert.deepEqual(state(), { kind: 'pending', stale: [], lastError: 'late' });
});

test('an abort during a commit leaves no file half written', async () => {
  const { stage, resolve, workspace, store, state } = new InvokerHarness();
  const gate = workspace.holdWrites();
  stage();
  const controller = new AbortController();
  const call = resolve({ signal: controller.signal });
  await gate.reached;
  controller.abort();
  await assert.rejects(call, isAbortError);
  const recorded = new Promise<void>(resolve => store.onDidResolve(() => resolve()));
  gate.open();
  await recorded;
  assert.equal(workspace.text('a.txt'), 'A');
  assert.equal(state().kind, 'applied');
});

test('who waits for the outcome of another can stop waiting', async () => {
  const { resolve, gate, state } = heldApply();
  const first = resolve();
  const controller = new AbortController();
  const second = resolve({ actor: 'model', signal: controller.signal });
  controller.abort();
  await assert.rejects(second, isAbortError);
  gate.open();
  await first;
  assert.equal(state().kind, 'applied');
});

test('a listener that resolves on the spot cannot start a second run', async () => {
  const { resolve, gate, counts, store } = heldApply();
  const nested: Promise<AgentToolResult>[] = [];
  store.onDidChange(preview => {
    if (preview.state.kind === 'applying') nested.push(resolve({ actor: 'extension' }));
  });
  const call = resolve();
  gate.open();
  await call;
  assert.deepEqual((await Promise.all(nested)).map(resultText), [
    'p1 (Edit) was already resolved by the user: applied. Reason: ok',
  ]);
  assert.equal(counts.runs, 1);
});

for (const id of ['p1', 'p2', 'p3'])
  test(`a callback within another one that votes on a preview which is being resolved (${id}) is refused, and goes on`, async () => {
    const { stage, resolve, outcomes } = new InvokerHarness();
    const message = new RegExp(`^${id} .*is being resolved, and a callback cannot wait for that`);
    const other = new Gate();
    stage({ apply: () => resolve({ id: 'p2' }) });
    stage({
      apply: async () => {
        await assert.rejects(resolve({ id, action: 'discard' }), { name: 'ToolError', message });
        return textResult('both');
      },
    });
    stage({ apply: () => other.pass().then(() => textResult('other')) });
    const third = resolve({ id: 'p3' });
    await other.reached;
    assert.equal(resultText(await resolve({ id: 'p1' })), 'both');
    other.open();
    await third;
    assert.deepEqual(outcomes(), ['p2 apply applied', 'p1 apply applied', 'p3 apply applied']);
  });

test('once a callback has returned, what it has started may wait', async () => {
  const { stage, resolve } = new InvokerHarness();
  const [own, other] = [new Gate(), new Gate()];
  let late: Promise<AgentToolResult> | undefined;
  stage({
    apply: () => {
      late = own.pass().then(() => resolve({ id: 'p2' }));
      return Promise.resolve(textResult('first'));
    },
  });
  stage({ apply: () => other.pass().then(() => textResult('second')) });
  const second = resolve({ id: 'p2' });
  await resolve({ id: 'p1' });
  own.open();
  await nothingMoves();
  other.open();
  await second;
  assert.match(resultText((await late) ?? assert.fail()), /^p2 .*was already resolved by the user: applied/);
});
