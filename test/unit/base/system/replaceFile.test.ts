import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { replaceFile } from '../../../../src/agent/base/system/replaceFile.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

const temp = await TempFolder.create();
after(() => temp.remove());

/** A `rename` that fails the given number of times. */
function moveFailing(times: number, code: string) {
  let calls = 0;
  const move = async (from: fs.PathLike, to: fs.PathLike): Promise<void> => {
    if (++calls <= times) throw Object.assign(new Error(code), { code });
    fs.renameSync(from, to);
  };
  return { move, calls: () => calls };
}

async function files(name: string): Promise<[from: string, to: string]> {
  const to = await temp.file(`${name}/a.json`, 'old');
  return [await temp.file(`${name}/a.json.new`, 'new'), to];
}

for (const code of ['EPERM', 'EACCES', 'EBUSY'])
  test(`on Windows, a file that another program has open is replaced once it is closed (${code})`, async () => {
    const [from, to] = await files(code);
    const { move, calls } = moveFailing(2, code);
    await replaceFile(from, to, { move, platform: 'win32' });
    assert.equal(calls(), 3);
    assert.equal(fs.readFileSync(to, 'utf8'), 'new');
    assert.deepEqual(fs.readdirSync(path.dirname(to)), ['a.json']);
  });

test('a file that stays open, and any other failure, is an error, and the old file stays', async () => {
  const [from, to] = await files('stays');
  const open = moveFailing(Infinity, 'EPERM');
  await assert.rejects(replaceFile(from, to, { ...open, platform: 'win32', patience: 0 }), { code: 'EPERM' });
  for (const [code, platform] of [
    ['ENOSPC', 'win32'],
    ['EPERM', 'linux'],
    ['EACCES', 'darwin'],
  ] as const) {
    const { move, calls } = moveFailing(Infinity, code);
    await assert.rejects(replaceFile(from, to, { move, platform }), { code });
    assert.equal(calls(), 1, `${code} on ${platform} is final`);
  }
  assert.equal(fs.readFileSync(to, 'utf8'), 'old');
});

test('a clock that is set back prolongs no wait for another program', async context => {
  let now = Date.now();
  context.mock.method(Date, 'now', () => (now -= 60_000));
  const open = moveFailing(200, 'EBUSY');
  await assert.rejects(replaceFile('from', 'to', { move: open.move, patience: 50 }), { code: 'EBUSY' });
});
