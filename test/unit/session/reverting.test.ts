import { test } from 'node:test';
import assert from 'node:assert/strict';
import * as z from 'zod/mini';
import { STEER } from '../../../src/agent/session/conversation/renderTrunk.ts';
import type { RevertRecord } from '../../../src/agent/session/conversation/revert.ts';
import type { ChatRequest } from '../../../src/agent/session/model/chatProvider.ts';
import { createOfflineProvider } from '../../../src/agent/session/model/offline/provider.ts';
import { textResult } from '../../../src/agent/hold/preview/pendingAction.ts';
import { defineTool } from '../../../src/agent/session/tools/tool.ts';
import { modify, textIn } from '../../support/changes.ts';
import { Gate } from '../../support/gate.ts';
import type { ScriptedTurn } from '../../support/scriptedProvider.ts';
import { createTestSession, type TestSession, type TestSessionOptions } from '../../support/testSession.ts';

const files = { 'a.txt': 'a', 'b.txt': 'b' };
const on = { revertEnabled: true } as const;
const call = (name: string, args: object) => ({ name, arguments: args });
const read = (path: string) => call('read_file', { path });
const edit = (path: string, old: string, now: string) =>
  call('edit_file', { path, edits: [{ old, new: now }] });
const revert = (category: string, step: number, summary?: string) =>
  call('revert_to_state', { category, step: `n${step}`, ...(summary === undefined ? {} : { summary }) });
const calls = (...toolCalls: ReturnType<typeof call>[]): ScriptedTurn => ({ toolCalls });
const ok: ScriptedTurn = { text: 'ok' };

function session(options: TestSessionOptions): TestSession {
  return createTestSession({ files, ...options, settings: { ...on, ...options.settings } });
}

const textsOf = (request: ChatRequest | undefined): string[] =>
  (request?.messages ?? []).map(message => (message.role === 'tool' ? message.content : message.text));
const records = (t: TestSession): RevertRecord[] =>
  t.events.flatMap(event => (event.type === 'revert_applied' ? [event.record] : []));
const roles = (t: TestSession): string[] => t.session.messages.map(({ role }) => role);

test('not enabled: the tool is absent, and requests contain exactly what was said', async () => {
  const run = async (revertEnabled: boolean) => {
    const script = [calls(read('a.txt'), read('b.txt')), { text: '[n9] ok' }, ok];
    const t = createTestSession({ files, script, settings: { revertEnabled } });
    await t.session.prompt('One.');
    await t.session.prompt('Two.');
    return t;
  };
  const off = await run(false);
  for (const request of off.requests) {
    assert.ok(!request.tools.some(({ name }) => name === 'revert_to_state'));
    const said = off.session.messages.slice(0, request.messages.length);
    assert.equal(JSON.stringify(request.messages), JSON.stringify(said));
    assert.ok(!JSON.stringify(request).includes('[n0]'));
  }
  assert.equal(off.tools.get('revert_to_state'), undefined);
  assert.ok(!off.tools.list().some(({ name }) => name === 'revert_to_state'));
  const opted = await run(true);
  assert.ok(opted.requests.every(({ tools }) => tools.at(-1)?.name === 'revert_to_state'));
  assert.deepEqual(textsOf(opted.requests[2]).slice(-2), ['[n4] ok', '[n5] Two.']);
  assert.deepEqual(
    [off, opted].map(t => t.answers()[1]?.text),
    ['[n9] ok', 'ok'],
    'an echo is neither shown nor kept',
  );
  off.assertSound();
  opted.assertSound();
});

test('not enabled: a call of the tool is one of an unknown tool, and nothing is queued', async () => {
  const t = session({ settings: { revertEnabled: false }, script: [calls(revert('failure', 0)), ok] });
  await t.session.prompt('Go.');
  assert.match(t.results()[0]?.content ?? '', /^There is no tool named revert_to_state/);
  assert.deepEqual(records(t), []);
});

