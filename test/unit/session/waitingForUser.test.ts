import { test } from 'node:test';
import assert from 'node:assert/strict';
import * as z from 'zod/mini';
import { textResult } from '../../../src/agent/hold/preview/pendingAction.ts';
import { defineTool } from '../../../src/agent/session/tools/tool.ts';
import { modify } from '../../support/changes.ts';
import type { Script, ScriptedTurn } from '../../support/scriptedProvider.ts';
import { createTestSession, type TestSession } from '../../support/testSession.ts';

/** A command that only the user can run, in the sandbox or on disk. */
const command = defineTool({
  name: 'run',
  label: 'Run',
  description: 'Runs the tests.',
  parameters: z.object({ onDisk: z.optional(z.boolean()), writes: z.optional(z.boolean()) }),
  execute({ onDisk, writes }, { stage, followUp, noteShown }) {
    stage({
      label: 'Run: npm test',
      sourceToolName: 'run',
      purpose: 'command',
      humanOnly: true,
      ...(onDisk ? {} : { details: { sandbox: { engine: 'copy', isolated: false } } }),
      apply: () => {
        if (writes) {
          const made = [modify('b.txt', 'b', 'made')];
          const preview = followUp({ label: 'Made', sourceToolName: 'run', changes: made });
          noteShown?.(preview, { from: 0, text: '3 tests passed', end: Infinity });
        }
        return Promise.resolve(textResult('3 tests passed'));
      },
    });
    return Promise.resolve(textResult('The command has not run yet.'));
  },
});

const run = { name: 'run', arguments: {} };
const runOnDisk = { name: 'run', arguments: { onDisk: true } };
const write = { name: 'write_file', arguments: { path: 'a.txt', content: 'new' } };
const todo = { name: 'todo', arguments: { items: [{ text: 'Test it', state: 'doing' }] } };
const vote = (action: 'apply' | 'discard', ...ids: string[]) => ({
  name: 'resolve',
  arguments: { action, reason: 'ok', ids },
});

async function play(
  script: Script,
  forcing: 'auto' | 'forced' | 'always' = 'auto',
  continueAfterReview = true,
): Promise<TestSession> {
  const t = createTestSession({
    files: { 'a.txt': 'a', 'b.txt': 'b' },
    settings: { modelAuthority: 'recommend', forcing, continueAfterReview },
    tools: [command],
    script,
  });
  await t.session.prompt('Write it, and test it.');
  return t;
}

const choices = (t: TestSession): string =>
  t.requests.map(({ toolChoice }) => (toolChoice ? 'named' : '-')).join(' ');

test('words beside calls that wait for the user end the turn, and the result wakes the model', async () => {
  for (const calls of [[run], [run, run], [run, todo], [runOnDisk]]) {
    const t = await play([{ text: 'I run the tests.', toolCalls: calls }, { text: 'They pass.' }]);
    assert.equal(t.requests.length, 1);
    assert.equal(t.session.state, 'awaitingReview');
    await t.click('p1', 'apply');
    await t.untilState(calls[1] === run ? 'awaitingReview' : 'idle');
    assert.equal(t.requests.length, 2);
    assert.match(t.steering().at(-1)?.text ?? '', /^The user applied p1 .*\nIts result:\n3 tests passed$/);
    t.assertSound();
  }
});

test('the turn goes on without words, and beside another call', async () => {
  const read = { name: 'read_file', arguments: { path: 'a.txt' } };
  for (const turn of [
    { toolCalls: [runOnDisk] },
    { toolCalls: [read, run] },
    { text: 'I run the tests.', toolCalls: [run, read] },
  ] satisfies ScriptedTurn[]) {
    const t = await play([turn, { text: 'I wait.' }]);
    assert.equal(t.requests.length, 2);
    t.assertSound();
  }
});

test('a change and the command that tests it end the turn, also without words', async () => {
  for (const text of ['I write it, and run the tests.', '']) {
    const t = await play([{ text, toolCalls: [write, run] }, { toolCalls: [vote('apply', 'p1')] }]);
    assert.equal(t.requests.length, 1);
    assert.equal(t.session.state, 'awaitingReview');
    t.assertSound();
  }
});

test('a vote on a command that was staged only now is not asked for again', async () => {
  const t = await play([{ toolCalls: [run, vote('apply', 'p1')] }, { text: 'I wait.' }]);
  assert.equal(
    t.results()[1]?.content,
    'p1 (Run: npm test) was staged only now, so you have not seen it yet. It is still pending. Only the user decides on it; you will be told the outcome.',
  );
});

