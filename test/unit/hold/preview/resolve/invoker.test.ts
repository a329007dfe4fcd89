import { test } from 'node:test';
import assert from 'node:assert/strict';
import { ToolError } from '../../../../../src/agent/base/errors.ts';
import { JournalError } from '../../../../../src/agent/hold/preview/errors.ts';
import {
  resultText,
  textResult,
  type AgentToolResult,
} from '../../../../../src/agent/hold/preview/pendingAction.ts';
import { PreviewStore } from '../../../../../src/agent/hold/preview/previewStore.ts';
import { alreadyResolvedText } from '../../../../../src/agent/hold/preview/resolve/resolveTexts.ts';
import { modify, remove, rename } from '../../../../support/changes.ts';
import { Gate } from '../../../../support/gate.ts';
import { detailsOf, InvokerHarness } from '../../../../support/invokerHarness.ts';
import { MemoryPreviewLog } from '../../../../support/testSession.ts';

test('apply with changes writes them, and says so', async () => {
  const { stage, resolve, workspace, state } = new InvokerHarness();
  stage({
    apply: () => assert.fail('Redline writes declared changes itself'),
    changes: [modify('a.txt', 'a', 'A')],
  });
  const result = await resolve({ reason: 'good' });
  assert.equal(resultText(result), 'Applied: p1 (Edit). Reason: good');
  assert.equal(result.isError, undefined);
  assert.equal(workspace.text('a.txt'), 'A');
  assert.equal(state().kind, 'applied');
});

test('apply names the files that are not saved yet', async () => {
  const { stage, resolve, workspace } = new InvokerHarness();
  workspace.type('a.txt', 'a');
  stage();
  assert.match(
    resultText(await resolve()),
    /Not on disk until the user saves, since the editor has other unsaved changes: a\.txt\.$/,
  );
});

test("apply of an opaque preview gives the callback's content, with reason and extra handed through", async () => {
  const { stage, resolve, state } = new InvokerHarness();
  const calls: unknown[] = [];
  stage({
    apply: (...args) => {
      calls.push(args);
      return Promise.resolve(textResult('Deployed.', { url: 'x' }));
    },
  });
  const extra = { title: 't' };
  const result = await resolve({ reason: ' as given ', extra });
  assert.deepEqual(calls, [[' as given ', extra]]);
  assert.equal(resultText(result), 'Deployed.');
  assert.deepEqual(result.details, {
    action: 'apply',
    reason: ' as given ',
    extra,
    sourceToolName: 'test',
    label: 'Edit',
    sourceResultDetails: { url: 'x' },
  });
  assert.equal(state().kind, 'applied');
});

test('details hold no extra and no source details where there are none', async () => {
  const { stage, resolve } = new InvokerHarness();
  stage({ apply: () => Promise.resolve({ content: [], details: null }) });
  assert.deepEqual((await resolve()).details, {
    action: 'apply',
    reason: 'ok',
    sourceToolName: 'test',
    label: 'Edit',
  });
});

test('the content of a callback comes back as it is, empty or of another kind than text', async () => {
  const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' };
  for (const [content, shown, recorded] of [
    [[], '', 'Applied: p1 (Edit). Reason: ok'],
    [[image], '[image, which is not shown]', '[image, which is not shown]'],
    [[null, 'b', 7], '[Something, which is not shown]\nb\n[Something, which is not shown]', undefined],
    [[{ type: 'text', text: 'a', annotations: {} }, image], 'a\n[image, which is not shown]', undefined],
  ] as const) {
    const { stage, resolve, store } = new InvokerHarness();
    const answer = { content } as unknown as AgentToolResult;
    stage({ apply: () => Promise.resolve(answer), reject: () => Promise.resolve(answer) });
    const result = await resolve();
    assert.deepEqual(result.content, content);
    assert.equal(resultText(result), shown);
    assert.equal(store.ledger().at(-1)?.message, recorded ?? shown);
    stage({ reject: () => Promise.resolve(answer) });
    assert.deepEqual((await resolve({ id: 'p2', action: 'discard' })).content, content);
  }
});