test('the next request holds the lesson, the steering message and none of the abandoned text', async () => {
  const t = session({
    script: [
      { text: 'SECRET one', ...calls(read('a.txt')) },
      { text: 'SECRET two', ...calls(read('missing.txt')) },
      calls(revert('failure', 0, 'Both ways are dead ends.')),
      ok,
    ],
  });
  await t.session.prompt('Go.');
  assert.deepEqual(textsOf(t.requests[3]), [
    '[n0] Go. [revert-lesson: Both ways are dead ends. (abandoned: read_file)]',
    STEER.text,
  ]);
  assert.deepEqual(roles(t), ['user', 'assistant']);
  assert.equal(t.session.tree.size, 8, 'nothing is deleted');
  t.assertSound();
});

test('the revert is applied between turns, after all results of the message are stored', async () => {
  const t = session({ script: [calls(revert('failure', 0, 's'), read('a.txt')), ok] });
  await t.session.prompt('Go.');
  assert.deepEqual(
    t.events.flatMap(event =>
      event.type === 'message_end'
        ? [event.message.role]
        : event.type === 'revert_applied'
          ? ['applied']
          : [],
    ),
    ['user', 'assistant', 'tool', 'tool', 'applied', 'assistant'],
  );
  assert.deepEqual(records(t)[0]?.abandonedNodeIds, [1, 2, 3]);
  t.assertSound();
});

test('each drained request leaves one record in the log; of several the first valid one is applied', async () => {
  const t = session({
    script: [
      calls(read('a.txt'), revert('failure', 9, 'a'), revert('tangent', 0, 'b'), revert('failure', 0, 'c')),
      ok,
    ],
  });
  await t.session.prompt('Go.');
  const stored = t.sessionLog.entries.flatMap(entry => (entry.type === 'revert' ? [entry.record] : []));
  assert.deepEqual(stored, records(t));
  assert.deepEqual(
    stored.map(({ category, target, applied, reason, summary }) => [
      category,
      target,
      applied,
      reason,
      summary,
    ]),
    [
      ['failure', 9, false, 'there is no node n9', 'a'],
      ['tangent', 0, true, null, 'b'],
      ['failure', 0, false, 'another revert of the same turn was applied', 'c'],
    ],
  );
  const told = textsOf(t.requests[1]).slice(2);
  const instead = 'The conversation was reverted to n0 instead; continue from there.';
  assert.deepEqual(
    told.map(text => text.replace(/^\[n\d+\] /, '')),
    [
      `Your revert to n9 was not applied: there is no node n9. ${instead}`,
      `Your revert to n0 was not applied: another revert of the same turn was applied. ${instead}`,
    ],
  );
  t.assertSound();
});

test('a request of the model that a revert by the user overtook is refused with where the conversation is now', async () => {
  const t = session({
    script: [calls(read('a.txt')), calls(read('a.txt'), revert('failure', 2), read('b.txt')), ok],
  });
  let reverted: Promise<RevertRecord> | undefined;
  t.session.onDidEmit(event => {
    if (event.type === 'tool_end' && event.call.name === 'revert_to_state')
      reverted = t.session.revert({ category: null, target: 0, summary: null });
  });
  await t.session.prompt('One.');
  assert.equal((await reverted)?.applied, true);
  await t.session.prompt('Two.');
  const told = textsOf(t.requests[2]).filter(text => text.includes('was not applied'));
  assert.equal(told.length, 1);
  assert.match(
    told[0] ?? '',
    /Your revert to n2 was not applied: the user stopped the turn\. The conversation was reverted to n0 instead; continue from there\.$/,
  );
  t.assertSound();
});

test('a rejection is told to the model in the next turn, once', async () => {
  const t = session({ script: [calls(revert('failure', 0)), calls(read('a.txt')), ok] });
  await t.session.prompt('Go.');
  const told = t.requests.map(
    request => textsOf(request).filter(text => text.includes('was not applied')).length,
  );
  assert.deepEqual(told, [0, 1, 1]);
  assert.match(
    textsOf(t.requests[1]).at(-1) ?? '',
    /Your revert to n0 was not applied: nothing but the revert itself comes after n0/,
  );
  t.assertSound();
});

test('the words of the user are never dropped by the model', async () => {
  const t = session({ script: [ok, calls(read('a.txt'), revert('failure', 0)), ok] });
  await t.session.prompt('One.');
  await t.session.prompt('Two.');
  assert.equal(records(t)[0]?.applied, false);
  assert.deepEqual(roles(t), [
    'user',
    'assistant',
    'user',
    'assistant',
    'tool',
    'tool',
    'steering',
    'assistant',
  ]);
});

