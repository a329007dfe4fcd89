import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../../../src/agent/base/logger.ts';
import { PreviewStore } from '../../../../../src/agent/hold/preview/previewStore.ts';
import { Rebaser } from '../../../../../src/agent/hold/preview/rebase/rebaser.ts';
import { Invoker } from '../../../../../src/agent/hold/preview/resolve/invoker.ts';
import { create, modify } from '../../../../support/changes.ts';
import { draft } from '../../../../support/drafts.ts';
import * as stub from '../../../../support/fuzz/vscodeStub.ts';
import { MemoryWorkspace } from '../../../../support/memoryWorkspace.ts';
import { MemoryPreviewLog } from '../../../../support/testSession.ts';

stub.useVscodeStub();
const { PartCommands } = await import('../../../../../src/views/review/commands/partCommands.ts');

const told: string[] = [];
Object.assign(stub.window, {
  visibleTextEditors: [],
  showInformationMessage: (text: string) => {
    told.push(text);
    return Promise.resolve(undefined);
  },
});

/** The revision that the diff shows; none is visible if absent. */
let shownRevision: number | undefined;
const shown = new stub.EventEmitter<void>();

test('a key in a diff that still shows the revision before the last hunk was decided decides nothing', async () => {
  const lines = Array.from({ length: 90 }, (_, n) => `line ${n}\n`);
  const text = lines.join('');
  const changed = lines.map((line, n) => (n % 30 === 10 ? `changed ${line}` : line)).join('');
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  const workspace = new MemoryWorkspace({ 'late.txt': text });
  const ctx = {
    store,
    invoker: new Invoker(store, workspace, () => 'none'),
    files: (path: string) => stub.Uri.file(`/${path}`),
    edits: { hasUnsaved: () => false },
    shown: { of: () => shownRevision, onDidShow: shown.event },
  };
  const { id } = store.stage(draft({ changes: [modify('late.txt', text, changed)] })).preview;
  const commands = new PartCommands(ctx as never);
  await commands.voteOnHunk('apply', [id, 'late.txt', 0, 1], undefined);
  const written = (): number => workspace.text('late.txt')?.match(/changed/g)?.length ?? 0;
  assert.equal(written(), 1);

  const at = (revision: number) => ({
    address: { previewId: id, side: 'proposal', path: '/late.txt' } as const,
    line: 40,
    revision,
    pressedAt: 1,
  });
  await commands.voteOnHunk('apply', [], at(1));
  assert.deepEqual([written(), store.get(id)?.state.kind], [1, 'pending']);
  assert.deepEqual(told.splice(0), ['No change is at the cursor.']);
  // Drawn anew, the diff has the hunk at the cursor.
  await commands.voteOnHunk('apply', [], at(2));
  assert.deepEqual([written(), store.get(id)?.state.kind], [2, 'pending']);
  assert.deepEqual(told, []);
});

test('the next key waits for a diff that VS Code draws slowly, and no longer once it is hidden', async t => {
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  const text = 'one\n'.repeat(30);
  const lines = text.split('\n');
  const after = lines.map((line, n) => (n % 10 === 5 ? 'two' : line)).join('\n');
  const ctx = {
    store,
    invoker: new Invoker(store, new MemoryWorkspace({ 'slow.txt': text }), () => 'none'),
    files: (path: string) => stub.Uri.file(`/${path}`),
    edits: { hasUnsaved: () => false },
    shown: { of: () => shownRevision, onDidShow: shown.event },
  };
  const { id } = store.stage(draft({ changes: [modify('slow.txt', text, after)] })).preview;
  const commands = new PartCommands(ctx as never);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  for (const now of [2, undefined]) {
    shownRevision = 1;
    const { promise: waits, resolve } = Promise.withResolvers<void>();
    ctx.shown.onDidShow = listener => {
      resolve();
      return shown.event(listener);
    };
    let isDone = false;
    const { revision } = store.get(id)!;
    const vote = commands
      .voteOnHunk('apply', [id, 'slow.txt', 0, revision], undefined)
      .then(() => (isDone = true));
    await waits;
    t.mock.timers.tick(10_000);
    await new Promise(setImmediate);
    assert.equal(isDone, false);
    shownRevision = now;
    shown.fire();
    await vote;
  }
});

test('a file that the user begins to type into while what it imports is applied first is not applied', async () => {
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  const workspace = new MemoryWorkspace({ 'cart.ts': '' });
  const rebaser = new Rebaser({ store, workspace, logger: silentLogger });
  const warned: string[] = [];
  Object.assign(stub.window, {
    showWarningMessage: (text: string) => {
      warned.push(text);
      return Promise.resolve('Apply Both');
    },
  });
  let isTyped = false;
  const ctx = {
    store,
    rebaser,
    invoker: new Invoker(store, workspace, () => 'none'),
    logger: silentLogger,
    edits: { hasUnsaved: (id: string) => id === cart && isTyped },
    opener: { together: (work: () => unknown) => work() },
  };
  const changes = [modify('cart.ts', '', "import { rate } from './tax';\n")];
  const cart = store.stage(draft({ changes })).preview.id;
  const tax = store.stage(draft({ changes: [create('tax.ts', '')] })).preview.id;
  store.onDidResolve(() => (isTyped = true));
  await new PartCommands(ctx as never).voteOnFile('apply', [cart, 'cart.ts', 1], undefined);
  assert.deepEqual([store.get(cart)?.state.kind, store.get(tax)?.state.kind], ['pending', 'applied']);
  assert.match(warned.at(-1) ?? '', /has edits that you have not saved/);
  rebaser.dispose();
});