test('an answer of a callback that is no result is replaced by words', async () => {
  const answers: readonly unknown[] = [undefined, null, {}, 7];
  for (const answer of answers) {
    const { stage, resolve } = new InvokerHarness();
    stage({ apply: () => Promise.resolve(answer as AgentToolResult) });
    assert.equal(resultText(await resolve()), 'Applied: p1 (Edit). Reason: ok');
  }
});

test('falsy details of the callback are details', async () => {
  const { stage, resolve } = new InvokerHarness();
  stage({ apply: () => Promise.resolve({ content: [], details: 0 }) });
  assert.equal(detailsOf(await resolve()).sourceResultDetails, 0);
});

test('apply that throws a ToolError gives that error as it is; the preview is pending again', async () => {
  const { stage, resolve, state, outcomes } = new InvokerHarness();
  const own = new ToolError('Log in first.');
  stage({ apply: () => Promise.reject(own) });
  await assert.rejects(resolve(), error => error === own);
  assert.deepEqual(state(), { kind: 'pending', stale: [], lastError: 'Log in first.' });
  assert.deepEqual(outcomes(), ['p1 apply failed']);
});

test('apply that throws anything else gives “Apply failed” with its message', async () => {
  for (const [thrown, message] of [
    [new TypeError('x is not a function'), 'Apply failed: x is not a function'],
    ['a word', 'Apply failed: a word'],
  ] as const) {
    const { stage, resolve, state } = new InvokerHarness();
    stage({
      apply: () => {
        // eslint-disable-next-line @typescript-eslint/only-throw-error -- a producer may throw anything
        throw thrown;
      },
    });
    await assert.rejects(resolve(), error => error instanceof ToolError && error.message === message);
    assert.equal(state().kind, 'pending');
  }
});

test('a failed apply can be tried again with the same callback, and asks for its reminder after each failure', async () => {
  const { stage, resolve, invoker, outcomes, state } = new InvokerHarness();
  const renewed: string[] = [];
  invoker.onDidFailApply(preview => renewed.push(`${preview.id} ${preview.state.kind}`));
  let runs = 0;
  stage({
    apply: () => (++runs < 3 ? Promise.reject(new Error('busy')) : Promise.resolve(textResult('ok'))),
  });
  await assert.rejects(resolve());
  await assert.rejects(resolve());
  await resolve();
  assert.equal(runs, 3);
  assert.deepEqual(renewed, ['p1 pending', 'p1 pending']);
  assert.deepEqual(outcomes(), ['p1 apply failed', 'p1 apply failed', 'p1 apply applied']);
  assert.equal(state().kind, 'applied');
});

test('a hook that fails during the renewal never masks the original error', async t => {
  const { stage, resolve, invoker, store, state } = new InvokerHarness();
  const hookFailures: unknown[] = [];
  t.mock.method(globalThis, 'queueMicrotask', (rethrow: () => void) => {
    assert.throws(rethrow, error => hookFailures.push(error) > 0);
  });
  const broken = new Error('hook');
  stage({ apply: () => Promise.reject(new ToolError('original')) });
  const fail = (): never => {
    throw broken;
  };
  invoker.onDidFailApply(fail);
  store.onDidChange(fail);
  store.onDidResolve(fail);
  await assert.rejects(resolve(), { name: 'ToolError', message: 'original' });
  assert.deepEqual(hookFailures, [broken, broken, broken, broken], 'begin, end, resolved, renewal');
  assert.equal(state().kind, 'pending');
});

