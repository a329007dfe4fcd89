import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  oldestVersion,
  releaseOf,
  RELEASES,
  runsHeadless,
  whichVscode,
} from '../../../scripts/headless/releases.mjs';

const [newest = assert.fail('a release')] = RELEASES;
const oldest = oldestVersion();

test('without a version, tests run headless where that is possible, else in the stable desktop VS Code', () => {
  assert.deepEqual(whichVscode('', true), { kind: 'headless', version: newest.version });
  assert.deepEqual(whichVscode('', false), { kind: 'desktop', version: 'stable' });
  assert.ok(runsHeadless('linux', 'x64'));
  for (const [platform, arch] of [
    ['linux', 'arm64'],
    ['darwin', 'x64'],
    ['win32', 'x64'],
  ] as const)
    assert.ok(!runsHeadless(platform, arch));
});

test('the oldest is the one that package.json names, headless on Linux x64 and downloaded elsewhere', () => {
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { vscode: string } };
  assert.equal(`^${oldest}`, engines.vscode);
  assert.deepEqual(whichVscode('oldest', true), { kind: 'headless', version: oldest });
  assert.deepEqual(whichVscode('oldest', false), { kind: 'desktop', version: oldest });
});

test('a version that is not there headless is a desktop one', () => {
  assert.deepEqual(whichVscode('1.110.0', true), { kind: 'desktop', version: '1.110.0' });
  assert.throws(() => releaseOf('1.110.0'), /no headless VS Code 1\.110\.0/);
});

test('every release says what to download, with its checksum', () => {
  assert.equal(releaseOf(oldest).version, oldest);
  for (const { server, node, nodePty, ripgrep } of RELEASES)
    for (const { name, integrity } of [server, node, nodePty, ripgrep].filter(each => each !== undefined)) {
      assert.match(name, /.@\d+\.\d+\.\d+[\w.-]*$/);
      assert.equal(Buffer.from(integrity.replace('sha512-', ''), 'base64').length, 64);
    }
});
