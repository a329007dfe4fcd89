import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileNamed, splitAtFiles } from '../../../../../src/views/chat/webview/fileNames.ts';

test('a path with a folder or a line names a file; a name alone may be anything', () => {
  assert.deepEqual(fileNamed('src/cart.ts'), { path: 'src/cart.ts' });
  assert.deepEqual(fileNamed('cart.ts:12'), { path: 'cart.ts', line: 12 });
  assert.deepEqual(fileNamed('./src/a-b.test.ts:12:5'), { path: './src/a-b.test.ts', line: 12 });
  assert.deepEqual(fileNamed('src\\cart.ts:3-9'), { path: 'src\\cart.ts', line: 3 });
  assert.deepEqual(fileNamed('a.ts:0'), { path: 'a.ts', line: 1 });
  for (const word of ['console.log', 'v1.2', 'https://example.com/a.js', '12:30', 'a.b.c', 'x'.repeat(400)])
    assert.equal(fileNamed(word), undefined, word);
});

test('text is split at the files that it names with a line, and nothing of it is lost', () => {
  const text = 'See src/cart.ts:12, (a.ts:3) and b.ts:4. Not cart.ts or 12:30.';
  const pieces = splitAtFiles(text);
  assert.deepEqual(
    pieces.flatMap(piece => (typeof piece === 'string' ? [] : [piece.word])),
    ['src/cart.ts:12', 'a.ts:3', 'b.ts:4'],
  );
  assert.equal(pieces.map(piece => (typeof piece === 'string' ? piece : piece.word)).join(''), text);
});

test('a long hostile text takes linear time', () => {
  const started = performance.now();
  for (const unit of ['a.', 'a/', 'a.b:1', ':', '1:1:']) splitAtFiles(unit.repeat(200_000));
  assert.ok(performance.now() - started < 5_000);
});