test('apply that returns an error is consumed: state applied, and the outcome says so', async () => {
  const { stage, resolve, state, store, invoker } = new InvokerHarness();
  invoker.onDidFailApply(() => assert.fail('there is nothing to try again'));
  let runs = 0;
  stage({
    apply: () => {
      runs++;
      return Promise.resolve({ ...textResult('exit code 1'), isError: true });
    },
  });
  const result = await resolve();
  assert.equal(result.isError, true);
  assert.equal(resultText(result), 'exit code 1');
  assert.equal(state().kind, 'applied');
  assert.equal(store.ledger()[0]?.outcome, 'returnedError');
  assert.equal(store.ledger()[0]?.message, 'exit code 1');
  await resolve();
  assert.equal(runs, 1);
});

test('an opaque preview whose callback is gone cannot be applied, only discarded', async () => {
  const { store, resolve, state } = new InvokerHarness();
  store.stage({
    label: 'Lost',
    sourceToolName: 'test',
    kind: 'action',
    changes: null,
    dependsOn: [],
    origin: null,
    stagedAt: '2026-01-01T00:00:00.000Z',
  });
  await assert.rejects(
    resolve(),
    /^ToolError: p1 \(Lost\) has no action to apply, so it can only be discarded\.$/,
  );
  await resolve({ action: 'discard' });
  assert.equal(state().kind, 'discarded');
});

test('discard without a reject callback says what was discarded and why', async () => {
  const { stage, resolve, workspace, state } = new InvokerHarness();
  stage();
  const result = await resolve({ action: 'discard', reason: 'wrong file' });
  assert.equal(resultText(result), 'Discarded: Edit. Reason: wrong file');
  assert.equal(workspace.text('a.txt'), 'a');
  assert.equal(state().kind, 'discarded');
});

test('discard with a reject callback gives its result, or the default where it returns none', async () => {
  for (const [own, text] of [
    [textResult('Cleaned up.', { n: 1 }), 'Cleaned up.'],
    [undefined, 'Discarded: Edit. Reason: ok'],
  ] as const) {
    const { stage, resolve } = new InvokerHarness();
    const calls: unknown[] = [];
    stage({
      apply: () => assert.fail('it is discarded'),
      reject: (...args) => {
        calls.push(args);
        return Promise.resolve(own);
      },
    });
    const result = await resolve({ action: 'discard', extra: { x: 1 } });
    assert.equal(resultText(result), text);
    assert.deepEqual(detailsOf(result).sourceResultDetails, own?.details);
    assert.deepEqual(calls, [['ok', { x: 1 }]]);
  }
});

test('a reject callback that throws gives its error unwrapped, and the preview stays pending', async () => {
  const { stage, resolve, state, outcomes, invoker } = new InvokerHarness();
  invoker.onDidFailApply(() => assert.fail('nothing was applied'));
  const own = new TypeError('cannot clean up');
  stage({ apply: () => assert.fail(), reject: () => Promise.reject(own) });
  await assert.rejects(resolve({ action: 'discard' }), error => error === own);
  assert.equal(state().kind, 'pending');
  assert.deepEqual(outcomes(), ['p1 discard failed']);
});

test('an unknown id is an error that says what to do', async () => {
  await assert.rejects(
    new InvokerHarness().resolve({ id: 'p9' }),
    /^ToolError: There is no preview p9\. Call pending/,
  );
});

for (const action of ['apply', 'discard'] as const) {
  test(`a preview that was resolved before (${action}) gives a normal result telling who, how and why`, async () => {
    const { stage, resolve, outcomes } = new InvokerHarness();
    stage();
    await resolve({ action, reason: 'first come' });
    const result = await resolve({ actor: 'model', action: 'discard' });
    const how = action === 'apply' ? 'applied' : 'discarded';
    assert.equal(
      resultText(result),
      `p1 (Edit) was already resolved by the user: ${how}. Reason: first come`,
    );
    assert.equal(result.isError, undefined);
    assert.equal(outcomes().length, 1, 'no second attempt');
  });
}

test('an expired preview tells that it did not run', async () => {
  const { log, stage, store, resolve } = new InvokerHarness();
  stage({ apply: () => assert.fail('it is gone') });
  store.restore(log.entries.slice(1));
  assert.match(resultText(await resolve()), /has expired: it did not run/);
});

