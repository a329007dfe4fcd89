import { mock, test } from 'node:test';
import assert from 'node:assert/strict';
import { modify } from '../../../../support/changes.ts';
import * as stub from '../../../../support/fuzz/vscodeStub.ts';
import { createTestSession } from '../../../../support/testSession.ts';
import type { Agent } from '../../../../../src/views/agent.ts';

stub.useVscodeStub();
const { clearHistory } = await import('../../../../../src/views/chat/history/historyCommands.ts');

test('Clear History forgets all that was resolved, also while the clock was ahead', async () => {
  Object.assign(stub.window, {
    showWarningMessage: (_: string, __: object, button: string) => Promise.resolve(button),
  });
  const t = createTestSession({ files: { 'a.txt': 'a', 'b.txt': 'b' } });
  t.stage({ label: 'Applied', changes: [modify('a.txt', 'a', 'secret')] });
  t.stage({ label: 'Pending', changes: [modify('b.txt', 'b', 'pending')] });
  mock.timers.enable({ apis: ['Date'], now: Date.now() + 86_400_000 });
  await t.click('p1', 'apply');
  mock.timers.reset();
  await clearHistory({ store: t.store } as Agent);
  assert.deepEqual(
    t.store.all().map(({ id }) => id),
    ['p2'],
  );
  assert.ok(!JSON.stringify(t.log.entries).includes('secret'));
});

test('Clear History keeps what is decided while the question is open', async () => {
  const t = createTestSession({ files: { 'a.txt': 'a', 'b.txt': 'b' } });
  t.stage({ label: 'Before', changes: [modify('a.txt', 'a', 'A')] });
  t.stage({ label: 'Meanwhile', changes: [modify('b.txt', 'b', 'B')] });
  await t.click('p1', 'apply');
  Object.assign(stub.window, {
    showWarningMessage: async (_: string, __: object, button: string) => {
      mock.timers.enable({ apis: ['Date'], now: Date.now() + 60_000 });
      await t.click('p2', 'apply');
      return button;
    },
  });
  await clearHistory({ store: t.store } as Agent);
  mock.timers.reset();
  assert.deepEqual(
    t.store.all().map(({ id }) => id),
    ['p2'],
  );
});
