import { test } from 'node:test';
import assert from 'node:assert/strict';
import { todoListOf, todoTool } from '../../../../src/agent/session/tools/todo.ts';
import { createTestSession } from '../../../support/testSession.ts';
import { ToolHarness } from '../../../support/toolHarness.ts';

const step = (text: string, state = 'open') => ({ text, state });
const call = (...items: readonly object[]) => ({ toolCalls: [{ name: 'todo', arguments: { items } }] });

test('the list is that of the last call, one line for each step, and changes no file', async () => {
  assert.equal(todoTool.readOnly, true);
  const t = createTestSession({
    script: [
      call(step('Old', 'done')),
      call(step('Find\n the  bug', 'done'), step('x'.repeat(300), 'doing')),
      {},
    ],
  });
  await t.session.prompt('Go.');
  const [first, second] = todoListOf(t.session.messages);
  assert.deepEqual(first, { text: 'Find the bug', state: 'done' });
  assert.deepEqual(second, { text: `${'x'.repeat(199)}…`, state: 'doing' });
  assert.deepEqual(
    t.results().map(({ content }) => content),
    ['Shown: 1 of 1 step done.', 'Shown: 1 of 2 steps done.'],
  );
  assert.deepEqual(t.store.list('oldestFirst'), []);
});

test('the list is stored with the conversation', async () => {
  const t = createTestSession({ script: [call(step('Test', 'doing')), {}] });
  await t.session.prompt('Go.');
  const again = createTestSession({ sessionLog: t.sessionLog });
  assert.deepEqual(todoListOf(again.session.messages), [step('Test', 'doing')]);
});

test('an empty list removes it, and one that is done goes with the next prompt', async () => {
  const t = createTestSession({
    script: [call(step('A', 'done')), { text: 'Done.' }, { text: 'Yes?' }, call(step('B')), {}, call(), {}],
  });
  await t.session.prompt('Go.');
  assert.equal(todoListOf(t.session.messages).length, 1);
  await t.session.prompt('Thanks.');
  assert.deepEqual(todoListOf(t.session.messages), []);
  await t.session.prompt('More.');
  assert.deepEqual(todoListOf(t.session.messages), [step('B')]);
  await t.session.prompt('Away with it.');
  assert.deepEqual(todoListOf(t.session.messages), []);
});

test('a call that is refused leaves the list as it was', async () => {
  const harness = new ToolHarness();
  const refused = [
    { items: [step('A', 'later')] },
    { items: [step('')] },
    { items: Array(51).fill(step('A')) },
    {},
  ];
  for (const args of refused)
    assert.match((await harness.run('todo', args)).content, /^Invalid arguments for todo\./);
  const t = createTestSession({ script: [call(step('A')), call(step('B', 'later')), {}] });
  await t.session.prompt('Go.');
  assert.deepEqual(todoListOf(t.session.messages), [step('A')]);
});