test('a vote on an older revision is refused; on the current one it counts', async () => {
  const { stage, resolve, log, store, workspace } = new InvokerHarness();
  stage();
  const changes = [modify('a.txt', 'a', 'B')];
  store.restore([
    ...log.entries.slice(1),
    { type: 'revised', id: 'p1', revision: 2, changes, dependsOn: [], by: 'rebase' },
  ]);
  for (const action of ['apply', 'discard'] as const) {
    for (const actor of ['human', 'model', 'extension'] as const) {
      await assert.rejects(
        resolve({ revision: 1, action, actor }),
        /p1 \(Edit\) is now at revision 2, .* so it does not count/,
      );
    }
  }
  assert.equal(store.ledger().length, 0);
  await resolve({ revision: 2 });
  assert.equal(workspace.text('a.txt'), 'B');
});

test('a base that changed: nothing is written, the preview is pending and stale', async () => {
  const { stage, resolve, workspace, state, outcomes } = new InvokerHarness();
  stage();
  workspace.put('a.txt', 'mine');
  await assert.rejects(resolve(), /read a\.txt again and stage it anew\.$/);
  assert.equal(workspace.text('a.txt'), 'mine');
  const now = state();
  assert.ok(now.kind === 'pending');
  assert.deepEqual(now.stale, ['a.txt']);
  // The model's advice is not for the person who reads the card or the ledger.
  assert.equal(now.lastError, 'Nothing was written: a.txt changed after the preview was made.');
  assert.deepEqual(outcomes(), ['p1 apply failed']);
});

test('each attempt stands in the ledger with everything that is known', async () => {
  const { stage, resolve, store, workspace } = new InvokerHarness();
  const preview = stage({ details: { ticket: 7 } });
  workspace.failWrite(1);
  await assert.rejects(resolve({ actor: 'extension' }));
  await resolve({ actor: 'model', reason: 'second try', extra: { at: new Date(0) } });
  const [failed, applied] = store.ledger();
  const [change] = preview.changes ?? [];
  const files = [{ path: 'a.txt', before: change?.before?.hash, after: change?.after?.hash }];
  const common = {
    previewId: 'p1',
    label: 'Edit',
    kind: 'files',
    sourceToolName: 'test',
    action: 'apply',
    details: { ticket: 7 },
    files,
  };
  assert.deepEqual(
    { ...failed, at: '' },
    {
      ...common,
      actor: 'extension',
      reason: 'ok',
      outcome: 'failed',
      message: 'a.txt could not be written: ENOSPC: no space left on device, write. Nothing was changed.',
      at: '',
    },
  );
  assert.deepEqual(
    { ...applied, at: '' },
    {
      ...common,
      actor: 'model',
      reason: 'second try',
      extra: { at: '1970-01-01T00:00:00.000Z' },
      outcome: 'applied',
      message: 'Applied: p1 (Edit). Reason: second try',
      at: '',
    },
  );
  assert.ok(Math.abs(Date.parse(applied?.at ?? '') - Date.now()) < 60_000);
});

test('a log that cannot be written changes no outcome of a discard or a recommendation, and is reported once', async () => {
  for (const authority of ['apply', 'recommend'] as const) {
    const { stage, resolve, log, logFailures, state } = new InvokerHarness(authority);
    stage({ apply: () => Promise.resolve(textResult('done')) });
    stage();
    log.fault = new Error('disk full');
    await resolve({ id: 'p2', action: 'discard' });
    const action = authority === 'apply' ? 'discard' : 'apply';
    const result = await resolve({ actor: 'model', action });
    assert.equal(result.isError, undefined);
    assert.deepEqual(logFailures, [log.fault]);
    assert.equal(state().kind, authority === 'apply' ? 'discarded' : 'pending');
  }
});

