import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { LeftOutError, readBelow } from '../../../../src/agent/hold/external/readForeign.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

/** Exchanges a folder and a link, and a file and a pipe, for as long as it may. */
const EXCHANGE = `
mkfifo pipe
echo ready
while :; do
  mv -T src kept; mv -T link src; mv -T src link; mv -T kept src
  mv -T one.txt kept.txt; mv -T pipe one.txt; mv -T one.txt pipe; mv -T kept.txt one.txt
done 2>/dev/null
`;

if (process.platform !== 'win32')
  test('what a program puts in the place of a file or its folder meanwhile is neither followed nor waited for', async t => {
    const [temp, outside] = [await TempFolder.create(), await TempFolder.create()];
    for (const each of [temp, outside]) t.after(() => each.remove());
    writeFileSync(outside.at('a.txt'), 'SECRET');
    mkdirSync(temp.at('src'));
    for (const name of ['src/a.txt', 'one.txt']) writeFileSync(temp.at(name), 'mine');
    symlinkSync(outside.root, temp.at('link'));
    const program = spawn('sh', ['-c', EXCHANGE], {
      cwd: temp.root,
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    const seen = new Set<string>();
    try {
      await once(program.stdout, 'data');
      for (let n = 0; n < 2_000; n++)
        for (const name of ['src/a.txt', 'one.txt'])
          try {
            const { content } = await readBelow(temp.root, name);
            seen.add(content instanceof Uint8Array ? Buffer.from(content).toString() : 'no file');
          } catch (error) {
            assert.ok(error instanceof LeftOutError);
          }
    } finally {
      // The whole group, and until its pipe is closed: a running `mv` would write into a folder that is being removed.
      process.kill(-(program.pid ?? assert.fail()), 'SIGKILL');
      await once(program.stdout.resume(), 'close');
    }
    assert.deepEqual([...seen], ['mine']);
  });