test('what the model requested in a turn that the user stopped is refused, and it is told so', async () => {
  const t = session({
    script: [
      (_request, _n, signal) => {
        signal.addEventListener('abort', () => undefined);
        return calls(read('a.txt'), revert('failure', 0));
      },
      ok,
    ],
  });
  t.session.onDidEmit(event => {
    if (event.type === 'tool_end' && event.call.name === 'revert_to_state') t.session.stop();
  });
  await t.session.prompt('Go.');
  assert.equal(records(t)[0]?.reason, 'the user stopped the turn');
  await t.session.prompt('And now?');
  assert.ok(textsOf(t.requests[1]).some(text => text.includes('was not applied: the user stopped the turn')));
  t.assertSound();
});

test('what the model requested before the user switched plan mode on is refused, discards nothing, and it is told so', async () => {
  const t = session({
    settings: { forcing: 'off' },
    script: [calls(edit('a.txt', 'a', 'A')), calls(revert('failure', 0, 's')), ok],
  });
  t.session.onDidEmit(event => {
    if (event.type === 'tool_end' && event.call.name === 'revert_to_state') t.session.setPlanMode(true);
  });
  await t.session.prompt('Go.');
  assert.equal(t.store.get('p1')?.state.kind, 'pending');
  assert.deepEqual(t.store.ledger(), []);
  assert.deepEqual(
    records(t).map(({ applied, reason }) => [applied, reason]),
    [[false, 'plan mode is on, in which nothing may be abandoned']],
  );
  assert.match(
    textsOf(t.requests.at(-1)).join('\n'),
    /Your revert to n0 was not applied: plan mode is on, in which nothing may be abandoned\. Nothing has changed/,
  );
  t.session.setPlanMode(false);
  t.assertSound();
});

test('the user may revert while plan mode is on, which discards what was staged there', async () => {
  const t = session({ settings: { forcing: 'off' }, script: [calls(edit('a.txt', 'a', 'A')), ok] });
  await t.session.prompt('Go.');
  t.session.setPlanMode(true);
  await t.session.revert({ category: null, target: 0, summary: null });
  assert.equal(t.store.get('p1')?.state.kind, 'discarded');
  t.assertSound();
});

test('a discard by a revert of the model that has to wait is not executed once plan mode is on', async () => {
  const gate = new Gate();
  let attempts = 0;
  const reject = async (): Promise<undefined> => {
    attempts++;
    await gate.pass();
    throw new Error('not now');
  };
  const stages = stagingTool(reject);
  const t = session({
    tools: [stages],
    settings: { forcing: 'off' },
    script: [calls(call('stages', {})), calls(revert('failure', 0, 's')), ok],
  });
  let click: Promise<unknown> | undefined;
  t.session.onDidEmit(event => {
    if (event.type === 'tool_end' && event.call.name === 'revert_to_state')
      click = assert.rejects(t.click('p1', 'discard'), /not now/);
    if (event.type !== 'revert_applied') return;
    t.session.setPlanMode(true);
    gate.open();
  });
  await t.session.prompt('Go.');
  await click;
  assert.equal(records(t)[0]?.applied, true);
  assert.equal(attempts, 1, 'only by the user');
  assert.equal(t.store.get('p1')?.state.kind, 'pending');
});

test('previews of the abandoned span are discarded with the reason, by the actor of the revert, in every mode', async () => {
  for (const modelAuthority of ['apply', 'recommend', 'none'] as const) {
    const t = session({
      settings: { modelAuthority, forcing: 'off' },
      script: [calls(edit('a.txt', 'a', 'A')), calls(revert('failure', 0, 's')), ok],
    });
    await t.session.prompt('Go.');
    assert.deepEqual(
      t.store
        .ledger()
        .map(({ previewId, action, actor, reason, outcome }) => [previewId, action, actor, reason, outcome]),
      [['p1', 'discard', 'model', 'abandoned by revert to n0', 'discarded']],
    );
    const said = textsOf(t.requests.at(-1)).join('\n');
    assert.ok(!said.includes('p1') && !said.includes('a.txt'), said);
    assert.equal(t.session.state, 'idle');
    t.assertSound();
  }
});

