import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { withoutIgnored } from '../../../../../../src/agent/session/tools/ast/scope/ignoreRules.ts';
import { TempFolder } from '../../../../../support/tempFolder.ts';

const temp = await TempFolder.create();
after(() => temp.remove());

test('without .gitignore everything is kept, in the given order', async () => {
  const root = await temp.folder('none');
  assert.deepEqual(await withoutIgnored(root, ['b', 'a/c']), ['b', 'a/c']);
});

test('each .gitignore applies to its own folder and those below', async () => {
  await temp.file('nested/.gitignore', '*.log\n/dist/\n');
  await temp.file('nested/sub/.gitignore', 'local.txt\n');
  const paths = ['a.log', 'a.ts', 'dist/x.js', 'sub/dist/x.js', 'sub/b.log', 'sub/local.txt', 'local.txt'];
  assert.deepEqual(await withoutIgnored(temp.at('nested'), paths), ['a.ts', 'sub/dist/x.js', 'local.txt']);
});

test('an exception in the same file keeps a path', async () => {
  await temp.file('excepted/.gitignore', '*.env\n!example.env\n');
  assert.deepEqual(await withoutIgnored(temp.at('excepted'), ['x.env', 'example.env']), ['example.env']);
});

test('an exception in a subfolder keeps a path, as in git', async () => {
  await temp.file('deeper/.gitignore', '*.env\n');
  await temp.file('deeper/sub/.gitignore', '!keep.env\n');
  assert.deepEqual(await withoutIgnored(temp.at('deeper'), ['a.env', 'sub/keep.env', 'sub/b.env']), [
    'sub/keep.env',
  ]);
});

test('an exception inside an ignored folder has no effect', async () => {
  await temp.file('closed/.gitignore', 'build/\n');
  await temp.file('closed/build/.gitignore', '!a.txt\n');
  assert.deepEqual(await withoutIgnored(temp.at('closed'), ['build/a.txt', 'build/sub/b.txt', 'c.txt']), [
    'c.txt',
  ]);
});

test('a folder without a .gitignore of its own changes nothing', async () => {
  await temp.file('gap/.gitignore', '*.log\n');
  await temp.file('gap/a/b/.gitignore', 'x\n');
  assert.deepEqual(await withoutIgnored(temp.at('gap'), ['a/y.log', 'a/b/x', 'a/b/y.log', 'a/b/z']), [
    'a/b/z',
  ]);
});

test('.ignore files and .git/info/exclude count like .gitignore', async () => {
  await temp.file('others/.git/info/exclude', '*.mine\n');
  await temp.file('others/.gitignore', '*.log\n');
  await temp.file('others/sub/.ignore', 'big.json\n!kept.log\n');
  const paths = ['a.mine', 'a.log', 'big.json', 'sub/big.json', 'sub/kept.log', 'sub/b.mine'];
  assert.deepEqual(await withoutIgnored(temp.at('others'), paths), ['big.json', 'sub/kept.log']);
});

test('a rule that is longer than any path is skipped, and the others hold', async () => {
  await temp.file('huge/.gitignore', `${'a'.repeat(400_000)}\n*.log\n${'*a'.repeat(4_000)}\r\n*.tmp\r\n`);
  assert.deepEqual(await withoutIgnored(temp.at('huge'), ['a.ts', 'b.log', 'sub/c.tmp']), ['a.ts']);
});
