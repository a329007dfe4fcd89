import { test } from 'node:test';
import assert from 'node:assert/strict';
import type { ChatRequest } from '../../../src/agent/session/model/chatProvider.ts';
import type { Forcing } from '../../../src/agent/hold/preview/resolveSettings.ts';
import type { ScriptedTurn } from '../../support/scriptedProvider.ts';
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
const offersResolve = ({ tools }: ChatRequest): boolean => tools.some(({ name }) => name === 'resolve');

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

test('a switch to Manual before the next request: it neither offers resolve nor asks for it', async () => {
  const t = switchingAfterStaging([staging, ok]);
  await t.session.prompt('Write.');
  assert.deepEqual(t.requests.map(offersResolve), [true, false]);
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
    script: [staging, ok, ok, ok],
  });
  await t.session.prompt('Write.');
  await t.click('p1', 'discard');
  await t.untilState('idle');
  t.settings.modelAuthority = 'apply';
  await t.session.prompt('And?');
  assert.equal(forced(t), '----');
  assert.ok(t.steering().every(({ kind }) => kind !== 'resolve-reminder'));
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
