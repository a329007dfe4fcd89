import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { processNow, readProcesses, systemProgram } from '../../../../src/agent/base/system/processTable.ts';

const linux = { skip: process.platform !== 'linux' && 'Linux only' };

test('a process is listed with its parent, session, start and name until it has ended', linux, async () => {
  const child = spawn('sleep', ['100'], { detached: true, stdio: 'ignore' });
  await once(child, 'spawn');
  const pid = child.pid ?? assert.fail('it runs');
  for (const platform of ['linux', 'darwin'] as const) {
    const seen = (await readProcesses(platform)).find(one => one.pid === pid);
    assert.deepEqual(
      { ...seen, started: 0 },
      { pid, parent: process.pid, session: pid, started: 0, name: 'sleep' },
    );
    if (platform === 'linux') assert.deepEqual(processNow(pid), seen);
    else assert.ok(Math.abs((seen?.started ?? 0) - Date.now()) < 60_000);
  }
  child.kill();
  // No one has waited for it yet: it is a zombie.
  while (processNow(pid)) await new Promise(resolve => setImmediate(resolve));
  assert.equal(
    (await readProcesses()).some(one => one.pid === pid),
    false,
  );
});

test('on Windows, the table of the system is asked by its full path; one that fails is an error', async () => {
  const rows = '4 0 1700000000000 System\r\n812 640 1700000001234 my server.exe\r\nnot a row\r\n';
  let program = '';
  const seen = await readProcesses('win32', async asked => {
    program = asked;
    return rows;
  });
  assert.match(program, /^[A-Z]:\\.*\\System32\\WindowsPowerShell\\v1\.0\\powershell\.exe$/i);
  assert.deepEqual(seen, [
    { pid: 4, parent: 0, session: 0, started: 1_700_000_000_000, name: 'System' },
    { pid: 812, parent: 640, session: 0, started: 1_700_000_001_234, name: 'my server.exe' },
  ]);
  await assert.rejects(
    readProcesses('win32', () => Promise.reject(new Error('denied'))),
    /denied/,
  );
  await assert.rejects(
    readProcesses('win32', async () => ''),
    /does not list/,
  );
});

test('a program of Windows itself is named by its full path, whatever the current folder holds', () => {
  assert.equal(
    systemProgram('taskkill.exe', { SystemRoot: 'D:\\Windows' }),
    'D:\\Windows\\System32\\taskkill.exe',
  );
  assert.equal(systemProgram('taskkill.exe', {}), 'C:\\Windows\\System32\\taskkill.exe');
});