test('an action does not run when it cannot be written down before, and runs once that works again', async () => {
  const { stage, resolve, log, state } = new InvokerHarness();
  let runs = 0;
  stage({
    apply: () => {
      runs++;
      return Promise.resolve(textResult('done'));
    },
  });
  log.fault = new Error('disk full');
  await assert.rejects(resolve(), JournalError);
  assert.equal(state().kind, 'pending');
  log.fault = undefined;
  await resolve();
  assert.equal(runs, 1);
  assert.deepEqual(
    log.entries.map(({ type }) => type),
    ['staged', 'resolved', 'commit', 'resolved'],
    'that it was refused, and then that it was applied',
  );
});

test('an opaque apply that was interrupted by the end of the process expires, and is not reported as having changed nothing', async () => {
  const { stage, resolve, log } = new InvokerHarness();
  const gate = new Gate();
  stage({
    apply: async () => {
      await gate.pass();
      return textResult('done');
    },
  });
  const running = resolve();
  await gate.reached;
  const restored = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  restored.restore(log.entries);
  const preview = restored.get('p1') ?? assert.fail('p1 is there');
  assert.deepEqual(preview.state, { kind: 'expired', interrupted: true });
  assert.deepEqual(restored.interruptedCommits, []);
  assert.match(
    alreadyResolvedText(preview, 'model'),
    /It is unknown whether it took effect: check before you stage it/,
  );
  await restored.dismiss('p1');
  assert.deepEqual(restored.get('p1')?.state, { kind: 'expired', interrupted: true, dismissed: true });
  gate.open();
  await running;
  const later = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  later.restore(log.entries);
  assert.equal(later.get('p1')?.state.kind, 'applied', 'one that ended is what it ended as');
});

test('files are not written when it cannot be written down before that they will be', async () => {
  const { stage, resolve, log, workspace, state } = new InvokerHarness();
  stage();
  log.fault = new Error('disk full');
  await assert.rejects(resolve(), (error: unknown) => {
    assert.ok(error instanceof JournalError);
    assert.match(error.message, /^Nothing was changed: .*\(disk full\).* still pending/);
    return true;
  });
  assert.equal(state().kind, 'pending');
  assert.equal(workspace.text('a.txt'), 'a');
  log.fault = undefined;
  await resolve();
  assert.equal(workspace.text('a.txt'), 'A');
});

test('files are not written before what is written down would outlive a crash of the machine', async () => {
  const { stage, resolve, log, workspace, state } = new InvokerHarness();
  stage();
  log.flush = () => Promise.reject(new Error('I/O error'));
  await assert.rejects(resolve(), /^JournalError: Nothing was changed: .*\(I\/O error\)/);
  assert.deepEqual(workspace.writes, []);
  assert.equal(state().kind, 'pending');
});

test('in Review the model’s apply is recorded and changes nothing; its discard is executed', async () => {
  const { stage, resolve, state, workspace, outcomes } = new InvokerHarness('recommend');
  stage();
  const result = await resolve({ actor: 'model', reason: 'looks right' });
  assert.match(
    resultText(result),
    /^Your recommendation for p1 \(Edit\) is recorded\. The user decides; (it has|they have) changed nothing yet\./,
  );
  assert.deepEqual(state(), {
    kind: 'pending',
    stale: [],
    recommendation: { action: 'apply', reason: 'looks right' },
  });
  assert.equal(workspace.text('a.txt'), 'a');
  assert.deepEqual(outcomes(), []);
  await resolve({ actor: 'model', action: 'discard' });
  assert.equal(state().kind, 'discarded');
});

test('in Manual both of the model’s votes are recorded only', async () => {
  const { stage, resolve, state } = new InvokerHarness('none');
  stage();
  for (const action of ['apply', 'discard'] as const) {
    await resolve({ actor: 'model', action });
    assert.deepEqual(state(), { kind: 'pending', stale: [], recommendation: { action, reason: 'ok' } });
  }
});

test('a change of the authority counts from the next call on', async () => {
  const harness = new InvokerHarness('recommend');
  harness.stage();
  await harness.resolve({ actor: 'model' });
  harness.authority = 'apply';
  await harness.resolve({ actor: 'model' });
  assert.equal(harness.state().kind, 'applied');
});

