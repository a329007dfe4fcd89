import { test } from 'node:test';
import assert from 'node:assert/strict';
import type { ScriptedTurn } from '../../../support/scriptedProvider.ts';
import { createTestSession, type TestSession } from '../../../support/testSession.ts';

const files = { 'a.txt': 'a', 'b.txt': 'b' };
const staging: ScriptedTurn = {
  toolCalls: ['a.txt', 'b.txt'].map(path => ({ name: 'write_file', arguments: { path, content: 'new' } })),
};
const vote = (args: object) => ({ name: 'resolve', arguments: { action: 'apply', reason: 'ok', ...args } });
const both = vote({ ids: ['p1', 'p2'] });
const everything = vote({ ids: Array.from({ length: 50 }, (_, n) => `p${n + 1}`) });
const ready: ScriptedTurn = { text: 'Ready.' };

/** What becomes of a model that goes on like this, whatever it is told, and how many requests that takes at most. */
const ODD: readonly (readonly [
  what: string,
  script: readonly ScriptedTurn[],
  applied: number,
  requests: number,
])[] = [
  ['answers only with text', Array<ScriptedTurn>(9).fill(ready), 0, 1],
  ['never votes', [staging, ...Array<ScriptedTurn>(9).fill(ready)], 0, 5],
  [
    'reads on instead of voting',
    [
      staging,
      ready,
      ...Array<ScriptedTurn>(9).fill({ toolCalls: [{ name: 'read_file', arguments: { path: 'a.txt' } }] }),
      ready,
      ready,
      ready,
    ],
    0,
    15,
  ],
  ['votes twice in one message', [staging, ready, { toolCalls: [both, both] }, ready], 2, 4],
  ['votes again after its vote', [staging, { toolCalls: [both] }, { toolCalls: [both] }, ready], 2, 4],
  ['votes on everything', [staging, ready, { toolCalls: [everything] }, ready], 2, 4],
  [
    'votes on nothing that there is',
    [staging, { toolCalls: [vote({ id: 'p99' })] }, ready, { toolCalls: [both] }, ready],
    2,
    5,
  ],
  [
    'votes on what it stages in the same message',
    [{ toolCalls: [...(staging.toolCalls ?? []), both] }, ready, { toolCalls: [both] }, ready],
    2,
    4,
  ],
];

const applied = (t: TestSession): number =>
  Object.values(t.workspace.snapshot()).filter(text => text === 'new').length;

for (const [what, script, lands, most] of ODD)
  for (const modelAuthority of ['apply', 'recommend'] as const)
    test(`${modelAuthority}: a model that ${what} comes to an end, and what it was not asked for stays as it is`, async () => {
      const t = createTestSession({ files, settings: { forcing: 'auto', modelAuthority }, script });
      await t.session.prompt('Write both.');
      assert.ok(t.requests.length <= most, `${t.requests.length} requests`);
      assert.equal(applied(t), modelAuthority === 'apply' ? lands : 0);
      assert.equal(t.session.state, t.store.open.size > 0 ? 'awaitingReview' : 'idle');
      assert.deepEqual(t.errors, []);
    });

test('a model that calls what plan mode forbids ten times is refused ten times, and can submit its plan', async () => {
  const forbidden = [
    { name: 'write_file', arguments: { path: 'a.txt', content: 'new' } },
    { name: 'edit_file', arguments: { path: 'a.txt', edits: [{ old: 'a', new: 'new' }] } },
    { name: 'delete_file', arguments: { path: 'a.txt' } },
    { name: 'rename_file', arguments: { from: 'a.txt', to: 'c.txt' } },
  ];
  const calls = Array.from({ length: 10 }, (_, n) => forbidden[n % forbidden.length] ?? assert.fail());
  const plan: ScriptedTurn = { text: '# Plan', toolCalls: [vote({ extra: { title: 'Plan' } })] };
  const script = [...calls.map((call): ScriptedTurn => ({ toolCalls: [call] })), plan];
  const t = createTestSession({ files, settings: { forcing: 'auto' }, script });
  t.session.setPlanMode(true);
  await t.session.prompt('Plan it.');
  assert.equal(t.requests.length, 11);
  const prefixes = new Set(t.requests.map(({ system, tools }) => JSON.stringify([system, tools])));
  assert.equal(prefixes.size, 1, 'the prefix is kept');
  assert.deepEqual(
    t
      .results()
      .map(({ toolName, isError, content }) => [
        toolName,
        isError,
        content.startsWith(`${toolName} cannot be called while plan mode is on`),
      ]),
    [...calls.map(({ name }) => [name, true, true]), ['resolve', false, false]],
  );
  assert.deepEqual(t.workspace.snapshot(), files);
  const staged = t.store.all().map(({ label }) => label);
  assert.deepEqual(staged, ['Plan ready for approval']);
  assert.deepEqual(t.errors, []);
});
