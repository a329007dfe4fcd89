import * as assert from 'node:assert/strict';
import { lensRow, reasonRow } from '../../../src/views/review/lensTitles.ts';
import { create, modify } from '../../support/changes.ts';
import { InvokerHarness } from '../../support/invokerHarness.ts';

suite('the row of lenses', () => {
  const lines = 'a\nb\nc\nd\ne\nf\ng\n';
  const edit = modify('a.txt', lines, lines.replace('a', 'A').replace('g', 'G'));

  /** The titles above the first hunk of one file of the head. */
  function rowOf({ store }: InvokerHarness, { file, hunks }: { file: number; hunks: number }): string[] {
    const preview = store.all()[0] ?? assert.fail('no preview');
    const subject = { preview, change: preview.changes?.[file], hunks, hidden: ['only this is hidden'] };
    return lensRow(subject, store).map(({ title }) => title);
  }

  test('one file of two hunks: the hunk first, then the whole, then what is to be known', () => {
    const harness = new InvokerHarness();
    harness.stage({ changes: [edit] });
    assert.deepEqual(rowOf(harness, { file: 0, hunks: 2 }), [
      'Apply hunk',
      'Discard hunk',
      '$(check) Apply all 2 hunks',
      '$(discard) Discard all 2 hunks',
      '$(info) only this is hidden',
    ]);
  });

  test('several files: each has its own buttons, and those of the whole are in the first one only', async () => {
    const harness = new InvokerHarness('recommend');
    harness.stage({ changes: [edit, create('new.txt', 'n\n'), create('third.txt', 't\n')] });
    harness.stage({ changes: [create('other.txt', 'o\n')] });
    await harness.resolve({ actor: 'model', reason: 'Tests pass.' });
    assert.deepEqual(rowOf(harness, { file: 0, hunks: 1 }), [
      'Apply file',
      'Discard file',
      '$(check) Apply all 3 files',
      '$(discard) Discard all 3 files',
      'Next',
      'Discard file with reason…',
      '$(info) only this is hidden',
    ]);
    assert.deepEqual(rowOf(harness, { file: 1, hunks: 1 }), [
      'Create File',
      'Discard file',
      'Discard file with reason…',
      '$(info) only this is hidden',
    ]);
  });

  for (const [action, title, tooltip] of [
    [
      'apply',
      '$(thumbsup) recommended: It is $ (flame) right.',
      'The model recommends Apply: It is $(flame) right.',
    ],
    [
      'discard',
      '$(thumbsdown) not recommended: It is $ (flame) right.',
      'The model recommends Discard: It is $(flame) right.',
    ],
  ] as const)
    test(`a recommendation to ${action} has a row of its own with its reason`, async () => {
      const harness = new InvokerHarness('none');
      const preview = harness.stage({ changes: [edit] });
      await harness.resolve({ actor: 'model', action, reason: 'It is $(flame) right.' });
      const current = harness.store.get(preview.id) ?? preview;
      assert.deepEqual(reasonRow(current), [{ title, command: '', tooltip }]);
    });
});
