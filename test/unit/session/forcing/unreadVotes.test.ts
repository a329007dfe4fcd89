import { test } from 'node:test';
import assert from 'node:assert/strict';
import * as z from 'zod/mini';
import { textResult } from '../../../../src/agent/hold/preview/pendingAction.ts';
import type { Prover } from '../../../../src/agent/hold/preview/resolve/proof.ts';
import { defineTool } from '../../../../src/agent/session/tools/tool.ts';
import { modify } from '../../../support/changes.ts';
import type { ScriptedTurn } from '../../../support/scriptedProvider.ts';
import {
  createTestSession,
  type TestSession,
  type TestSessionOptions,
} from '../../../support/testSession.ts';

const LOCK = Array.from({ length: 12_000 }, (_, n) => `package ${n}\n`).join('');

/** A command that rewrites a long file, and one that changes a short one. */
const install = defineTool({
  name: 'install',
  label: 'Install',
  description: 'Installs.',
  parameters: z.object({ path: z.string() }),
  execute({ path }, { stage }) {
    const changes = [modify(path, path === 'lock.txt' ? LOCK : 'b', 'new\n')];
    stage({ label: 'Made', sourceToolName: 'install', changes });
    return Promise.resolve(textResult('Installed.'));
  },
});

const call = (name: string, args: object): ScriptedTurn => ({ toolCalls: [{ name, arguments: args }] });
const vote = (...ids: string[]): ScriptedTurn => call('resolve', { action: 'apply', reason: 'ok', ids });
const ok: ScriptedTurn = { text: 'ok' };
const REFUSED = /^Your vote on p1 .* does not count yet, /;
const RECORDED =
  /^Your recommendation for p1 \(Made\) is recorded, with the remark that you were not shown all of the diff\. The user decides; /;

function play(script: TestSessionOptions['script'], more: TestSessionOptions = {}): TestSession {
  return createTestSession({
    files: { 'lock.txt': LOCK, 'b.txt': 'b' },
    tools: [install],
    ...more,
    settings: { modelAuthority: 'apply', forcing: 'auto', ...more.settings },
    ...(script ? { script } : {}),
  });
}

const contents = (t: TestSession): readonly string[] => t.results().map(({ content }) => content);
const advice = (t: TestSession, id = 'p1'): unknown => {
  const state = t.store.get(id)?.state;
  return state?.kind === 'pending' ? state.recommendation : state?.kind;
};
const UNREAD = { action: 'apply', reason: 'ok', isUnread: true };

for (const forcing of ['auto', 'forced', 'always', 'off'] as const)
  for (const modelAuthority of ['recommend', 'apply', 'checked'] as const)
    test(`${forcing}, ${modelAuthority}: after three parts of a very long diff, a vote is recorded with a remark, and not asked for again`, async () => {
      const t = play((_, n) => (n === 0 ? call('install', { path: 'lock.txt' }) : n < 5 ? vote('p1') : ok), {
        settings: { forcing, modelAuthority },
      });
      await t.session.prompt('Install it.');
      const told = contents(t).slice(1);
      assert.deepEqual(
        told.map(text => (REFUSED.test(text) ? 'refused' : RECORDED.test(text) ? 'recorded' : text)),
        ['refused', 'refused', 'refused', 'recorded'],
      );
      const kinds = t.requests.flatMap(({ messages }) =>
        messages.map(m => (m.role === 'steering' ? m.kind : '')),
      );
      assert.ok(!kinds.includes('notice'), 'not left to the user while it votes');
      assert.deepEqual(advice(t), UNREAD);
      assert.equal(t.workspace.text('lock.txt'), LOCK);
      const asked = t.requests.length;
      await t.session.prompt('Thanks.');
      assert.deepEqual(
        t.requests.slice(asked).map(({ toolChoice }) => toolChoice),
        [undefined],
      );
      t.assertSound();
    });

test('checked: what was not read is not applied together with what the checks prove', async () => {
  const prover: Prover = {
    prove: () => Promise.resolve({ isProved: true, checks: [] }),
    factsOf: () => [],
  };
  const script = [
    call('install', { path: 'lock.txt' }),
    ...[vote('p1'), vote('p1'), vote('p1'), vote('p1')],
    call('install', { path: 'b.txt' }),
    vote('p1', 'p2'),
    ok,
  ];
  const t = play(script, { prover, settings: { modelAuthority: 'checked', forcing: 'off' } });
  await t.session.prompt('Install it.');
  assert.deepEqual([t.workspace.text('b.txt'), t.workspace.text('lock.txt')], ['new\n', LOCK]);
  assert.deepEqual(advice(t), UNREAD);
});

for (const forcing of ['auto', 'always'] as const)
  test(`${forcing}: the remark survives a reload, and another vote adds nothing`, async () => {
    const first = play(
      (_, n) => (n === 0 ? call('install', { path: 'lock.txt' }) : n < 5 ? vote('p1') : ok),
      {
        settings: { forcing },
      },
    );
    await first.session.prompt('Install it.');
    const { workspace, log, sessionLog } = first;
    first.session.dispose();
    const t = play([vote('p1'), ok, ok], { workspace, log, sessionLog, settings: { forcing } });
    assert.deepEqual(advice(t), UNREAD);
    await t.session.prompt('Go on.');
    assert.equal(t.requests[0]?.toolChoice, undefined);
    assert.match(contents(t).at(-1) ?? '', RECORDED);
    assert.equal(t.workspace.text('lock.txt'), LOCK);
    await t.click('p1', 'apply');
    assert.deepEqual(t.store.ledger().at(-1)?.recommendation, UNREAD);
  });

test('a model that then reads the rest votes like on any other diff', async () => {
  const look = (): ScriptedTurn =>
    call('pending', { id: 'p1', offset: Number(/offset (\d+)/.exec(contents(t).at(-1) ?? '')?.[1] ?? 0) });
  const t: TestSession = play(
    (_, n) => {
      if (n === 0) return call('install', { path: 'lock.txt' });
      if (n < 5) return vote('p1');
      if (n === 5) return call('pending', { id: 'p1' });
      if (/offset \d+/.test(contents(t).at(-1) ?? '')) return look();
      return contents(t).at(-1)?.startsWith('Applied') ? ok : vote('p1');
    },
    { settings: { forcing: 'off' } },
  );
  await t.session.prompt('Install it.');
  assert.match(contents(t).at(-1) ?? '', /^Applied: p1/);
  assert.equal(t.workspace.text('lock.txt'), 'new\n');
});

test('an amendment begins anew: what the model has written itself counts', async () => {
  const script = [
    call('install', { path: 'lock.txt' }),
    ...[vote('p1'), vote('p1'), vote('p1'), vote('p1')],
    call('edit_file', { path: 'lock.txt', amend: 'p1', edits: [{ old: 'new', new: 'newer' }] }),
    vote('p1'),
    ok,
  ];
  const t = play(script, { settings: { forcing: 'off' } });
  await t.session.prompt('Install it.');
  assert.match(contents(t).at(-1) ?? '', REFUSED);
  assert.equal(advice(t), undefined);
});
