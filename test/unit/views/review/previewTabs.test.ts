import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PreviewStore } from '../../../../src/agent/hold/preview/previewStore.ts';
import { create, modify } from '../../../support/changes.ts';
import { draft } from '../../../support/drafts.ts';
import * as stub from '../../../support/fuzz/vscodeStub.ts';
import { MemoryPreviewLog } from '../../../support/testSession.ts';

stub.useVscodeStub();
const { PreviewTabs } = await import('../../../../src/views/review/previewTabs.ts');
const { imageMark, multiDiffTitle } = await import('../../../../src/views/review/titleNotes.ts');

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

test('a multi-file diff has no id in its title, and still each is recognised by it', async () => {
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  const tabs = new PreviewTabs(store);
  const changes = [create('a.txt', 'a'), create('b.txt', 'b')];
  const stage = (label: string) => store.stage(draft({ label, changes })).preview;
  store.stage(draft({ changes: [modify('c.txt', 'c', 'd')] }));
  const [both, again, sly] = ['Both', 'Both', 'Both (Redline) · x'].map(stage);
  assert.ok(both && again && sly);
  const titles = [both, again, sly].map(preview => multiDiffTitle(tabs, preview, ['a note']));
  assert.deepEqual(titles, [
    'Both (Redline) · a note',
    'Both (Redline 2) · a note',
    'Both (Redline) · x (Redline) · a note',
  ]);
  const closed: string[] = [];
  const others = ['Gone (Redline)', 'Both (Redline 9)', 'All Pending · Redline', 'Both', 'A (Redline)b'];
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
  assert.deepEqual(closed, ['Gone (Redline)', 'Both (Redline 9)']);
});

test('diffs of images of one name have numbers, no ids, and each is recognised by it', () => {
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  const tabs = new PreviewTabs(store);
  const stage = (path: string) => store.stage(draft({ changes: [modify(path, 'a', 'b')] })).preview;
  const [one, two] = [stage('one/logo.png'), stage('two/logo.png')];
  const marks = [two, one, two].map(preview => imageMark(tabs, preview, preview.changes?.[0]?.path ?? ''));
  assert.deepEqual(marks, [' (Redline 2).png', ' (Redline).png', ' (Redline 2).png']);
  const labels = [...marks.map(mark => `logo.png ↔ logo.png${mark}`), 'logo.png ↔ other.png (Redline).png'];
  const shown = (of: InstanceType<typeof PreviewTabs>) =>
    labels.map(label => of.idOf({ label, input: undefined } as never));
  assert.deepEqual(shown(tabs), [two.id, one.id, two.id, undefined]);
  // A window that was reloaded closes what it cannot tell.
  assert.deepEqual(shown(new PreviewTabs(store)), [undefined, one.id, undefined, undefined]);
});
