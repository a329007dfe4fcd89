import { test } from 'node:test';
import assert from 'node:assert/strict';
import type { SessionMessage } from '../../../src/agent/session/model/messages.ts';
import {
  resultText,
  textResult,
  type AgentToolResult,
} from '../../../src/agent/hold/preview/pendingAction.ts';
import type { ResolveOrder } from '../../../src/agent/hold/preview/resolveSettings.ts';
import { undoBranchAction } from '../../../src/agent/hold/preview/undo.ts';
import { toWireMessages } from '../../../src/agent/session/model/openai/messages.ts';
import { resolvePart } from '../../../src/agent/hold/preview/resolve/resolvePart.ts';
import { createApi, type ApiParts, type ProposedAction, type RedlineApi } from '../../../src/views/api.ts';
import { commandOf } from '../../../src/agent/sandbox/commands/plannedCommand.ts';
import { modify } from '../../support/changes.ts';
import type { ScriptedTurn } from '../../support/scriptedProvider.ts';
import { createTestSession, type TestSession, type TestSessionOptions } from '../../support/testSession.ts';

const files = { 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'c' };

function apiOf(order: ResolveOrder, options: TestSessionOptions = {}): { api: RedlineApi; t: TestSession } {
  const t = createTestSession({ files, ...options, settings: { order, ...options.settings } });
  const workspace = { pathOf: (input: string) => input };
  // The API only reads settings that the session's settings have too.
  const settings = t.settings as unknown as ApiParts['settings'];
  const customTools = { register: () => assert.fail('not used here') };
  return { t, api: createApi({ ...t, settings, workspace, customTools }) };
}

const push = (api: RedlineApi, path: string, before: string, after: string): string =>
  api.previews.push({ label: path, sourceToolName: 'test', changes: [{ path, before, after }] }).id;

const heads: readonly [ResolveOrder, string][] = [
  ['newestFirst', 'p3 p2 p1'],
  ['oldestFirst', 'p1 p2 p3'],
];
for (const [order, expected] of heads) {
  test(`${order}: peek returns the head of the list, and resolve without an id resolves it`, async () => {
    const { api } = apiOf(order);
    assert.equal(api.previews.peek(), undefined);
    assert.equal(api.previews.hasPending, false);
    for (const path of Object.keys(files)) push(api, path, path.slice(0, 1), 'new');
    const resolved: string[] = [];
    while (api.previews.hasPending) {
      const head = api.previews.peek();
      assert.deepEqual(api.previews.list()[0], head);
      await api.previews.resolve({ action: 'discard', reason: 'r' });
      assert.equal(api.previews.get(head?.id ?? '')?.state, 'discarded');
      resolved.push(head?.id ?? '');
    }
    assert.equal(resolved.join(' '), expected);
    assert.equal(api.previews.peek(), undefined);
  });

  test(`${order}: the head depends on no pending preview`, async () => {
    const { api, t } = apiOf(order);
    push(api, 'a.txt', 'a', 'b');
    push(api, 'a.txt', 'b', 'c');
    const resolved: string[] = [];
    while (api.previews.hasPending) {
      resolved.push(api.previews.peek()?.id ?? '');
      await api.previews.resolve({ action: 'apply', reason: 'r' });
    }
    assert.deepEqual(resolved, ['p1', 'p2']);
    assert.equal(t.workspace.text('a.txt'), 'c');
  });
}

test('resolve with nothing pending is an error; with an id it resolves that preview, and the ledger names an extension', async () => {
  const { api } = apiOf('newestFirst');
  await assert.rejects(api.previews.resolve({ action: 'apply', reason: 'r' }), {
    name: 'ToolError',
    message: 'No pending action to resolve. Nothing to apply or discard.',
  });
  push(api, 'a.txt', 'a', 'A');
  push(api, 'b.txt', 'b', 'B');
  await api.previews.resolve({ id: 'p1', action: 'apply', reason: 'this one', extra: { by: 'policy' } });
  const [entry] = api.previews.ledger();
  assert.equal(entry?.previewId, 'p1');
  assert.equal(entry.actor, 'extension');
  assert.deepEqual(entry.extra, { by: 'policy' });
});

