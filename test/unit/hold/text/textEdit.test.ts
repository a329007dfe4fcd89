import { test } from 'node:test';
import assert from 'node:assert/strict';
import {
  applyTextEdits,
  editsFit,
  editsGive,
  type TextEdit,
} from '../../../../src/agent/hold/text/textEdit.ts';
import { Random } from '../../../support/fuzz/random.ts';

const edit = (start: number, end: number, text = ''): TextEdit => ({ start, end, text });

test('edits give the text that applying them makes, and no other', () => {
  const random = new Random(17);
  const letters = (length: number): string => Array.from({ length }, () => 'ab\n'[random.below(3)]).join('');
  for (let round = 0; round < 2_000; round++) {
    const before = letters(random.below(12));
    const bounds = Array.from({ length: 2 * random.below(4) }, () => random.below(before.length + 1)).sort(
      (a, b) => a - b,
    );
    const edits = Array.from({ length: bounds.length / 2 }, (_, i) =>
      edit(bounds[2 * i] ?? 0, bounds[2 * i + 1] ?? 0, letters(random.below(3))),
    );
    const after = applyTextEdits(before, edits);
    assert.ok(editsGive(before, edits, after));
    assert.ok(editsFit(before.length, edits));
    const other = letters(after.length);
    assert.equal(editsGive(before, edits, other), other === after);
    assert.ok(!editsGive(before, edits, `${after}a`));
  }
});

test('edits that overlap, are out of order, or past the end give nothing and do not fit', () => {
  for (const edits of [
    [edit(0, 2), edit(1, 3)],
    [edit(2, 3), edit(0, 1)],
    [edit(2, 1)],
    [edit(0, 5)],
    [edit(-1, 1)],
  ]) {
    assert.ok(!editsFit(4, edits));
    assert.ok(!editsGive('abcd', edits, applyTextEdits('abcd', edits)));
  }
});
