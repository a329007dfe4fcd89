import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CheckSettings } from '../../../../../src/views/review/checks/checkSettings.ts';
import * as stub from '../../../../support/fuzz/vscodeStub.ts';

stub.useVscodeStub();
const { chosenPreviews } = await import('../../../../../src/views/review/checks/checkCommands.ts');

test('what the workspace brings while the person reads the question is not approved by the answer', async () => {
  const brought = [{ name: 'lint', command: 'npm run lint' }];
  const given = { checks: { own: [], brought }, broughtShell: 'shown' };
  const memory = new Map<string, unknown>();
  const settings = new CheckSettings(
    {
      get: (key: string) => memory.get(key),
      update: (key: string, value: unknown) => Promise.resolve(void memory.set(key, value)),
    } as never,
    given as never,
  );
  let asked = '';
  Object.assign(stub.workspace, { isTrusted: true });
  Object.assign(stub.window, {
    showWarningMessage: (_text: string, { detail }: { detail: string }) => {
      asked = detail;
      given.broughtShell = 'changed meanwhile';
      return Promise.resolve('Approve and Run');
    },
  });
  const none = { withBase: () => [], checkable: () => [] };
  const checks = { hasChecks: true, settings, load: () => Promise.resolve(none) };
  await chosenPreviews({ checks, store: { list: () => [] }, session: { id: 's' } } as never, []);
  assert.match(asked, /npm run lint[^]*Shell settings from the workspace: shown/);
  assert.deepEqual(
    settings.list.map(({ isApproved }) => isApproved),
    [false],
  );
  given.broughtShell = 'shown';
  assert.deepEqual(
    settings.list.map(({ isApproved }) => isApproved),
    [true],
  );
});