for (const path of ['AGENTS.md', '.vscode/settings.json', '.redline/tools/a.ts', '.github/ci.yml']) {
  test(`even in Auto the model cannot apply a change of ${path}`, async () => {
    const { stage, resolve, workspace, state } = new InvokerHarness('apply');
    workspace.put(path, 'a');
    stage({ changes: [modify(path, 'a', 'A')] });
    await resolve({ actor: 'model' });
    assert.equal(workspace.text(path), 'a');
    assert.equal(state().kind, 'pending');
    await resolve({ actor: 'human' });
    assert.equal(workspace.text(path), 'A');
  });
}

for (const change of [
  remove('AGENTS.md', 'a'),
  rename('AGENTS.md', 'notes.md', 'a'),
  rename('a.txt', 'AGENTS.md', 'a'),
]) {
  test(`even in Auto the model cannot ${change.kind} a file to or from such a name: ${change.path}`, async () => {
    const { stage, resolve, workspace, state } = new InvokerHarness('apply');
    workspace.put('AGENTS.md', 'from' in change && change.from === 'a.txt' ? null : 'a');
    workspace.put('b.txt', 'b');
    stage({ changes: [modify('b.txt', 'b', 'B'), change] });
    await resolve({ actor: 'model' });
    assert.deepEqual(workspace.writes, []);
    assert.equal(state().kind, 'pending');
  });
}

test('what happens during the check for protected files counts', async () => {
  const cases: readonly [what: string, happens: (t: InvokerHarness) => unknown, end: RegExp, text: string][] =
    [
      [
        'the user discards',
        t => t.resolve({ action: 'discard' }),
        /already resolved by the user: discarded/,
        'a',
      ],
      ['the user applies', t => t.resolve(), /already resolved by the user: applied/, 'A'],
      ['the mode is switched', t => (t.authority = 'recommend'), /The user decides/, 'a'],
      [
        'the user revises it',
        t => t.store.revise('p1', [modify('a.txt', 'a', 'B')], [], 'user'),
        /The user decides/,
        'a',
      ],
    ];
  for (const [what, happens, end, text] of cases) {
    const t = new InvokerHarness('apply');
    t.stage();
    const gate = new Gate();
    t.workspace.isProtected = async () => {
      await gate.pass();
      return false;
    };
    const vote = t.resolve({ actor: 'model' });
    await gate.reached;
    await happens(t);
    gate.open();
    assert.match(resultText(await vote), end, what);
    assert.equal(t.workspace.text('a.txt'), text, what);
  }
});

test('a vote that is stopped during the check for protected files is not executed', async () => {
  const { stage, resolve, workspace, state } = new InvokerHarness('apply');
  stage();
  const gate = new Gate();
  const done = Promise.withResolvers<void>();
  workspace.isProtected = async () => {
    await gate.pass();
    setImmediate(() => setImmediate(done.resolve));
    return false;
  };
  const stop = new AbortController();
  const vote = resolve({ actor: 'model', signal: stop.signal });
  await gate.reached;
  stop.abort();
  await assert.rejects(vote, { name: 'AbortError' });
  gate.open();
  await done.promise;
  assert.equal(state().kind, 'pending');
  assert.deepEqual(workspace.writes, []);
});

test('even in Auto the model cannot run a command', async () => {
  const { stage, resolve } = new InvokerHarness('apply');
  stage({ sourceToolName: 'run_command', humanOnly: true, apply: () => assert.fail('it was run') });
  assert.match(resultText(await resolve({ actor: 'model' })), /The user decides/);
});

for (const actor of ['human', 'extension'] as const) {
  test(`the model's authority does not bind ${actor}`, async () => {
    const { stage, resolve, workspace } = new InvokerHarness('none');
    stage();
    await resolve({ actor });
    assert.equal(workspace.text('a.txt'), 'A');
  });
}
