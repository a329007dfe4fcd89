import { test } from 'node:test';
import assert from 'node:assert/strict';
import { InvalidArgumentsError } from '../../../../src/agent/base/errors.ts';
import { specOf } from '../../../../src/agent/session/tools/toolSpec.ts';
import { revertToStateTool } from '../../../../src/agent/session/tools/revertToState.ts';
import type { ToolContext } from '../../../../src/agent/session/tools/tool.ts';
import { ToolHarness } from '../../../support/toolHarness.ts';

const tool = revertToStateTool(() => true);
const harness = (): ToolHarness => new ToolHarness({}, [tool]);

test('its name, label and schema', () => {
  assert.deepEqual([tool.name, tool.label], ['revert_to_state', 'Revert to State']);
  const { parameters } = specOf(tool);
  const { properties, ...rest } = parameters as { properties: Record<string, Record<string, unknown>> };
  assert.deepEqual(rest, { type: 'object', required: ['category', 'step'] });
  assert.deepEqual(
    Object.entries(properties).map(([name, { type, enum: values }]) => [name, type, values]),
    [
      ['category', 'string', ['failure', 'tangent', 'completion', 'step-summary']],
      ['step', 'string', undefined],
      ['summary', 'string', undefined],
    ],
  );
});

test('its description teaches the tree and the four categories', () => {
  for (const word of ['tree', '[n10]', 'summary', 'failure', 'tangent', 'completion', 'step-summary'])
    assert.ok(tool.description.includes(word), word);
});

for (const [what, args, text] of [
  ['no category', { step: 'n1' }, 'category is required'],
  ['a category that is no string', { category: 7, step: 'n1' }, 'category is required'],
  ['no object at all', 'null', 'category is required'],
  [
    'an unknown category',
    { category: 'Failure', step: 9 },
    'category must be one of failure | tangent | completion | step-summary; got "Failure"',
  ],
  ['no step', { category: 'failure' }, 'step is required'],
  ['a step that is no string', { category: 'failure', step: 12 }, 'step is required'],
  [
    'a step that names no node',
    { category: 'failure', step: 'node "1"' },
    'step must be a node identifier like "n12" or "12"; got "node \\"1\\""',
  ],
] as const) {
  test(`${what} is an invalid-arguments error, and nothing is queued`, async () => {
    const h = harness();
    const result = await h.run('revert_to_state', args);
    assert.deepEqual([result.content, result.isError], [text, true]);
    assert.deepEqual(h.reverts, []);
    const params: unknown = typeof args === 'string' ? JSON.parse(args) : args;
    await assert.rejects(() => tool.execute(params, {} as ToolContext), InvalidArgumentsError);
  });
}

test('with a summary: the acknowledgement, details null, and one request in the queue', async () => {
  const h = harness();
  const args = { category: 'step-summary', step: '12', summary: 'a "b"\nc' };
  const result = await h.run('revert_to_state', args);
  assert.equal(
    result.content,
    'Revert request recorded: category=step-summary, target=n12, summary="a \\"b\\"\\nc". The trunk will be rebuilt from this node before the next turn.',
  );
  assert.deepEqual([result.isError, result.details], [false, null]);
  assert.deepEqual(h.reverts, [{ category: 'step-summary', target: 12, summary: 'a "b"\nc' }]);
});

test('without a summary the acknowledgement has none; one that is not a string counts as absent', async () => {
  for (const more of [{}, { summary: 5 }, { summary: null }]) {
    const h = harness();
    const result = await h.run('revert_to_state', { category: 'failure', step: 'n3', ...more });
    assert.equal(
      result.content,
      'Revert request recorded: category=failure, target=n3. The trunk will be rebuilt from this node before the next turn.',
    );
    assert.deepEqual(h.reverts, [{ category: 'failure', target: 3, summary: null }]);
  }
});

test('a summary has any length', async () => {
  const harness = new ToolHarness({}, [tool]);
  const summary = 'x'.repeat(20_000);
  const { isError } = await harness.run('revert_to_state', { category: 'failure', step: 'n1', summary });
  assert.equal(isError, false);
  assert.equal(harness.reverts[0]?.summary, summary);
});
