import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PreviewStore } from '../../../../src/agent/preview/previewStore.ts';
import { create, modify } from '../../../support/changes.ts';
import { draft } from '../../../support/drafts.ts';
import * as stub from '../../../support/fuzz/vscodeStub.ts';
import { MemoryPreviewLog } from '../../../support/testSession.ts';

stub.useVscodeStub();
const { Overview } = await import('../../../../src/views/review/overview.ts');
const { previewCommands } = await import('../../../../src/views/review/commands/previewCommands.ts');

/** The multi-file diffs that were opened: the title, and the number of files. */
const opened: (readonly [string, number])[] = [];
Object.assign(stub.commands, {
  executeCommand: (_command: string, title: string, files: readonly unknown[]) => {
    opened.push([title, files.length]);
    return Promise.resolve();
  },
});

test('what belongs to a turn opens as a whole, however much else is pending and whatever its state', async () => {
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  const stage = (...paths: string[]): string =>
    store.stage(draft({ changes: paths.map(path => modify(path, 'a', 'b')) })).preview.id;
  const ids = [stage('a.txt'), stage('b.txt', 'c.txt')];
  store.stage(draft({ changes: [create('pending.txt', 'x')] }));
  const overview = new Overview(store, path => stub.Uri.file(`/w/${path}`) as never);
  const shown: string[] = [];
  const opener = { open: ({ id }: { readonly id: string }) => void shown.push(id) };
  const commands = previewCommands({ store, overview, opener } as never);
  await commands['redline.preview.openAll']?.(ids);
  assert.deepEqual(opened, [['Changes of One Turn (Redline)', 3]]);
  await commands['redline.preview.openAll']?.(ids.slice(0, 1));
  assert.deepEqual(shown, ids.slice(0, 1));
  overview.dispose();
});