test('previews staged on the remaining trunk are not touched, and the model is reminded of them again', async () => {
  const t = session({
    settings: { forcing: 'off' },
    script: [
      calls(edit('a.txt', 'a', 'A')),
      calls(edit('b.txt', 'b', 'B')),
      calls(revert('tangent', 2, 's')),
      ok,
    ],
  });
  await t.session.prompt('Go.');
  assert.deepEqual([t.store.get('p1')?.state.kind, t.store.get('p2')?.state.kind], ['pending', 'discarded']);
  const reminders = textsOf(t.requests.at(-1)).filter(text => text.includes('Pending: p1'));
  assert.equal(reminders.length, 1);
  t.assertSound();
});

test('changes that were applied in the abandoned span are staged as one preview with their inverse', async () => {
  const t = session({
    settings: { forcing: 'off' },
    script: [
      calls(edit('a.txt', 'a', 'A')),
      calls(call('resolve', { action: 'apply', reason: 'r' })),
      calls(edit('a.txt', 'A', 'AA'), edit('b.txt', 'b', 'B')),
      calls(call('resolve', { action: 'apply', reason: 'r' })),
      calls(call('resolve', { action: 'apply', reason: 'r' })),
      calls(revert('failure', 0, 's')),
      ok,
      ok,
    ],
  });
  await t.session.prompt('Go.');
  assert.deepEqual(
    [t.workspace.text('a.txt'), t.workspace.text('b.txt')],
    ['AA', 'B'],
    'files are not touched',
  );
  const undo = t.store.get('p4');
  assert.deepEqual(
    [undo?.label, undo?.sourceToolName, undo?.state.kind, undo?.changes?.map(({ path }) => path).sort()],
    ['Undo 2 changes of the abandoned branch', 'revert_to_state', 'pending', ['a.txt', 'b.txt']],
  );
  assert.ok(textsOf(t.requests.at(-1)).some(text => text.includes('Pending: p4 (Undo 2 changes')));
  await t.click('p4', 'apply');
  assert.deepEqual([t.workspace.text('a.txt'), t.workspace.text('b.txt')], ['a', 'b']);
  t.assertSound();
});

test('the user can revert whether or not the model can, past prompts too, and nothing is said about it', async () => {
  const t = session({
    settings: { revertEnabled: false },
    script: [{ text: 'first' }, { text: 'second' }, ok],
  });
  await t.session.prompt('One.');
  await t.session.prompt('Two.');
  const record = await t.session.revert({ category: null, target: 1, summary: null });
  assert.deepEqual([record.applied, record.actor, record.abandonedNodeIds], [true, 'human', [2, 3]]);
  await t.session.prompt('Three.');
  assert.deepEqual(textsOf(t.requests[2]), ['One.', 'first', 'Three.']);
  t.assertSound();
});

test('the user gives a category and a summary, and the model is told them', async () => {
  const t = session({ settings: { revertEnabled: false }, script: [{ text: 'first' }, ok] });
  await t.session.prompt('One.');
  await t.session.revert({ category: 'failure', target: 0, summary: 'Too slow.' });
  await t.session.continue();
  assert.deepEqual(textsOf(t.requests[1]), ['One. [revert-lesson: Too slow.]', STEER.text]);
  t.assertSound();
});

test('a verbatim provider gets messages as they were typed, without tags and ids', async () => {
  const t = session({ provider: createOfflineProvider(), settings: { modelAuthority: 'recommend' } });
  await t.session.prompt('/write b.txt :: B');
  await t.session.revert({ category: 'failure', target: 0, summary: 'Not like this.' });
  await t.session.continue();
  assert.deepEqual(
    [textIn(t.store.get('p2')?.changes?.[0]?.after), t.store.get('p1')?.state.kind],
    ['B', 'discarded'],
  );
  t.assertSound();
});

test('a revert by the user while a turn runs stops it first, and nothing continues by itself', async () => {
  const t = session({ script: [calls(read('a.txt')), { text: 'wor', hang: true }, ok] });
  const run = t.session.prompt('One.');
  await t.nextEvent(event => event.type === 'message_update');
  const record = await t.session.revert({ category: null, target: 0, summary: null });
  await run;
  assert.equal(record.applied, true);
  assert.deepEqual([t.session.state, roles(t)], ['idle', ['user']]);
  assert.equal(t.requests.length, 2);
  t.assertSound();
});

