import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../../src/agent/base/logger.ts';
import { PreviewStore } from '../../../../src/agent/preview/previewStore.ts';
import type { Arrangement } from '../../../../src/views/review/reviewList.ts';
import { modify } from '../../../support/changes.ts';
import { draft } from '../../../support/drafts.ts';
import * as stub from '../../../support/fuzz/vscodeStub.ts';
import { MemoryPreviewLog } from '../../../support/testSession.ts';

stub.useVscodeStub();
const { Arranger } = await import('../../../../src/views/pending/arranger.ts');

interface Entry {
  readonly label: string;
}

/** Filters as a user does who types, has one entry marked and ticks others, then presses Enter. */
async function filterBy(typed: string, marked: string, ...ticked: string[]): Promise<string | undefined> {
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  for (const path of ['src/a.txt', 'docs/b.txt']) store.stage(draft({ changes: [modify(path, 'a', 'b')] }));
  let arrangement: Arrangement | undefined;
  const review = {
    setArrangement: (now: Arrangement | undefined) => (arrangement = now),
    refresh: () => undefined,
  };
  const none = () => ({ dispose: () => undefined });
  const looks = { hasAll: () => false, isVisible: () => false, onDidChange: none, onDidMove: none };
  const memory = { get: () => undefined };
  Object.assign(stub.window, {
    createQuickPick: () => {
      let accept = (): void => undefined;
      let hidden = (): void => undefined;
      const pick = {
        items: [] as readonly Entry[],
        selectedItems: [] as readonly Entry[],
        activeItems: [] as readonly Entry[],
        value: typed,
        onDidAccept: (listener: () => void) => void (accept = listener),
        onDidHide: (listener: () => void) => void (hidden = listener),
        hide: () => hidden(),
        dispose: () => undefined,
        show: () => {
          const named = (...labels: string[]) => pick.items.filter(({ label }) => labels.includes(label));
          [pick.selectedItems, pick.activeItems] = [named(...ticked), named(marked)];
          accept();
        },
      };
      return pick;
    },
  });
  const risks = { of: () => [], onDidChange: () => ({ dispose: () => undefined }) };
  const arranger = new Arranger({ store, review, looks, memory, risks, logger: silentLogger } as never);
  await arranger.filter();
  arranger.dispose();
  return arrangement?.filter;
}

test('who types and presses Enter filters by the entry that is marked', async () => {
  assert.equal(await filterBy('sr', 'src/'), 'src/');
});

test('what is ticked counts, and nothing typed and ticked shows all', async () => {
  assert.equal(await filterBy('sr', 'src/', 'docs/'), 'docs/');
  assert.equal(await filterBy('', 'src/'), undefined);
});
