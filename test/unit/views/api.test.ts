import { test } from 'node:test';
import assert from 'node:assert/strict';
import { textOf, textResult, type AgentToolResult } from '../../../src/agent/preview/pendingAction.ts';
import type { ResolveOrder } from '../../../src/agent/preview/preview.ts';
import { undoBranchAction } from '../../../src/agent/preview/restage.ts';
import { createApi, type ApiParts, type RedlineApi } from '../../../src/views/api.ts';
import { modify } from '../../support/changes.ts';
import { createTestSession, type TestSession } from '../../support/testSession.ts';

const files = { 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'c' };

function apiOf(order: ResolveOrder): { api: RedlineApi; t: TestSession } {
  const t = createTestSession({ files, settings: { order } });
  const workspace = { pathOf: (input: string) => input };
  // Of the settings the API reads what the session's have, too.
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
  test(`${order}: peek is the head of the list, and resolve without an id resolves it, one after the other`, async () => {
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

  test(`${order}: the head has nothing pending beneath it`, async () => {
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

test('resolve with nothing pending says so, with an id that one is meant, and the ledger names an extension', async () => {
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

test('what an extension resolves a second time it is told about, also when the first apply returned an error', async () => {
  const { api, t } = apiOf('newestFirst');
  let runs = 0;
  const apply = (): Promise<AgentToolResult> => {
    runs++;
    return Promise.resolve({ ...textResult('exit 1'), isError: true });
  };
  const { id } = api.previews.push({ label: 'Deploy', sourceToolName: 'test', apply });
  assert.equal((await t.click(id, 'apply').then(result => result as AgentToolResult)).isError, true);
  assert.equal(
    textOf(await api.previews.resolve({ id, action: 'apply', reason: 'again' })),
    'p1 (Deploy) was already resolved by the user: applied, which failed: exit 1. Reason: Applied by the user.',
  );
  assert.equal(runs, 1);
  assert.deepEqual(
    api.previews.ledger().map(({ outcome }) => outcome),
    ['failed'],
  );
});

test('listeners hear of what is staged, resolved and forgotten', async () => {
  const { api, t } = apiOf('newestFirst');
  const heard: string[] = [];
  api.previews.onDidChange(({ id, state }) => heard.push(`${id} ${state}`));
  t.stage({ label: 'Edit', changes: [modify('a.txt', 'a', 'A')] });
  await api.previews.resolve({ action: 'discard', reason: 'r' });
  await t.store.forgetResolved(new Date(Date.now() + 1_000));
  assert.deepEqual(heard, ['p1 pending', 'p1 applying', 'p1 discarded', 'p1 discarded']);
  assert.equal(api.previews.get('p1'), undefined);
});

test('a push of what is no action, or cannot land as it is declared, is refused at once', () => {
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

test('what is no vote is refused, and whatever comes along with one, its resolution can be read again', async () => {
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
  // Each of its lines is read as after a reload.
  assert.equal(t.log.entries.filter(({ type }) => type === 'resolved').length, 3);
});

test('details of a foreign preview do not make it the undo of another one', async () => {
  const { api, t } = apiOf('newestFirst');
  const id = push(api, 'a.txt', 'a', 'A');
  await api.previews.resolve({ action: 'apply', reason: 'r' });
  const changes = [{ path: 'b.txt', before: 'b', after: 'B' }];
  api.previews.push({ label: 'x', changes, details: { undoes: [id] }, undoes: [id] } as never);
  const applied = t.store.get(id) ?? assert.fail();
  assert.ok(undoBranchAction([applied], t.store.all(), 'test'));
});

test('what an extension’s callbacks are told: the reason, and what came along with it', async () => {
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

test('a push without a source has the one of custom tools', () => {
  const { api } = apiOf('newestFirst');
  assert.equal(
    api.previews.push({ label: 'x', apply: async () => textResult('') }).sourceToolName,
    'custom_tool',
  );
});
