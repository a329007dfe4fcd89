import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PreviewStore } from '../../../../src/agent/hold/preview/previewStore.ts';
import { create, modify } from '../../../support/changes.ts';
import { draft } from '../../../support/drafts.ts';
import * as stub from '../../../support/fuzz/vscodeStub.ts';
import { MemoryPreviewLog } from '../../../support/testSession.ts';

stub.useVscodeStub();
const { PreviewTabs } = await import('../../../../src/views/review/previewTabs.ts');

/** The column that a preview opens in, where the active group has these tabs. */
function quietColumn(...tabs: readonly { label: string; input?: object; isPinned?: boolean }[]): unknown {
  const group = { viewColumn: 1, tabs, activeTab: tabs.at(-1) };
  Object.assign(stub.window, { tabGroups: { activeTabGroup: group, all: [group] } });
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  return new PreviewTabs(store).quietColumn(() => false);
}

test('a preview takes the place of the Welcome page, and of nothing else', () => {
  assert.equal(quietColumn(), 1);
  assert.equal(quietColumn({ label: 'Welcome' }), 1);
  assert.equal(quietColumn({ label: 'Settings' }), stub.ViewColumn.Beside);
  assert.equal(quietColumn({ label: 'Welcome', input: {} }), stub.ViewColumn.Beside, 'a file of this name');
  assert.equal(quietColumn({ label: 'Welcome', isPinned: true }), stub.ViewColumn.Beside);
  assert.equal(quietColumn({ label: 'Welcome' }, { label: 'Settings' }), stub.ViewColumn.Beside);
});

test('a multi-file diff has no id in its title, and still each is recognised as what it shows', async () => {
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  const tabs = new PreviewTabs(store);
  const changes = [create('a.txt', 'a'), create('b.txt', 'b')];
  const stage = (label: string) => store.stage(draft({ label, changes })).preview;
  store.stage(draft({ changes: [modify('c.txt', 'c', 'd')] }));
  const [both, again, sly] = ['Both', 'Both', 'Both (Redline) · x'].map(stage);
  assert.ok(both && again && sly);
  const titles = [both, again, sly].map(preview => tabs.multiDiffTitle(preview, ['a note']));
  assert.deepEqual(titles, [
    'Both (Redline) · a note',
    `Both (Redline ${again.id}) · a note`,
    'Both (Redline) · x (Redline) · a note',
  ]);
  const closed: string[] = [];
  const others = ['Gone (Redline)', 'Both (Redline p99)', 'All Pending · Redline', 'Both', 'A (Redline)b'];
  const shown = [...titles, `${titles[0]} (2 files)`, ...others].map(label => ({ label, input: undefined }));
  assert.deepEqual(
    shown.map(tab => tabs.idOf(tab as never)),
    [both.id, again.id, sly.id, both.id, ...others.map(() => undefined)],
  );
  Object.assign(stub.window, {
    tabGroups: {
      all: [{ tabs: shown }],
      close: (gone: readonly { label: string }[]) => closed.push(...gone.map(({ label }) => label)),
    },
  });
  await tabs.closeForgotten();
  assert.deepEqual(closed, ['Gone (Redline)', 'Both (Redline p99)']);
});