test('a revert by the user right after the last answer asks the model for nothing', async () => {
  const t = session({ settings: { modelAuthority: 'recommend', forcing: 'auto' }, script: [ok, ok] });
  t.stage({ label: 'A', changes: [modify('a.txt', 'a', 'A')] });
  let reverted: Promise<RevertRecord> | undefined;
  t.session.onDidEmit(({ type }) => {
    if (type === 'turn_end') reverted = t.session.revert({ category: null, target: 0, summary: null });
  });
  await t.session.prompt('One.');
  assert.equal((await reverted)?.applied, true);
  assert.deepEqual([t.requests.length, t.session.state, roles(t)], [1, 'idle', ['user']]);
  t.assertSound();
});

test('after several reverts by the user the last one counts, however long the first took', async () => {
  const t = session({ script: [ok, { text: 'wor', hang: true }] });
  await t.session.prompt('One.');
  const run = t.session.prompt('Two.');
  await t.nextEvent(event => event.type === 'message_update');
  const go = (target: number | null) => t.session.revert({ category: null, target, summary: null });
  const went = await Promise.all([go(1), go(null), go(0)]);
  await run;
  assert.deepEqual(
    went.map(({ applied, abandonedNodeIds }) => [applied, abandonedNodeIds]),
    [
      [true, [2, 3]],
      [true, [0, 1]],
      [true, []],
    ],
  );
  assert.deepEqual(t.session.tree.trunk, [0]);
});

test('a prompt during a revert by the user is appended after its target', async () => {
  const t = session({ script: [ok, { text: 'there' }] });
  await t.session.prompt('One.');
  const going = t.session.revert({ category: null, target: null, summary: null });
  const prompted = t.session.prompt('Two.');
  await going;
  await prompted;
  assert.deepEqual(textsOf(t.requests[1]), ['[n2] Two.']);
  t.assertSound();
});

test('an abandoned branch can be switched back to, and the outcomes of its previews are told there', async () => {
  const t = session({
    settings: { forcing: 'off', modelAuthority: 'recommend' },
    script: [calls(edit('a.txt', 'a', 'A')), ok, { text: 'other way' }, ok],
  });
  await t.session.prompt('One.');
  const tip = t.session.tree.active;
  await t.session.revert({ category: null, target: 0, summary: null });
  assert.equal(t.store.get('p1')?.state.kind, 'discarded');
  assert.equal(t.session.state, 'idle');
  await t.session.continue();
  assert.ok(!textsOf(t.requests[2]).join().includes('p1'));
  await t.session.revert({ category: null, target: tip, summary: null });
  await t.session.prompt('Two.');
  assert.ok(textsOf(t.requests[3]).some(text => text.includes('The user discarded p1')));
  t.assertSound();
});

test('an undo that is pending or applied is not staged again when the branch is abandoned once more', async () => {
  const t = session({
    settings: { forcing: 'off' },
    script: [calls(edit('a.txt', 'a', 'A')), calls(call('resolve', { action: 'apply', reason: 'r' })), ok],
  });
  await t.session.prompt('One.');
  const tip = t.session.tree.active;
  const go = (target: number | null) => t.session.revert({ category: null, target, summary: null });
  await go(0);
  assert.equal(t.store.get('p2')?.label, 'Undo 1 change of the abandoned branch');
  await go(tip);
  await go(0);
  assert.equal(t.store.get('p3'), undefined);
});

test('after a reload the next request is the same: trunk, tags and steering message', async () => {
  const script = [
    calls(read('a.txt'), read('b.txt')),
    calls(edit('a.txt', 'a', 'A'), revert('completion', 2, 'Read a.')),
    { text: 'wor', error: {} },
  ];
  const t = session({ settings: { forcing: 'off' }, script });
  await t.session.prompt('Go.');
  const before = textsOf(t.requests.at(-1));
  const again = session({ settings: { forcing: 'off' }, script: [ok], log: t.log, sessionLog: t.sessionLog });
  assert.deepEqual(again.session.tree.trunk, t.session.tree.trunk);
  await again.session.continue();
  const after = textsOf(again.requests[0]);
  assert.deepEqual(after.slice(0, before.length), before);
  assert.ok(before.includes(STEER.text));
  again.assertSound();
});

