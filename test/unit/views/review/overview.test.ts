import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PreviewStore } from '../../../../src/agent/hold/preview/previewStore.ts';
import { create, modify } from '../../../support/changes.ts';
import { draft } from '../../../support/drafts.ts';
import * as stub from '../../../support/fuzz/vscodeStub.ts';
import { MemoryPreviewLog } from '../../../support/testSession.ts';

stub.useVscodeStub();
const { Overview } = await import('../../../../src/views/review/overview.ts');
const { PreviewTabs } = await import('../../../../src/views/review/previewTabs.ts');
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
  const tabs = new PreviewTabs(store);
  const overview = new Overview(store, path => stub.Uri.file(`/w/${path}`) as never, tabs);
  const shown: string[] = [];
  const seen: (readonly string[])[] = [];
  overview.onDidOpenSet(all => seen.push(all));
  const opener = { open: ({ id }: { readonly id: string }) => void shown.push(id) };
  const commands = previewCommands({ store, overview, opener } as never);
  await commands['redline.preview.openAll']?.(ids, 'What They Are');
  assert.deepEqual(opened.splice(0), [['What They Are · Redline', 3]]);
  const together = (label: string) => tabs.togetherIn({ label, input: undefined } as never);
  assert.deepEqual(together('What They Are · Redline'), ids);
  assert.deepEqual(together('What They Are · Redline (3 files)'), ids, 'as VS Code may write it');
  assert.deepEqual(together('Another · Redline'), []);
  await commands['redline.preview.openAll']?.(ids.slice(0, 1));
  assert.deepEqual(shown, ids.slice(0, 1));
  await commands['redline.preview.open']?.(ids[1]);
  assert.deepEqual(seen, [ids, ids.slice(0, 1), ids.slice(1)]);
  await commands['redline.preview.openAll']?.({
    setId: 's',
    title: 'A prompt',
    open: ids.map(previewId => ({ kind: 'preview', previewId, revision: 1 })),
  });
  await commands['redline.preview.openAll']?.(ids);
  assert.deepEqual(opened.splice(0), [
    ['A prompt · Redline', 3],
    ['Several Previews · Redline', 3],
  ]);
  overview.dispose();
});

test('only what a diff shows whole counts as opened; the rest is left for the next one', async () => {
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  const tabs = new PreviewTabs(store);
  const overview = new Overview(store, path => stub.Uri.file(`/w/${path}`) as never, tabs);
  const seen: (readonly string[])[] = [];
  overview.onDidOpenSet(all => seen.push(all));
  const stage = (files: number) => {
    const changes = Array.from({ length: files }, (_, at) => create(`${files}/${at}.txt`, 'x'));
    return store.stage(draft({ changes })).preview;
  };
  const all = [60, 39, 2, 150].map(stage);
  await overview.openSet(all, 'All');
  await overview.openSet(all.slice(2), 'All');
  await overview.openSet(all.slice(3), 'All');
  assert.deepEqual(seen, [['p1', 'p2'], ['p3'], ['p4']]);
  assert.deepEqual(opened.splice(0), [
    ['All · Redline · first 100 of 251 files', 100],
    ['All · Redline · first 100 of 152 files', 100],
    ['All · Redline · first 100 of 150 files', 100],
  ]);
  overview.dispose();
});
