import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Emitter } from '../../../../src/agent/base/event.ts';
import { create } from '../../../support/changes.ts';
import * as stub from '../../../support/fuzz/vscodeStub.ts';
import { InvokerHarness } from '../../../support/invokerHarness.ts';

stub.useVscodeStub();
const { AppliedUnseen } = await import('../../../../src/views/review/appliedUnseen.ts');

const item = { text: '', isShown: false, command: undefined as unknown };
Object.assign(stub.window, {
  createStatusBarItem: () =>
    Object.assign(item, {
      show: () => (item.isShown = true),
      hide: () => (item.isShown = false),
      dispose: () => undefined,
    }),
});

/** The model applies new files, one preview each. */
async function applyFiles(harness: InvokerHarness, ...paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const { id } = harness.stage({ changes: [create(path, 'x')] });
    await harness.resolve({ id, actor: 'model' });
  }
}

test('what the model applied counts until the user has it before them', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const harness = new InvokerHarness('apply');
  const opened = new Emitter<readonly string[]>();
  const onScreen = new Emitter<void>();
  const switched = new Emitter<void>();
  let mode: 'apply' | 'checked' | 'recommend' = 'apply';
  let visible: readonly { preview: { id: string } }[] = [];
  await applyFiles(harness, 'before.txt');
  const since = harness.store.ledger().length;
  await applyFiles(harness, 'one.txt');
  const unseen = new AppliedUnseen(
    harness.store,
    { onDidShow: onScreen.event, visible: () => visible } as never,
    opened.event,
    since,
    { get: () => mode, set: () => Promise.resolve(), onDidChange: switched.event },
  );
  await applyFiles(harness, 'two.txt', 'three.txt');
  await harness.resolve({ id: harness.stage({ changes: [create('mine.txt', 'x')] }).id });
  t.mock.timers.tick(1_000);
  assert.deepEqual([item.isShown, item.text], [true, '$(history) Auto · 3 applied since you looked']);
  visible = [{ preview: { id: 'p2' } }];
  onScreen.fire();
  t.mock.timers.tick(1_000);
  assert.match(item.text, /Auto · 2 applied since you looked$/);
  for (const [next, text] of [
    ['checked', 'Auto if Checks Pass · 2 applied since you looked'],
    ['recommend', '2 applied since you looked'],
  ] as const) {
    mode = next;
    switched.fire();
    t.mock.timers.tick(1_000);
    assert.equal(item.text, `$(history) ${text}`);
  }
  assert.deepEqual((item.command as { arguments: unknown }).arguments, [
    ['p3', 'p4'],
    'Applied since You Looked',
  ]);
  opened.fire(['p3', 'p4']);
  t.mock.timers.tick(1_000);
  assert.equal(item.isShown, false);
  unseen.dispose();
});
