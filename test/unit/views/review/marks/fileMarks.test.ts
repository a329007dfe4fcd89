import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../../../src/agent/base/logger.ts';
import { modify } from '../../../../support/changes.ts';
import * as stub from '../../../../support/fuzz/vscodeStub.ts';
import { InvokerHarness } from '../../../../support/invokerHarness.ts';

stub.useVscodeStub();
const { FileMarks } = await import('../../../../../src/views/review/marks/fileMarks.ts');

test('what was slow to read does not bring back the marks of a preview that is gone', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const text = Array.from({ length: 20_000 }, (_, n) => `${n}\n`).join('');
  const drawn: number[] = [];
  const editor = {
    document: { uri: stub.Uri.file('/w/big.txt'), version: 1, getText: () => text },
    setDecorations: (_: object, ranges: readonly object[]) => void drawn.push(ranges.length),
  };
  const none = (): object => ({ dispose: () => undefined });
  Object.assign(stub.window, {
    visibleTextEditors: [editor],
    createTextEditorDecorationType: none,
    onDidChangeVisibleTextEditors: none,
    registerFileDecorationProvider: none,
  });
  Object.assign(stub.workspace, { onDidChangeTextDocument: none });
  const { store, stage, resolve, workspace } = new InvokerHarness('none');
  workspace.put('big.txt', text);
  const { id } = stage({ changes: [modify('big.txt', text, text.replace('19999', 'last'))] });
  const marks = new FileMarks({
    store,
    logger: silentLogger,
    extensionUri: stub.Uri.file('/x'),
    files: (path: string) => stub.Uri.file(`/w/${path}`),
    workspace: { pathOf: (path: string) => path.slice('/w/'.length) },
  } as never);
  t.after(() => marks.dispose());
  const vote = resolve({ id, action: 'discard' });
  while (store.hasPending) await Promise.resolve();
  t.mock.timers.tick(1_000);
  await vote;
  t.mock.timers.tick(1_000);
  // The first reading ends in turns of its own.
  for (let n = 0; n < 200; n++) await new Promise(setImmediate);
  assert.deepEqual(drawn, [0]);
});
