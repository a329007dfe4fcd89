import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OutputInTurn } from '../../../scripts/stages/outputInTurn.mjs';

test('stages that run side by side are printed one after the other: the first as it comes, the others kept', () => {
  let printed = '';
  const output = new OutputInTurn(['check', 'build', 'unit'], text => (printed += String(text)));
  const adds = (step: () => void, expected: string): void => {
    printed = '';
    step();
    assert.equal(printed, expected);
  };
  adds(() => output.begin('build'), '');
  adds(() => output.write('build', 'built\n'), '');
  adds(() => output.begin('check'), '\n━━ check ━━\n');
  adds(() => output.write('check', Buffer.from('✔ tsc\n')), '✔ tsc\n');
  adds(() => output.end('build'), '');
  adds(() => output.write('check', '✔ knip\n'), '✔ knip\n');
  adds(() => output.end('check'), '\n━━ build ━━\nbuilt\n');
  adds(() => output.begin('unit'), '\n━━ unit ━━\n');
  adds(() => output.write('unit', '✔ all\n'), '✔ all\n');
});
