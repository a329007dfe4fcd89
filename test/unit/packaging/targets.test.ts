import * as assert from 'node:assert/strict';
import * as path from 'node:path';
import { test } from 'node:test';
import { compiledLanguages } from '../../../scripts/packaging/packNative.mjs';
import {
  askedTargets,
  enginePackage,
  nativeFiles,
  ownTarget,
  platformsOf,
  TARGETS,
  UNIVERSAL,
} from '../../../scripts/packaging/targets.mjs';
import { platformName, thisMachine } from '../../../src/agent/session/tools/ast/engine/machine.ts';
import { languages } from '../../../src/agent/session/tools/ast/engine/languages.ts';

const loaded = languages.filter(({ grammar }) => grammar).map(({ id }) => id);

test('a package has the native files of its platform only', () => {
  for (const target of Object.keys(TARGETS)) {
    const files = nativeFiles(target, compiledLanguages);
    assert.ok(files.length > 0, target);
    for (const { to } of files) assert.equal(path.posix.dirname(to), target);
    assert.equal(files.filter(({ to }) => to.endsWith('/engine.node')).length, 1, target);
  }
  const [engine] = nativeFiles('alpine-arm64', compiledLanguages);
  assert.deepEqual(engine, {
    package: '@ast-grep/napi-linux-arm64-musl',
    file: '*.node',
    to: 'alpine-arm64/engine.node',
  });
});

test('every language has a grammar, except where none is compiled', () => {
  const lacking = Object.fromEntries(
    Object.keys(TARGETS).map(target => {
      const present = new Set(
        nativeFiles(target, compiledLanguages).map(({ to }) => path.posix.basename(to)),
      );
      return [target, loaded.filter(id => !present.has(`grammar-${id}.node`))];
    }),
  );
  assert.deepEqual(lacking, {
    'linux-x64': [],
    'linux-arm64': [],
    'alpine-x64': loaded,
    'alpine-arm64': loaded,
    'darwin-x64': ['json'],
    'darwin-arm64': [],
    'win32-x64': [],
    'win32-arm64': loaded,
  });
});

test('the universal package has what all the others have', () => {
  const all = Object.keys(TARGETS).flatMap(target => nativeFiles(target, compiledLanguages));
  assert.deepEqual(nativeFiles(UNIVERSAL, compiledLanguages), all);
});

test('the package of a machine without an engine has no native file', () => {
  assert.deepEqual(platformsOf('freebsd-x64'), []);
  assert.deepEqual(nativeFiles('freebsd-x64', compiledLanguages), []);
});

test('each engine is one of another package', () => {
  const names = Object.keys(TARGETS).map(enginePackage);
  assert.equal(new Set(names).size, names.length);
});

test('targets are asked for by name, several with commas, or all', () => {
  assert.equal(askedTargets(['node', 'package.mjs']), undefined);
  assert.deepEqual(askedTargets(['--target=win32-x64,universal']), ['win32-x64', 'universal']);
  assert.deepEqual(askedTargets(['--target=all']), [...Object.keys(TARGETS), 'universal']);
  assert.throws(() => askedTargets(['--target=amiga']), /no target "amiga"\. The targets are linux-x64, /);
});

test('the extension looks where the package has the files', () => {
  assert.equal(platformName(thisMachine()), ownTarget());
  assert.equal(platformName({ platform: 'linux', arch: 'arm64', isAlpine: true }), 'alpine-arm64');
  assert.equal(platformName({ platform: 'linux', arch: 'x64', isAlpine: false }), 'linux-x64');
  assert.equal(platformName({ platform: 'win32', arch: 'arm64', isAlpine: false }), 'win32-arm64');
});
