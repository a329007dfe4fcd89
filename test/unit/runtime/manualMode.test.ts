import { test } from 'node:test';
import assert from 'node:assert/strict';
import type { ChatRequest } from '../../../src/agent/session/model/chatProvider.ts';
import type { Forcing } from '../../../src/agent/hold/preview/resolveSettings.ts';
import type { ScriptedTurn } from '../../support/scriptedProvider.ts';
import { modify } from '../../support/changes.ts';
import { createTestSession, type TestSession } from '../../support/testSession.ts';

const files = { 'a.txt': 'a', 'b.txt': 'b' };
const staging: ScriptedTurn = {
  toolCalls: [{ name: 'write_file', arguments: { path: 'a.txt', content: 'new' } }],
};
const applying: ScriptedTurn = {
  toolCalls: [{ name: 'resolve', arguments: { action: 'apply', reason: 'r' } }],
};
const ok: ScriptedTurn = { text: 'ok' };
const forced = (t: TestSession): string =>
  t.requests.map(({ toolChoice }) => (toolChoice ? 'F' : '-')).join('');
const reminders = ({ messages }: ChatRequest): number =>
  messages.filter(message => message.role === 'steering' && message.kind === 'resolve-reminder').length;

/** The user switches to Manual as soon as something is staged. */
function switchingAfterStaging(script: readonly ScriptedTurn[], forcing: Forcing = 'forced'): TestSession {
  const t = createTestSession({ files, script, settings: { forcing } });
  let isFirst = true;
  t.session.onDidEmit(event => {
    if (event.type !== 'tool_end' || !isFirst) return;
    isFirst = false;
    t.settings.modelAuthority = 'none';
  });
  return t;
}

test('a switch to Manual before the next request: it does not ask for a vote', async () => {
  const t = switchingAfterStaging([staging, ok]);
  await t.session.prompt('Write.');
  assert.equal(forced(t), '--');
  assert.deepEqual(t.requests.map(reminders), [0, 0]);
  assert.equal(t.session.state, 'awaitingReview');
});

for (const forcing of ['forced', 'always'] as const) {
  test(`${forcing}: after Manual the model is reminded of, and forced to resolve, what it was not asked about`, async () => {
    const t = switchingAfterStaging([staging, ok, applying, ok], forcing);
    await t.session.prompt('Write.');
    t.settings.modelAuthority = 'apply';
    await t.session.prompt('Go on.');
    assert.equal(forced(t), '--F-');
    assert.deepEqual(t.requests.map(reminders), [0, 0, 1, 1]);
    assert.equal(t.workspace.text('a.txt'), 'new');
    t.assertSound();
  });

  test(`${forcing}: what was staged in Manual is asked about once the mode changes`, async () => {
    const t = createTestSession({
      files,
      settings: { forcing, modelAuthority: 'none' },
      script: [staging, ok, applying, ok],
    });
    await t.session.prompt('Write.');
    assert.deepEqual(t.steering(), []);
    t.settings.modelAuthority = 'apply';
    await t.session.prompt('And?');
    assert.equal(forced(t), '--F-');
    assert.equal(t.workspace.text('a.txt'), 'new');
    t.assertSound();
  });
}

test('off: a resolve without an id means what was staged in Manual, once the mode changes', async () => {
  const t = createTestSession({
    files,
    settings: { forcing: 'off', modelAuthority: 'none' },
    script: [staging, ok, applying, ok],
  });
  await t.session.prompt('Write.');
  t.settings.modelAuthority = 'apply';
  await t.session.prompt('And?');
  assert.equal(forced(t), '----');
  assert.deepEqual(t.requests.map(reminders), [0, 0, 1, 1]);
  assert.equal(t.workspace.text('a.txt'), 'new');
});

test('what is resolved in Manual is never asked about afterwards', async () => {
  const t = createTestSession({
    files,
    settings: { modelAuthority: 'none', forcing: 'always' },
    script: [staging, ok, ok],
  });
  await t.session.prompt('Write.');
  await t.click('p1', 'discard');
  await t.untilState('idle');
  t.settings.modelAuthority = 'apply';
  await t.session.prompt('And?');
  assert.equal(forced(t), '---');
  assert.ok(t.steering().every(({ kind }) => kind !== 'resolve-reminder'));
});

for (const [what, decide, requests] of [
  ['applies everything', t => t.click('p1', 'apply'), 2],
  ['applies it with a reason', t => t.click('p1', 'apply', 'Now the other one.'), 3],
  [
    'applies it with an edit',
    async t => {
      await t.store.revise('p1', [modify('a.txt', 'a', 'mine')], [], 'user');
      await t.click('p1', 'apply');
    },
    3,
  ],
  ['refuses it', t => t.click('p1', 'discard'), 2],
  ['refuses it with a reason', t => t.click('p1', 'discard', 'It is wrong.'), 3],
] satisfies [string, (t: TestSession) => Promise<unknown>, number][])
  test(`the model is${requests === 2 ? ' not' : ''} woken when the user ${what}`, async () => {
    const t = createTestSession({
      files,
      settings: { modelAuthority: 'none', forcing: 'auto' },
      script: [staging, { text: 'Written.' }, ok],
    });
    await t.session.prompt('Write.');
    await decide(t);
    await t.untilState('idle');
    assert.equal(t.requests.length, requests);
    t.assertSound();
  });

test('a plain apply wakes a model whose list has open steps', async () => {
  const todo = { name: 'todo', arguments: { items: [{ text: 'Rename it', state: 'open' }] } };
  const t = createTestSession({
    files,
    settings: { modelAuthority: 'none', forcing: 'auto' },
    script: [staging, { toolCalls: [todo] }, { text: 'Written.' }, ok],
  });
  await t.session.prompt('Write.');
  await t.click('p1', 'apply');
  await t.untilState('idle');
  assert.equal(t.requests.length, 4);
});

test('a forced turn in which the user switches to Manual does not count as unanswered', async () => {
  let turn = 0;
  const t = createTestSession({
    files,
    ladderMemory: { get: () => 'named', set: () => undefined },
    script: ({ toolChoice }) => {
      if (turn++ === 0) return staging;
      if (toolChoice) t.settings.modelAuthority = 'none';
      return ok;
    },
  });
  for (let n = 0; n < 5; n++) {
    t.settings.modelAuthority = 'apply';
    await t.session.prompt('Again.');
  }
  assert.equal(forced(t), '-FFFFF');
  assert.ok(t.steering().every(({ kind }) => kind !== 'notice'));
});
