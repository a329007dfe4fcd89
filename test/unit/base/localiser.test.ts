import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countText } from '../../../src/agent/base/localiser.ts';

/** A window whose texts are in a language. */
const speaking = (language: string) => ({ t: () => language });

test('a count is said in the form that its language has for it', () => {
  const english = countText('1 file|{0} files', speaking('en'));
  assert.deepEqual(
    [0, 1, 2].map(count => english(count)),
    ['0 files', '1 file', '2 files'],
  );
  const chinese = countText('{0} 个文件', speaking('zh-cn'));
  assert.deepEqual(
    [0, 1, 2].map(count => chinese(count)),
    ['0 个文件', '1 个文件', '2 个文件'],
  );
  const polish = countText('{0} plik|{0} pliki|{0} plików|{0} pliku', speaking('pl'));
  assert.deepEqual(
    [1, 2, 5, 22].map(count => polish(count)),
    ['1 plik', '2 pliki', '5 plików', '22 pliki'],
  );
});

test('a bar in a name does not begin another form', () => {
  const text = countText('Called {1}|Called {1} {0} times', speaking('en'));
  assert.equal(text(1, 'a|b'), 'Called a|b');
  assert.equal(text(2, 'a|b'), 'Called a|b 2 times');
});

test('forms are in the order of the categories, whichever order the engine has', () => {
  const text = countText('zero|one|two|few|many|other', speaking('ar'));
  assert.deepEqual(
    [0, 1, 2, 3, 11, 100].map(count => text(count)),
    ['zero', 'one', 'two', 'few', 'many', 'other'],
  );
});

test('the rules of a language are made once, however many rows have a count', t => {
  const rules = t.mock.method(Intl, 'PluralRules');
  for (let row = 0; row < 100; row++) countText('1|{0}', speaking('cy'))(row);
  assert.equal(rules.mock.callCount(), 1);
});
