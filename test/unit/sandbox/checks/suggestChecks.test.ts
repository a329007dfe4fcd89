import { test } from 'node:test';
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { runnable } from '../../../../src/agent/sandbox/checks/runnable.ts';
import { MemoryBlobs } from '../../../../src/agent/hold/preview/blobs.ts';
import { enginesHere, SandboxWorld } from '../../../support/sandboxWorld.ts';
import { suggestChecks, type SuggestedCheck } from '../../../../src/agent/sandbox/checks/suggestChecks.ts';

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
    'python3 -m pytest -q',
  ]);
  assert.deepEqual(await commands({ 'Cargo.toml': '' }), ['cargo test --offline', 'cargo check --offline']);
});

/** Windows has none of the programs. */
const posix = { skip: process.platform === 'win32' && 'POSIX only' };

test('of what is suggested, nothing stays that cannot run where checks run', posix, async t => {
  const [engine = 'copy'] = await enginesHere();
  const world = await SandboxWorld.create(engine);
  const old = { HOME: process.env['HOME'], PATH: process.env['PATH'] };
  t.after(async () => {
    Object.assign(process.env, old);
    await world.remove();
  });
  const home = world.temp.at('home');
  fs.mkdirSync(`${home}/tools`, { recursive: true });
  // One that the sandbox does not have, and one that answers with an error, like a tool that would have to be fetched first.
  fs.writeFileSync(`${home}/tools/cargo`, '#!/bin/sh\n', { mode: 0o755 });
  Object.assign(process.env, { HOME: home, PATH: `${old.PATH ?? ''}:${home}/tools` });
  const suggestion = (name: string, probe: string): SuggestedCheck => ({ name, command: probe, probe });
  const kept = await runnable(
    [
      ...[suggestion('make', 'sh -c true'), suggestion('cargo test', 'cargo --version')],
      ...[suggestion('go', 'no-such-program version'), suggestion('yarn', 'false --version')],
      ...[suggestion('pytest', 'no-such-python'), suggestion('pytest', 'true'), suggestion('pytest', 'echo')],
    ],
    {
      store: { blobs: new MemoryBlobs() },
      sandboxes: world.sandboxes,
      plan: command =>
        Promise.resolve({
          command,
          folder: world.root,
          shell: '/bin/sh',
          arguments: [],
          environment: {},
          timeLimit: 60,
        }),
    },
  );
  assert.deepEqual(
    kept.map(({ command }) => command),
    engine === 'overlay'
      ? ['sh -c true', 'true']
      : ['sh -c true', 'cargo --version', 'false --version', 'true'],
  );
});

test('files that are damaged suggest nothing', async () => {
  assert.deepEqual(await commands({ 'package.json': '{' }), []);
  assert.deepEqual(await commands({ 'package.json': '{"scripts": [1]}' }), []);
  const empty = JSON.stringify({ scripts: { test: 'echo "Error: no test specified" && exit 1' } });
  assert.deepEqual(await commands({ 'package.json': empty }), []);
});
