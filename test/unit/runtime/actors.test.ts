import { test } from 'node:test';
import assert from 'node:assert/strict';
import { ToolError } from '../../../src/agent/base/errors.ts';
import {
  resultText,
  textResult,
  type AgentToolResult,
} from '../../../src/agent/hold/preview/pendingAction.ts';
import type { Actor } from '../../../src/agent/hold/preview/preview.ts';
import { humanReason } from '../../../src/agent/hold/preview/resolve/resolveTexts.ts';
import { modify } from '../../support/changes.ts';
import { createTestSession } from '../../support/testSession.ts';
import { resolvedText, toolResult } from '../../../src/agent/hold/preview/resolve/resolved.ts';

const actors: readonly Actor[] = ['human', 'model', 'extension'];
const reject = { reject: () => Promise.resolve(textResult('cleaned up')) };
const callbacks: Record<string, { apply: () => Promise<AgentToolResult>; reject?: typeof reject.reject }> = {
  'apply that works': { apply: () => Promise.resolve(textResult('done', { n: 1 })) },
  'apply that returns an error': {
    apply: () => Promise.resolve({ ...textResult('bad'), isError: true }),
  },
  'apply that throws': { apply: () => Promise.reject(new Error('broken')) },
  'apply that throws a ToolError': { apply: () => Promise.reject(new ToolError('Do it otherwise.')) },
  'discard without reject': { apply: () => assert.fail('not this one') },
  'discard with reject': { apply: () => assert.fail('not this one'), ...reject },
};

for (const [name, action] of Object.entries(callbacks)) {
  test(`human, model and extension take one path: ${name}`, async () => {
    const seen = [];
    for (const actor of actors) {
      const t = createTestSession();
      const { id } = t.stage({ label: 'Same', sourceToolName: 'same', ...action });
      const vote = name.startsWith('apply') ? 'apply' : 'discard';
      const answer = await t.invoker
        .resolve({ id, action: vote, reason: 'r', extra: { k: 1 }, actor })
        .then(toolResult)
        .catch((error: unknown) => String(error));
      const [entry] = t.store.ledger();
      assert.equal(entry?.actor, actor);
      const { kind } = t.store.get(id)?.state ?? assert.fail();
      seen.push(JSON.stringify({ answer, kind, entry: { ...entry, actor: '', at: '' } }));
    }
    assert.deepEqual(seen, Array(3).fill(seen[0]));
  });
}

test('a click without a reason gets the default one; a typed reason is kept', () => {
  assert.equal(humanReason('apply'), 'Applied by the user.');
  assert.equal(humanReason('discard', '  '), 'Discarded by the user.');
  assert.equal(humanReason('discard', ' no '), 'no');
});

test('a failed attempt is in the ledger too, before the one that succeeds', async () => {
  const t = createTestSession({ files: { 'a.txt': 'a' } });
  t.stage({ label: 'Edit', changes: [modify('a.txt', 'a', 'A')] });
  t.workspace.failWrite(1);
  await assert.rejects(t.click('p1', 'apply'));
  await t.click('p1', 'apply');
  assert.deepEqual(
    t.store.ledger().map(({ outcome, action, files }) => ({ outcome, action, files: files.length })),
    [
      { outcome: 'failed', action: 'apply', files: 1 },
      { outcome: 'applied', action: 'apply', files: 1 },
    ],
  );
});

test('there is no cap on how many previews may be pending', () => {
  const t = createTestSession();
  for (let n = 0; n < 1_000; n++) t.stage({ label: `${n}`, apply: () => Promise.resolve(textResult('')) });
  assert.equal(t.store.open.size, 1_000);
});

test('a call that changes nothing stages nothing, and says so, also if a producer passes an empty list of changes', () => {
  const t = createTestSession();
  assert.throws(
    () => t.stage({ label: 'Rename', changes: [] }),
    /^ToolError: Nothing to change: Rename\. Nothing was staged\.$/,
  );
  assert.equal(t.store.hasPending, false);
});

test('a second vote while one is applying is told so, and who applies', async () => {
  const t = createTestSession();
  t.stage({ label: 'Once', apply: () => Promise.resolve(textResult('done')) });
  const [first, second] = await Promise.all([
    t.click('p1', 'apply'),
    t.invoker.resolve({ id: 'p1', action: 'discard', reason: 'x', actor: 'extension' }),
  ]);
  assert.equal(resultText(first as AgentToolResult), 'done');
  assert.equal(resolvedText(second), 'p1 (Once) was already resolved by the user: applied.');
});