test('back to the answer whose call staged a preview: it is discarded, because its result was abandoned', async () => {
  const t = session({ settings: { forcing: 'off' }, script: [calls(edit('a.txt', 'a', 'A')), ok, ok] });
  await t.session.prompt('Go.'); // n0, the answer with the call n1, its result n2
  await t.session.revert({ category: null, target: 1, summary: null });
  assert.equal(t.store.get('p1')?.state.kind, 'discarded');
  assert.equal(t.store.ledger()[0]?.reason, 'abandoned by revert to n1');
  t.assertSound();
});

test('back to the answer whose call staged what was applied since: a preview undoes it', async () => {
  const t = session({ settings: { forcing: 'off' }, script: [calls(edit('a.txt', 'a', 'A')), ok, ok] });
  await t.session.prompt('Go.');
  await t.click('p1', 'apply');
  await t.session.revert({ category: null, target: 1, summary: null });
  assert.equal(t.store.get('p2')?.label, 'Undo 1 change of the abandoned branch');
  await t.click('p2', 'apply');
  assert.equal(t.workspace.text('a.txt'), 'a');
  t.assertSound();
});

test('a preview from before the branch that was applied on it is undone by a new preview, and the model is told of the apply', async () => {
  const t = session({
    settings: { forcing: 'off' },
    script: [
      calls(edit('a.txt', 'a', 'A')), // n1, staged by its result n2
      calls(read('b.txt')), // n3, n4
      calls(call('resolve', { action: 'apply', reason: 'r' })), // n5 or later
      ok,
      ok,
    ],
  });
  await t.session.prompt('Go.');
  assert.equal(t.workspace.text('a.txt'), 'A');
  const read4 = t.session.tree.trunk.find(id => {
    const message = t.session.tree.get(id)?.message;
    return message?.role === 'tool' && message.toolName === 'read_file';
  });
  await t.session.revert({ category: null, target: read4 ?? null, summary: null });
  assert.deepEqual(
    [t.store.get('p1')?.state.kind, t.store.get('p2')?.label],
    ['applied', 'Undo 1 change of the abandoned branch'],
  );
  await t.session.prompt('On.');
  const said = textsOf(t.requests.at(-1)).join('\n');
  assert.match(said, /Staged as p1, no file modified yet/);
  assert.match(said, /Your vote to apply p1 \(.*\) on the abandoned branch: applied\./);
  t.assertSound();
});

test('the same for an apply by the user on the abandoned branch', async () => {
  const t = session({
    settings: { forcing: 'off', modelAuthority: 'recommend' },
    script: [calls(edit('a.txt', 'a', 'A')), { text: 'staged' }, { text: 'more' }, { text: 'on' }],
  });
  await t.session.prompt('Go.');
  const staged = t.session.tree.active;
  await t.session.prompt('More.');
  await t.click('p1', 'apply');
  await t.session.revert({ category: null, target: staged, summary: null });
  assert.equal(t.store.get('p2')?.label, 'Undo 1 change of the abandoned branch');
  await t.session.prompt('On.');
  assert.match(textsOf(t.requests.at(-1)).join('\n'), /The user applied p1/);
  t.assertSound();
});

test('what was applied in another order than it was staged is undone in the order of the applies', async () => {
  const t = session({ script: [{ text: 'one' }] });
  await t.session.prompt('Go.');
  const later = t.stage({ label: 'later', changes: [modify('a.txt', 'b', 'c')] });
  const first = t.stage({ label: 'first', changes: [modify('a.txt', 'a', 'b')] });
  await t.click(first.id, 'apply');
  await t.click(later.id, 'apply');
  await t.session.revert({ category: null, target: null, summary: null });
  const inverse = t.store.all().at(-1);
  assert.deepEqual(inverse?.undoes, [first.id, later.id]);
  assert.deepEqual(
    inverse?.changes?.map(({ before, after }) => [textIn(before), textIn(after)]),
    [['c', 'a']],
  );
});