test('no vote is forced while a command of the turn waits for the user: the model votes once it knows its result', async () => {
  const t = await play([
    { toolCalls: [write] },
    { text: 'I run the tests.', toolCalls: [run] },
    { text: 'They pass.', toolCalls: [vote('apply', 'p1')] },
  ]);
  assert.equal(choices(t), '- -');
  await t.click('p2', 'apply');
  await t.untilState('awaitingReview');
  assert.equal(choices(t), '- - -');
  const { state } = t.store.get('p1') ?? {};
  assert.equal(state?.kind === 'pending' && state.recommendation?.action, 'apply');
  await t.click('p1', 'apply');
  assert.equal(t.requests.length, 3, 'which leaves nothing to do');
  t.assertSound();
});

test('the model that goes on after a plain refusal of the command votes then; it is woken only if it has to vote', async () => {
  const t = await play([
    { toolCalls: [write] },
    { text: 'I run the tests.', toolCalls: [run] },
    { text: 'It is untested.', toolCalls: [vote('apply', 'p1')] },
  ]);
  await t.click('p2', 'discard');
  await t.untilState('awaitingReview');
  assert.equal(choices(t), '- - -');

  const other = await play([
    { toolCalls: [write] },
    { toolCalls: [vote('apply', 'p1')] },
    { text: 'I run the tests.', toolCalls: [run] },
  ]);
  await other.click('p2', 'discard');
  assert.equal(choices(other), '- - -');
  assert.equal(other.session.state, 'awaitingReview');
});

test('no vote is forced before the command that tests the change has run, after a question either', async () => {
  const t = await play([
    { toolCalls: [write] },
    { text: 'I test it.', toolCalls: [run] },
    { text: 'Yes, it does.' },
    { text: 'They pass.', toolCalls: [vote('apply', 'p1')] },
  ]);
  await t.session.prompt('Does it work on Windows?');
  assert.equal(choices(t), '- - -');
  await t.click('p2', 'apply');
  await t.untilState('awaitingReview');
  assert.equal(t.requests.length, 4, 'its result wakes the model');
  t.assertSound();
});

test('a change that is staged after the command does not bring the vote on the one that it tests', async () => {
  const other = { name: 'write_file', arguments: { path: 'b.txt', content: 'new' } };
  const t = await play([
    { text: 'I test it.', toolCalls: [write, run] },
    { toolCalls: [other] },
    { text: 'Both are staged.' },
  ]);
  await t.session.prompt('Write the other one, too.');
  assert.equal(choices(t), '- - -');
  assert.equal(t.session.state, 'awaitingReview');
});

test('the changes of a command bring no vote while a later command has not run', async () => {
  const t = await play([
    { text: 'I format it, and test it.', toolCalls: [{ name: 'run', arguments: { writes: true } }, run] },
    { text: 'Formatted.' },
    { text: 'They pass.', toolCalls: [vote('apply', 'p3')] },
  ]);
  await t.click('p1', 'apply');
  await t.untilState('awaitingReview');
  assert.equal(choices(t), '- -');
  await t.click('p2', 'apply');
  await t.untilState('awaitingReview');
  assert.equal(choices(t), '- - -');
  t.assertSound();
});

test('a command on disk, and one whose result wakes no model, hold up no vote', async () => {
  for (const [call, wakes] of [
    [runOnDisk, true],
    [run, false],
  ] as const) {
    const script = [
      { toolCalls: [write] },
      { text: 'I run it.', toolCalls: [call] },
      { text: 'I wait.' },
      { toolCalls: [vote('apply', 'p1')] },
    ];
    const t = await play(script, 'auto', wakes);
    assert.equal(choices(t), '- - - named');
    t.assertSound();
  }
});

test('a command holds up no vote on a change that was staged after it', async () => {
  const t = await play([
    { toolCalls: [write] },
    { text: 'I test it.', toolCalls: [run] },
    { toolCalls: [{ name: 'write_file', arguments: { path: 'b.txt', content: 'new' } }] },
    { text: 'Written there.' },
    { toolCalls: [vote('apply', 'p3')] },
  ]);
  await t.click('p1', 'discard', 'Use b.txt.');
  await t.untilState('awaitingReview');
  assert.equal(choices(t), '- - - - named');
  t.assertSound();
});

test('a command of an earlier turn holds up no vote', async () => {
  const t = await play([
    { text: 'I run the tests.', toolCalls: [run] },
    { toolCalls: [write] },
    { text: 'Written.' },
    { toolCalls: [vote('apply', 'p2')] },
  ]);
  await t.session.prompt('Write it without tests.');
  assert.equal(choices(t), '- - - named');
  t.assertSound();
});

for (const forcing of ['forced', 'always'] as const)
  test(`${forcing}: the vote is forced at once, as ever`, async () => {
    const t = await play(
      [{ toolCalls: [write] }, { toolCalls: [run] }, { toolCalls: [vote('apply', 'p1')] }, { text: 'ok' }],
      forcing,
    );
    assert.equal(choices(t).slice(0, 7), '- named');
  });