test('an extension that resolves a preview again is told the outcome, also when the first apply returned an error', async () => {
  const { api, t } = apiOf('newestFirst');
  let runs = 0;
  const apply = (): Promise<AgentToolResult> => {
    runs++;
    return Promise.resolve({ ...textResult('exit 1'), isError: true });
  };
  const { id } = api.previews.push({ label: 'Deploy', sourceToolName: 'test', apply });
  assert.equal((await t.click(id, 'apply').then(result => result as AgentToolResult)).isError, true);
  assert.equal(
    resultText(await api.previews.resolve({ id, action: 'apply', reason: 'again' })),
    'p1 (Deploy) was already resolved by the user: applied, and returned an error: exit 1.',
  );
  assert.equal(runs, 1);
  assert.deepEqual(
    api.previews.ledger().map(entry => [entry.outcome, entry.message, 'kind' in entry]),
    [['failed', 'Applied, and returned an error: exit 1', false]],
    'one of three outcomes to other extensions',
  );
});

test('the ledger’s message tells an apply that failed and left the preview pending from one that returned an error', async () => {
  const { api, t } = apiOf('newestFirst');
  api.previews.push({ label: 'Deploy', apply: () => Promise.reject(new Error('exit 1')) });
  await assert.rejects(t.click('p1', 'apply'), /exit 1/);
  await t.click('p1', 'discard', 'no');
  assert.deepEqual(
    api.previews.ledger().map(({ outcome, message }) => [outcome, message]),
    [
      ['failed', 'Failed, and was not applied: exit 1'],
      ['discarded', 'Discarded: Deploy. Reason: no'],
    ],
  );
});

for (const action of ['apply', 'discard'] as const)
  test(`${action} that fails after its producer went away: no text says that the expired preview is pending`, async () => {
    const { api, t } = apiOf('newestFirst', { script: [{ text: 'ok' }] });
    const { promise, reject: fail } = Promise.withResolvers<AgentToolResult>();
    api.previews.push({ label: 'Deploy', apply: () => promise, reject: () => promise });
    const vote = t.click('p1', action);
    t.invoker.expire('p1');
    fail(new Error('exit 1'));
    await assert.rejects(vote, /exit 1/);
    assert.equal(api.previews.get('p1')?.state, 'expired');
    await t.session.prompt('Hello.');
    const not = { apply: 'not applied', discard: 'not discarded' }[action];
    assert.equal(api.previews.ledger()[0]?.message, `Failed, and was ${not}: exit 1`);
    const told = t.steering().flatMap(({ text }) => text.split('\n'));
    assert.equal(told[0], `The user tried to ${action} p1 (Deploy), which failed, so it was ${not}:`);
    assert.deepEqual(told.slice(1, 4), ['```', 'exit 1', '```']);
    assert.match(told[4] ?? '', /^p1 \(Deploy\) has expired/);
  });

test('an action from run_command is left to the user; an extension cannot set the kind or humanOnly itself', () => {
  const { api, t } = apiOf('newestFirst');
  const apply = () => Promise.resolve(textResult(''));
  const staged = (more: object): unknown[] => {
    const { kind, humanOnly } =
      t.store.get(api.previews.push({ label: 'L', apply, ...more }).id) ?? assert.fail();
    return [kind, humanOnly];
  };
  assert.deepEqual(staged({ sourceToolName: 'run_command' }), ['action', true]);
  assert.deepEqual(staged({ sourceToolName: 'toString', kind: 'plan', humanOnly: true }), [
    'action',
    undefined,
  ]);
});

