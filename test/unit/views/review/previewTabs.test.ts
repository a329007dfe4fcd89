import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PreviewStore } from '../../../../src/agent/hold/preview/previewStore.ts';
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
