import { test } from 'node:test';
import assert from 'node:assert/strict';
import type {
  Forcing,
  ModelAuthority,
  ResolveOrder,
} from '../../../src/agent/hold/preview/resolveSettings.ts';
import { modify } from '../../support/changes.ts';
import type { ScriptedTurn } from '../../support/scriptedProvider.ts';
import { createTestSession, type TestSession } from '../../support/testSession.ts';

const files = { 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'c' };
const write = (path: string, content = 'new') => ({ name: 'write_file', arguments: { path, content } });
const vote = (action: 'apply' | 'discard'): ScriptedTurn => ({
  toolCalls: [{ name: 'resolve', arguments: { action, reason: 'r' } }],
});
const resolved = (t: TestSession): string =>
  t.store
    .ledger()
    .map(({ previewId }) => previewId)
    .join(' ');

/** A model that resolves what it is forced to, and nothing else. */
const obedient = (first: ScriptedTurn) => (request: { toolChoice?: unknown }, n: number) =>
  n === 0 ? first : request.toolChoice ? vote('apply') : { text: 'ok' };

const orders: readonly [ResolveOrder, Forcing, string][] = [
  ['oldestFirst', 'forced', 'p1 p2 p3'],
  ['oldestFirst', 'always', 'p1 p2 p3'],
  ['newestFirst', 'forced', 'p3 p1 p2'],
  ['newestFirst', 'always', 'p3 p1 p2'],
];
for (const [order, forcing, expected] of orders) {
  test(`${order}, ${forcing}: the head is forced each time, and a dependent preview as soon as nothing blocks it`, async () => {
    const t = createTestSession({
      files,
      settings: { order, forcing },
      script: obedient({ toolCalls: [write('a.txt', 'b'), write('a.txt', 'c'), write('b.txt')] }),
    });
    await t.session.prompt('Write.');
    assert.deepEqual(t.store.get('p2')?.dependsOn, ['p1']);
    assert.equal(resolved(t), expected);
    t.assertSound();
  });
}

test('a preview that was stale for a while takes its place in the order again', async () => {
  for (const order of ['oldestFirst', 'newestFirst'] as const) {
    const t = createTestSession({ files, settings: { order }, script: obedient({ text: 'ok' }) });
    for (const path of ['a.txt', 'b.txt', 'c.txt'])
      t.stage({ label: path, changes: [modify(path, path.slice(0, 1), 'new')] });
    for (const id of ['p1', 'p3']) await t.store.markStale(id, [id === 'p1' ? 'a.txt' : 'c.txt']);
    for (const id of ['p3', 'p1']) await t.store.markStale(id, []);
    await t.session.prompt('Hello.');
    await t.session.prompt('And now?');
    assert.equal(resolved(t), order === 'oldestFirst' ? 'p1 p2 p3' : 'p3 p2 p1');
  }
});

test('the order setting at the time of the request counts', async () => {
  const t = createTestSession({
    files,
    settings: { order: 'newestFirst' },
    script: obedient({ toolCalls: [write('a.txt'), write('b.txt'), write('c.txt')] }),
  });
  t.session.onDidEmit(event => {
    if (event.type === 'tool_end') t.settings.order = 'oldestFirst';
  });
  await t.session.prompt('Write.');
  assert.equal(resolved(t), 'p1 p2 p3');
});

const modes: readonly ModelAuthority[] = ['apply', 'recommend'];
for (const authority of modes) {
  test(`a vote on an apply that failed meanwhile does not answer the renewed directive (${authority})`, async () => {
    const t = createTestSession({
      files,
      settings: { modelAuthority: authority },
      script: [
        { toolCalls: [write('a.txt')] },
        async () => {
          // The user's apply fails, and a part is split off.
          t.workspace.failWrite(1);
          await assert.rejects(t.click('p1', 'apply'));
          await t.store.revise('p1', [modify('a.txt', 'a', 'newer')], [], 'split');
          return vote('apply');
        },
        vote('apply'),
        { text: 'ok' },
      ],
    });
    await t.session.prompt('Write.');
    assert.match(t.results()[1]?.content ?? '', /p1 \(Rewrite a.txt\) .* at revision 2/);
    assert.deepEqual(
      t.requests.map(({ toolChoice }) => toolChoice !== undefined),
      [false, true, true, false],
    );
    const state = t.store.get('p1')?.state;
    assert.ok(authority === 'apply' ? state?.kind === 'applied' : state?.kind === 'pending');
    if (authority === 'apply') assert.equal(t.workspace.text('a.txt'), 'newer');
    t.assertSound();
  });
}
