import { test } from 'node:test';
import assert from 'node:assert/strict';
import { ToolHarness } from '../../../support/toolHarness.ts';

test('resolve passes its arguments on unchanged, with the signal of the turn', async () => {
  const harness = new ToolHarness();
  const result = await harness.run('resolve', {
    action: 'apply',
    reason: ' as given ',
    extra: { a: [1] },
    id: 'p3',
  });
  assert.equal(result.content, 'resolved');
  const { signal } = harness.controller;
  assert.deepEqual(harness.resolved, [
    { action: 'apply', reason: ' as given ', extra: { a: [1] }, id: 'p3', signal },
  ]);
});

test('optional arguments that are left out stay left out', async () => {
  const harness = new ToolHarness();
  await harness.run('resolve', { action: 'discard', reason: '' });
  assert.deepEqual(Object.keys(harness.resolved[0] ?? {}).sort(), ['action', 'reason', 'signal']);
});

for (const args of [
  { action: 'maybe', reason: '' },
  { action: 'apply' },
  { reason: 'x' },
  { action: 'apply', reason: '', extra: [1] },
  { action: 'apply', reason: '', id: true },
]) {
  test(`${JSON.stringify(args)} is refused by name`, async () => {
    const harness = new ToolHarness();
    const result = await harness.run('resolve', args);
    assert.equal(result.isError, true);
    assert.match(result.content, /^Invalid arguments for resolve\. (action|reason|extra|id): /);
    assert.deepEqual(harness.resolved, []);
  });
}