test('a preview of the abandoned branch that another attempt fails to resolve meanwhile is discarded after it', async () => {
  const gate = new Gate();
  let attempts = 0;
  const reject = async (): Promise<undefined> => {
    if (++attempts > 1) return;
    await gate.pass();
    throw new Error('not now');
  };
  const stages = stagingTool(reject);
  const t = session({
    tools: [stages],
    settings: { forcing: 'off' },
    script: [calls(call('stages', {})), ok],
  });
  await t.session.prompt('Go.');
  const click = t.click('p1', 'discard');
  await gate.reached;
  const reverting = t.session.revert({ category: null, target: null, summary: null });
  gate.open();
  await assert.rejects(click, /not now/);
  await reverting;
  assert.equal(t.store.get('p1')?.state.kind, 'discarded');
  assert.equal(attempts, 2);
});

test('a preview of the abandoned branch that the user tries to resolve again and again meanwhile is discarded after it', async () => {
  const gates = [new Gate(), new Gate()];
  let attempts = 0;
  const reject = async (): Promise<undefined> => {
    const gate = gates[attempts++];
    if (!gate) return;
    await gate.pass();
    throw new Error('not now');
  };
  const t = session({
    tools: [stagingTool(reject)],
    settings: { forcing: 'off' },
    script: [calls(call('stages', {})), ok],
  });
  await t.session.prompt('Go.');
  let again: Promise<unknown> | undefined;
  t.store.onDidResolve(() => (again ??= t.click('p1', 'discard')));
  const click = t.click('p1', 'discard');
  await gates[0]?.reached;
  const reverting = t.session.revert({ category: null, target: null, summary: null });
  gates[0]?.open();
  await assert.rejects(click, /not now/);
  await gates[1]?.reached;
  gates[1]?.open();
  await assert.rejects(again ?? assert.fail('no second click'), /not now/);
  await reverting;
  assert.equal(t.store.get('p1')?.state.kind, 'discarded');
  assert.equal(attempts, 3);
});

/** A tool whose calls stage an action that is discarded by `reject`. */
function stagingTool(reject: () => Promise<undefined>) {
  const apply = () => Promise.resolve(textResult('done'));
  return defineTool({
    name: 'stages',
    label: 'Stages',
    description: 'Stages an action.',
    parameters: z.object({}),
    execute: async (_, context) => {
      context.stage({ label: 'action', sourceToolName: 'stages', apply, reject });
      return textResult('staged');
    },
  });
}

test('what a branch tells of previews is not told again after going back to it', async () => {
  const t = session({ script: [ok, ok, ok, ok], settings: { forcing: 'off' } });
  t.stage({ label: 'A', changes: [modify('a.txt', 'a', 'A')] });
  await t.session.prompt('One.');
  await t.click('p1', 'discard');
  await t.session.prompt('Two.');
  const end = t.session.tree.trunk.at(-1) ?? null;
  const start = t.session.tree.trunk[1] ?? null;
  for (const target of [start, end]) await t.session.revert({ target, category: null, summary: null });
  await t.session.prompt('Three.');
  assert.equal(t.steering().filter(({ kind }) => kind === 'outcome').length, 1);
});

for (const reverts of [1, 2])
  test(`what was left to the user is asked about again only where the model was not told so: ${reverts} reverts`, async () => {
    const t = session({ script: [{ text: 'wor', hang: true }, ok], settings: { forcing: 'off' } });
    const apply = () => Promise.reject(new Error('not now'));
    t.session.stage({ label: 'action', sourceToolName: 'test', apply });
    const run = t.session.prompt('One.');
    await t.nextEvent(event => event.type === 'message_update');
    // The reminders of the first two attempts wait for a request.
    for (let attempt = 0; attempt < 3; attempt++) await assert.rejects(t.click('p1', 'apply'), /not now/);
    // The first revert tells the notice of the third attempt where it leads, and the second one abandons that.
    for (let n = 0; n < reverts; n++) await t.session.revert({ category: null, target: null, summary: null });
    await run;
    await t.session.prompt('Two.');
    const said = (t.requests[1]?.messages ?? []).flatMap(message =>
      message.role === 'steering' && message.kind !== 'outcome' ? [message.kind] : [],
    );
    assert.deepEqual(said, [reverts === 1 ? 'notice' : 'resolve-reminder']);
    t.assertSound();
  });
