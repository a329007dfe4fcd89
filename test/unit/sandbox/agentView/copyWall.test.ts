import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { test } from 'node:test';
import { holds, profileFor, wallAround } from '../../../../src/agent/sandbox/agentView/copyWall.ts';
import { deafness } from '../../../../src/agent/sandbox/view/bubblewrap.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

test('the wall is that of the system, and forbids nothing but writing in the folders', () => {
  const find = (name: string): string => `/usr/bin/${name}`;
  assert.deepEqual(wallAround(['/w', '/views'], '/views/copies-1', 'darwin', find), [
    '/usr/bin/sandbox-exec',
    '-p',
    '(version 1)(allow default)(deny file-write* (subpath "/w") (subpath "/views"))(allow file-write* (subpath "/views/copies-1"))',
  ]);
  const { before, after } = deafness();
  assert.deepEqual(wallAround(['/w'], '/w/free', 'linux', find), [
    ...before,
    ...['/usr/bin/bwrap', '--dev-bind', '/', '/', '--ro-bind', '/w', '/w', '--bind', '/w/free', '/w/free'],
    ...['--die-with-parent', '--', ...after],
  ]);
  assert.equal(wallAround(['/w'], '/w/free', 'win32', find), undefined);
  assert.equal(
    wallAround(['/w'], '/w/free', 'darwin', () => undefined),
    undefined,
  );
});

test('a folder cannot end its name in the profile, and so allow something', () => {
  assert.equal(
    profileFor(['/a")) (allow file-write* (subpath "/\\'], '/b'),
    String.raw`(version 1)(allow default)(deny file-write* (subpath "/a\")) (allow file-write* (subpath \"/\\"))(allow file-write* (subpath "/b"))`,
  );
});

if (process.platform !== 'win32')
  for (const [what, script, isHeld] of [
    ['that lets everything through', 'shift 2; exec "$@"', false],
    ['that lets nothing through', 'exit 0', false],
    ['that fails', 'shift 2; "$@"; exit 1', false],
    ['that refuses what is written into the folder', 'shift 7; echo x >"$1/$2"', true],
  ] as const)
    test(`a wall ${what} ${isHeld ? 'holds' : 'does not hold'}, and the probe leaves nothing`, async t => {
      const temp = await TempFolder.create();
      t.after(() => temp.remove());
      for (const name of ['closed', 'free']) fs.mkdirSync(temp.at(name));
      await temp.file('sandbox-exec', `#!/bin/sh\n${script}\n`);
      fs.chmodSync(temp.at('sandbox-exec'), 0o755);
      const wall = wallAround([temp.at('closed')], temp.at('free'), 'darwin', () => temp.at('sandbox-exec'));
      assert.equal(await holds(wall ?? [], temp.at('closed'), temp.at('free')), isHeld);
      for (const name of ['closed', 'free']) assert.deepEqual(fs.readdirSync(temp.at(name)), []);
    });
