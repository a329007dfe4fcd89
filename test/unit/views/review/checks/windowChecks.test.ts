import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Emitter } from '../../../../../src/agent/base/event.ts';
import { silentLogger } from '../../../../../src/agent/base/logger.ts';
import type { SessionState } from '../../../../../src/agent/session/conversation/storage/sessionEntry.ts';
import type { SessionEvent } from '../../../../../src/agent/session/events.ts';
import * as stub from '../../../../support/fuzz/vscodeStub.ts';

stub.useVscodeStub();
Object.assign(stub.workspace, { onDidChangeConfiguration: () => ({ dispose: () => undefined }) });
const { WindowChecks } = await import('../../../../../src/views/review/checks/windowChecks.ts');

test('checks run once when the agent ends its turn, not after each of its requests', async () => {
  const settings = { atTurnEnd: ['test'] };
  const checks = new WindowChecks({ settings, logger: silentLogger } as never);
  const checked: string[] = [];
  const checkable = (id: string): string[] => [id];
  const run = (previews: readonly string[]): Promise<void> => Promise.resolve(void checked.push(...previews));
  Object.assign(checks, { load: () => Promise.resolve({ checkable, run }) });
  const events = new Emitter<SessionEvent>();
  const following = checks.follow({ id: 's1', onDidEmit: events.event });
  const toState = async (state: SessionState): Promise<void> => {
    events.fire({ type: 'state_changed', state });
    await new Promise(setImmediate);
  };
  await toState('running');
  for (let n = 0; n < 3; n++) events.fire({ type: 'turn_end', stopReason: 'toolCalls' });
  await new Promise(setImmediate);
  assert.deepEqual(checked, []);
  await toState('awaitingReview');
  assert.deepEqual(checked, ['s1']);
  await toState('idle');
  assert.deepEqual(checked, ['s1'], 'the user has decided');
  following.dispose();
  checks.dispose();
});
