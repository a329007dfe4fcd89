import * as assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { NEEDED, wrongContents, wrongPlatform, wrongSize } from '../../../scripts/packaging/contents.mjs';
import { checkIntegrity } from '../../../scripts/lib/npmArchive.mjs';

const languages = (platform: string) => (platform === 'linux-x64' ? ['go'] : []);
const engine = 'dist/native/linux-x64/engine-0123456789abcdef.node.br';
const grammar = 'dist/native/linux-x64/grammar-go-0123456789abcdef.node.br';
const right = [...NEEDED, 'dist/chunks/main-AB12.js', 'dist/chat.css', engine, grammar];

test('a package with what it must contain is right', () => {
  assert.deepEqual(wrongContents(right, 'linux-x64', languages), []);
});

test('a native file of another platform, a source, a test or a map does not belong in a package', () => {
  const foreign = [
    'dist/native/darwin-x64/engine-0123456789abcdef.node.br',
    'dist/native/engine.node',
    'src/extension.ts',
    'test/unit/manifest.test.ts',
    'dist/extension.js.map',
    '.npmrc',
  ];
  for (const file of foreign)
    assert.deepEqual(wrongContents([...right, file], 'linux-x64', languages), [
      `${file} does not belong there`,
    ]);
});

test('a file that a package lacks is named', () => {
  for (const file of [engine, grammar, 'dist/extension.js', 'package.nls.de.json'])
    assert.deepEqual(
      wrongContents(
        right.filter(each => each !== file),
        'linux-x64',
        languages,
      ),
      [`${file.replace('-0123456789abcdef', '')} is missing`],
    );
});

test('a package says for which platform it is', () => {
  const manifest = (platform: string) => `<Identity Id="redline" Version="1" ${platform} Publisher="p"/>`;
  assert.deepEqual(wrongPlatform(manifest('TargetPlatform="linux-x64"'), 'linux-x64'), []);
  assert.deepEqual(wrongPlatform(manifest(''), 'universal'), []);
  assert.deepEqual(wrongPlatform(manifest('TargetPlatform="linux-x64"'), 'win32-x64'), [
    'It is for linux-x64 instead of win32-x64',
  ]);
  assert.deepEqual(wrongPlatform(manifest(''), 'win32-x64'), ['It is for universal instead of win32-x64']);
});

test('an engine is taken only if it is the one of the lock file', () => {
  const bytes = Buffer.from('engine');
  const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  checkIntegrity('engine', bytes, integrity);
  assert.throws(() => checkIntegrity('engine', Buffer.from('Engine'), integrity), /not the expected package/);
});

test('a package may have 4 MB without grammars, 5 with them, and 22 for all platforms', () => {
  const grown = 1024 * 1024 + 1;
  for (const [target, most] of [
    ['alpine-x64', 4],
    ['linux-x64', 5],
    ['universal', 22],
  ] as const) {
    assert.deepEqual(wrongSize(most * 1024 * 1024, target), []);
    assert.match(
      wrongSize((most - 1) * 1024 * 1024 + grown, target).join(),
      new RegExp(`more than ${most}$`),
    );
  }
});