test('an extension that takes the name of a source of Redline is not taken for it', () => {
  const { api, t } = apiOf('newestFirst');
  const details = { command: 'rm -r .', folder: '/w', shell: '/bin/sh', environment: {}, timeLimit: 120 };
  const names = ['run_command', 'call_tool', 'connect_agent', 'hold_back', 'revert_to_state'];
  for (const [at, sourceToolName] of names.entries()) {
    const change = { path: `${at}.txt`, before: null, after: 'x' };
    const given = { label: 'L', sourceToolName, details, changes: [change], purpose: 'setUp' };
    const { purpose } = t.store.get(api.previews.push(given).id) ?? assert.fail();
    assert.equal(purpose, undefined, sourceToolName);
  }
  const apply = () => Promise.resolve(textResult(''));
  const { id } = api.previews.push({ label: 'L', sourceToolName: 'run_command', details, apply });
  assert.equal(commandOf(t.store.get(id) ?? assert.fail()), undefined);
});

test('listeners are called for every preview that is staged, resolved or forgotten', async () => {
  const { api, t } = apiOf('newestFirst');
  const heard: string[] = [];
  api.previews.onDidChange(({ id, state }) => heard.push(`${id} ${state}`));
  t.stage({ label: 'Edit', changes: [modify('a.txt', 'a', 'A')] });
  await api.previews.resolve({ action: 'discard', reason: 'r' });
  await t.store.forgetResolved(new Date(Date.now() + 1_000));
  assert.deepEqual(heard, ['p1 pending', 'p1 applying', 'p1 discarded', 'p1 discarded']);
  assert.equal(api.previews.get('p1'), undefined);
});

test('pushing a malformed action, or changes that could not be written as declared, throws at once', () => {
  const { api } = apiOf('newestFirst');
  const apply = () => Promise.resolve(textResult(''));
  const twice = ['1', '2'].map(after => ({ path: 'a.txt', before: 'a', after }));
  for (const [action, error] of [
    [undefined, TypeError],
    [{ apply }, TypeError],
    [{ label: 'x' }, TypeError],
    [
      { label: 'x', changes: twice },
      { name: 'ToolError', message: /declared twice/ },
    ],
  ] as const)
    assert.throws(() => api.previews.push(action as never), error);
  assert.equal(api.previews.hasPending, false);
});

test('malformed votes are refused, and whatever a vote carries, its log entry can be read again', async () => {
  const { api, t } = apiOf('newestFirst');
  const { resolve } = api.previews;
  const vote = { action: 'apply', reason: 'r' } as const;
  push(api, 'a.txt', 'a', 'A');
  for (const wrong of [{ action: 'keep' }, { reason: undefined }, { extra: ['x'] }, { extra: 'x' }])
    await assert.rejects(resolve({ ...vote, ...wrong } as never), TypeError);
  assert.equal(api.previews.peek()?.state, 'pending');
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  for (const extra of [circle, { big: 1n }, { long: 'x'.repeat(2_000_000) }]) {
    const { id } = api.previews.push({ label: 'x', apply: () => Promise.resolve(textResult('')) });
    await resolve({ ...vote, id, extra });
  }
  // Reading the entries parses each line, as after a reload.
  assert.equal(t.log.entries.filter(({ type }) => type === 'resolved').length, 3);
});

test('an extension cannot use details to make its preview the undo of another one', async () => {
  const { api, t } = apiOf('newestFirst');
  const id = push(api, 'a.txt', 'a', 'A');
  await api.previews.resolve({ action: 'apply', reason: 'r' });
  const changes = [{ path: 'b.txt', before: 'b', after: 'B' }];
  api.previews.push({ label: 'x', changes, details: { undoes: [id] }, undoes: [id] } as never);
  const applied = t.store.get(id) ?? assert.fail();
  assert.ok(undoBranchAction([applied], t.store.all(), 'test', 'turn'));
});

test('an extension’s callbacks get the reason and the extra data of the vote', async () => {
  const { api } = apiOf('newestFirst');
  const told: unknown[][] = [];
  const apply = (...args: unknown[]) => {
    told.push(args);
    return Promise.resolve(textResult('done'));
  };
  api.previews.push({ label: 'x', apply });
  await api.previews.resolve({ action: 'apply', reason: 'r', extra: { n: 1 } });
  assert.deepEqual(told, [['r', { n: 1 }]]);
});

