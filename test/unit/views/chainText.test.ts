import { test } from 'node:test';
import assert from 'node:assert/strict';
import { chainText } from '../../../src/views/preview/chainText.ts';

const cases: readonly [ids: string, expected: string][] = [
  ['p1', 'p1'],
  ['p1 p2', 'p1, p2'],
  ['p1 p2 p3', 'p1–p3'],
  ['p9 p10 p11 p12', 'p9–p12'],
  ['p1 p3 p4', 'p1, p3, p4'],
  ['p3 p2 p1', 'p3, p2, p1'],
  ['', ''],
];

for (const [ids, expected] of cases) {
  test(`${ids || 'none'}: ${expected || 'nothing'}`, () => {
    assert.equal(
      chainText(
        ids
          .split(' ')
          .filter(Boolean)
          .map(id => ({ id })),
      ),
      expected,
    );
  });
}
