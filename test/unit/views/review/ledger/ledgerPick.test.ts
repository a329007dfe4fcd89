import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textResult } from '../../../../../src/agent/hold/preview/pendingAction.ts';
import { InvokerHarness } from '../../../../support/invokerHarness.ts';
import * as stub from '../../../../support/fuzz/vscodeStub.ts';

stub.useVscodeStub();
const { showLedger } = await import('../../../../../src/views/review/ledger/ledgerPick.ts');

interface Shown {
  readonly label: string;
  readonly description?: string;
  readonly detail?: string;
}
let shown: readonly Shown[] = [];
const event = () => ({ dispose: () => undefined });
Object.assign(stub.window, {
  createQuickPick: () => ({
    set items(items: readonly Shown[]) {
      shown = items.filter(item => !('kind' in item));
    },
    onDidTriggerButton: event,
    onDidAccept: event,
    onDidTriggerItemButton: event,
    onDidHide: event,
    show: () => undefined,
  }),
});

test('a row begins with who did what, when and where; the reasons stand below it', async () => {
  const harness = new InvokerHarness('none');
  const { id } = harness.stage({ title: 'A very long title of what is changed in this file' });
  await harness.store.recommend(id, { action: 'apply', reason: 'Please look at it.' });
  await harness.resolve({ reason: 'Looks right.' });
  showLedger(harness.store);
  const [row = assert.fail()] = shown;
  assert.match(row.label, /^\$\(check\) Applied by you · \d\d:\d\d\s?[AP]?M? · a\.txt$/);
  assert.equal(row.description, 'A very long title of what is changed in this file');
  assert.equal(row.detail, 'Looks right. · The model recommends Apply: Please look at it. · a.txt');
});

test('the row of a command begins with how it ended', async () => {
  const harness = new InvokerHarness('none');
  const run = { exitCode: 1, seconds: 2.14 };
  const apply = () => Promise.resolve(textResult('Failed.', { run }));
  harness.stage({ apply, purpose: 'command', humanOnly: true, title: 'Run: npm test' });
  await harness.resolve();
  showLedger(harness.store);
  assert.match(shown[0]?.label ?? '', /^\$\(error\) Exit 1 · 2\.1 s · by you · /);
});