test('a push without a source tool gets the one of custom tools', () => {
  const { api } = apiOf('newestFirst');
  assert.equal(
    api.previews.push({ label: 'x', apply: async () => textResult('') }).sourceToolName,
    'custom_tool',
  );
});

for (const revertEnabled of [true, false]) {
  test(`${revertEnabled ? 'reverts enabled' : 'no reverts'}: session.messages() is what each request sends, whatever else the conversation holds`, async () => {
    const call = (name: string, args: object) => ({ name, arguments: args });
    const edit = { path: 'a.txt', edits: [{ old: 'a', new: 'A' }] };
    const seen: (readonly SessionMessage[])[] = [];
    const turns: readonly ScriptedTurn[] = [
      { toolCalls: [call('edit_file', edit)] },
      { toolCalls: [call('resolve', { action: 'apply', reason: 'r' })] },
      { error: { message: 'No route.' } },
      {
        text: 'Hello.',
        toolCalls: [call('read_file', { path: 'b.txt' }), call('read_file', { path: 'c.txt' })],
      },
      { text: 'Read.' },
      { text: 'Well.' },
    ];
    const { api, t } = apiOf('newestFirst', {
      settings: { revertEnabled },
      script: (_request, n) => {
        seen.push([...api.session.messages()]);
        return turns[n] ?? assert.fail('one request too many');
      },
    });
    await t.session.prompt('Edit.');
    t.session.note('/tools', 'Many.');
    await t.session.prompt('Again?');
    // Back to the first of two results: the other call is no longer sent.
    const result = t.session.tree.trunk.find(id => {
      const message = t.session.tree.get(id)?.message;
      return message?.role === 'tool' && message.content.includes('b.txt');
    });
    await t.session.revert({ category: 'failure', target: result ?? null, summary: 'lesson' });
    await t.session.prompt('Once more.');
    assert.equal(seen.length, turns.length);
    for (const [n, request] of t.requests.entries())
      assert.deepEqual(wireOf(seen[n] ?? []), wireOf(request.messages), `request ${n}`);
    const shown = JSON.stringify(seen.at(-1));
    assert.match(shown, /<system-reminder>/);
    assert.match(shown, /lesson/);
    assert.doesNotMatch(shown, /Many\./);
    assert.equal(wireOf(api.session.messages()).length, api.session.messages().length, 'nothing is left out');
  });
}

const wireOf = (messages: readonly SessionMessage[]) => toWireMessages('', messages);

test('an extension cannot say what only Redline may set of a preview', () => {
  const changes = [{ path: 'a.txt', before: 'a', after: 'b' }];
  const given: readonly ProposedAction[] = [
    { label: 'a', changes },
    // @ts-expect-error the title is Redline's own
    { label: 'a', changes, title: 't' },
    // @ts-expect-error only Redline reopens previews
    { label: 'a', changes, reopens: 'p1' },
    // @ts-expect-error the preview belongs to the open conversation
    { label: 'a', changes, sessionId: 's9' },
  ];
  for (const action of given) {
    const { api, t } = apiOf('newestFirst');
    const preview = t.store.get(api.previews.push(action).id);
    assert.equal(preview?.origin?.sessionId, t.session.id);
    assert.equal(preview?.title, undefined);
  }
});

test('a part that the user decided on by itself names the preview that it was a part of', async () => {
  const { api, t } = apiOf('oldestFirst');
  const changes = ['a.txt', 'b.txt'].map(path => ({ path, before: path.slice(0, 1), after: 'new' }));
  const { id, revision, ...whole } = api.previews.push({ label: 'both', changes });
  assert.equal('partOf' in whole, false);
  const vote = { id, revision, action: 'apply', reason: 'r', actor: 'human' } as const;
  await resolvePart(t, vote, { path: 'a.txt' });
  const [entry] = api.previews.ledger();
  assert.equal(api.previews.get(entry?.previewId ?? '')?.partOf, id);
  assert.equal(api.previews.get(id)?.state, 'pending');
});
