import { test } from 'node:test';
import assert from 'node:assert/strict';
import { suggestChecks } from '../../../src/agent/checks/suggestChecks.ts';

const commands = async (files: Readonly<Record<string, string>>): Promise<readonly string[]> =>
  (await suggestChecks(name => Promise.resolve(files[name]))).map(({ command }) => command);

test('checks are suggested from what a project has, and what watches or serves is not', async () => {
  const scripts = { test: 'node --test', lint: 'eslint .', start: 'x', 'test:watch': 'y', deploy: 'z' };
  const manifest = JSON.stringify({ scripts });
  assert.deepEqual(await commands({ 'package.json': manifest }), ['npm test', 'npm run lint']);
  assert.deepEqual(await commands({ 'package.json': manifest, 'pnpm-lock.yaml': '' }), [
    'pnpm test',
    'pnpm run lint',
  ]);
  assert.deepEqual(await commands({ Makefile: 'all: x\ntest: a\n\techo\ncheck:\n' }), [
    'make test',
    'make check',
  ]);
  assert.deepEqual(await commands({ 'go.mod': '', 'pytest.ini': '' }), [
    'go test ./...',
    'go vet ./...',
    'python -m pytest -q',
  ]);
  assert.deepEqual(await commands({ 'Cargo.toml': '' }), ['cargo test --offline', 'cargo check --offline']);
});

test('files that are damaged suggest nothing', async () => {
  assert.deepEqual(await commands({ 'package.json': '{' }), []);
  assert.deepEqual(await commands({ 'package.json': '{"scripts": [1]}' }), []);
});
