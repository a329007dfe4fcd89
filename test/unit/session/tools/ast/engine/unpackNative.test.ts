import * as assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import * as path from 'node:path';
import { test, type TestContext } from 'node:test';
import { sha256 } from '../../../../../../src/agent/base/hash.ts';
import { unpackNative } from '../../../../../../src/agent/session/tools/ast/engine/unpackNative.ts';
import { folderWith } from '../../../../../support/astFolder.ts';
import { packedFile } from '../../../../../support/packagedWorker.ts';

/** A package with an engine and a grammar, and where they are unpacked. */
function packageFor(t: TestContext) {
  const files = { ...packedFile('packed/engine', 'the engine'), ...packedFile('packed/grammar-go', 'Go') };
  const root = folderWith(files);
  t.after(() => fs.rmSync(root, { recursive: true }));
  const [engine = '', grammar = ''] = Object.keys(files).map(file => path.join(root, file));
  const unpacked = path.join(root, 'storage', 'native');
  const unpack = () => unpackNative(path.join(root, 'packed'), unpacked);
  return { engine, grammar, unpacked, unpack, names: () => fs.readdirSync(unpacked).sort() };
}

const inode = (file: string) => fs.statSync(file).ino;

test('the engine and its grammars are unpacked once', async t => {
  const { unpack, unpacked, names } = packageFor(t);
  const files = await unpack();
  const engine = `engine-${sha256(Buffer.from('the engine')).slice(0, 16)}.node`;
  const grammar = `grammar-go-${sha256(Buffer.from('Go')).slice(0, 16)}.node`;
  assert.deepEqual(files, {
    engine: path.join(unpacked, engine),
    grammars: { go: path.join(unpacked, grammar) },
  });
  assert.equal(fs.readFileSync(path.join(unpacked, engine), 'utf8'), 'the engine');
  assert.equal(fs.readFileSync(path.join(unpacked, grammar), 'utf8'), 'Go');
  const before = inode(path.join(unpacked, engine));
  assert.deepEqual(await unpack(), files);
  assert.equal(inode(path.join(unpacked, engine)), before);
  assert.deepEqual(names(), [engine, grammar]);
});

for (const [fault, content] of [
  ['cut', 'the'],
  ['changed', 'The engine'],
])
  test(`a file that was ${fault} after it was unpacked is unpacked again`, async t => {
    const { unpack, names } = packageFor(t);
    const { engine = '', grammars } = await unpack();
    const before = inode(grammars['go'] ?? '');
    fs.writeFileSync(engine, content ?? '');
    await unpack();
    assert.equal(fs.readFileSync(engine, 'utf8'), 'the engine');
    assert.equal(inode(grammars['go'] ?? ''), before);
    assert.equal(names().length, 2);
  });

test('several windows at once unpack the same files', async t => {
  const { unpack, names } = packageFor(t);
  const [first, ...others] = await Promise.all([unpack(), unpack(), unpack()]);
  for (const each of others) assert.deepEqual(each, first);
  assert.equal(fs.readFileSync(first.engine ?? '', 'utf8'), 'the engine');
  assert.equal(names().length, 2);
});

test('files of other versions are removed once no start has used them for a month, and no other files', async t => {
  const { unpack, unpacked, names } = packageFor(t);
  const [old, other] = ['engine-0123456789abcdef.node', 'notes.txt'].map(name => path.join(unpacked, name));
  fs.mkdirSync(unpacked, { recursive: true });
  const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 60 * 60 * 1000);
  for (const file of [old!, other!]) {
    fs.writeFileSync(file, '');
    fs.utimesSync(file, daysAgo(31), daysAgo(31));
  }
  const { engine = '' } = await unpack();
  assert.deepEqual(
    names().filter(name => !name.startsWith('g')),
    [path.basename(engine), 'notes.txt'],
  );
  // A window that has loaded the engine loads a grammar only when it needs it, even after an update.
  fs.utimesSync(engine, daysAgo(29), daysAgo(29));
  await unpack();
  assert.ok(fs.statSync(engine).mtime > daysAgo(1));
});

test('a damaged package is said to be, and nothing of it is used', async t => {
  const { engine, grammar, unpack, unpacked, names } = packageFor(t);
  const right = fs.readFileSync(engine);
  const [other = right] = Object.values(packedFile('other', 'The engine'));
  fs.rmSync(grammar);
  fs.writeFileSync(engine, right.subarray(0, 5));
  await assert.rejects(unpack(), /engine-\w+\.node\.br is damaged: unexpected end of file$/);
  fs.writeFileSync(engine, other);
  await assert.rejects(unpack(), /engine-\w+\.node\.br is damaged: its content has another hash$/);
  assert.ok(!fs.existsSync(unpacked));
  fs.writeFileSync(engine, right);
  await unpack();
  assert.equal(names().length, 1);
});

test('on a full disk nothing is left, and the next attempt unpacks', async t => {
  const { grammar, unpack, names } = packageFor(t);
  fs.rmSync(grammar);
  const { promises } = fs;
  const write = t.mock.method(promises, 'writeFile', async (file: string) => {
    fs.writeFileSync(file, 'half');
    await Promise.resolve();
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  });
  syncBuiltinESMExports();
  await assert.rejects(unpack(), /^Error: ENOSPC: no space left on device/).finally(() => {
    write.mock.restore();
    syncBuiltinESMExports();
  });
  assert.deepEqual(names(), []);
  await unpack();
  assert.equal(names().length, 1);
});

test('a storage that cannot be written is told, unless all is there', async t => {
  const { unpack, unpacked } = packageFor(t);
  fs.writeFileSync(path.dirname(unpacked), 'a file in place of the folder');
  await assert.rejects(unpack(), /ENOTDIR|EEXIST/);
  fs.rmSync(path.dirname(unpacked));
  const files = await unpack();
  const { promises } = fs;
  const write = t.mock.method(promises, 'writeFile', () => assert.fail('nothing is written'));
  syncBuiltinESMExports();
  assert.deepEqual(await unpack(), files);
  write.mock.restore();
  syncBuiltinESMExports();
});
