import type { ChildProcess } from 'node:child_process';
import * as channels from 'node:diagnostics_channel';
import { once } from 'node:events';
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { exec } from '../../../../src/agent/tools/custom/exec.ts';

const posix = { skip: process.platform === 'win32' && 'POSIX only' };

/** The process that `start` begins. */
function startedBy(start: () => void): ChildProcess {
  let started: ChildProcess | undefined;
  const note = (message: unknown): void => void (started = (message as { process: ChildProcess }).process);
  channels.subscribe('child_process', note);
  start();
  channels.unsubscribe('child_process', note);
  return started ?? assert.fail('nothing was started');
}

/** A program that starts another one, which holds its output, and prints its id. Both end by themselves if the test does not end them. */
function startHolder(
  then: string,
  signal: AbortSignal,
): { program: ChildProcess; running: ReturnType<typeof exec>; held: Promise<number> } {
  const lasting = 'setTimeout(() => {}, 20_000)';
  const script = `const held = require('node:child_process').spawn(process.execPath, ['-e', '${lasting}'], { stdio: ['ignore', 'inherit', 'inherit'] });
    held.unref(); console.log(held.pid); ${then}`;
  let running: ReturnType<typeof exec> | undefined;
  const program = startedBy(() => {
    running = exec(process.execPath, ['-e', script], '.', { signal });
  });
  const printed = program.stdout ? once(program.stdout, 'data') : assert.fail('it has an output');
  const held = printed.then(([pid]) => Number(String(pid)));
  return { program, running: running ?? assert.fail('it runs'), held };
}

test('a kill settles the promise if the program has ended but a child process holds the output', async () => {
  const controller = new AbortController();
  const { program, running, held } = startHolder('', controller.signal);
  const [pid] = await Promise.all([held, once(program, 'exit')]);
  controller.abort();
  let outcome: unknown;
  void running.then(({ code, killed }) => (outcome = [code, killed]));
  // The program has exited; only the closing of its streams is left to wait for.
  for (let turn = 0; turn < 100 && !outcome; turn++) await new Promise(resolve => setImmediate(resolve));
  process.kill(pid);
  assert.deepEqual(outcome, [0, true]);
});

test('a kill of a program settles the promise although a child process holds the output', async () => {
  const controller = new AbortController();
  const { running, held } = startHolder('setTimeout(() => {}, 20_000);', controller.signal);
  const pid = await held;
  controller.abort();
  const { code, killed } = await running;
  process.kill(pid);
  assert.deepEqual([code, killed], [null, true]);
});

test('no more output is kept than the limit, whatever the program writes before it ends', async () => {
  const script = `const say = then => process.stdout.write('x'.repeat(11_000_000), then);
    process.on('SIGTERM', () => say(() => process.exit()));
    say(); setInterval(() => {}, 1000);`;
  const { killed, stdout } = await exec(process.execPath, ['-e', script], '.', {});
  assert.equal(killed, true);
  assert.ok(stdout.length > 10_000_000 && stdout.length < 11_000_000, `${stdout.length} characters`);
});

test('if no more files can be opened, the result says so', posix, async () => {
  const source = JSON.stringify(new URL('../../../../src/agent/tools/custom/exec.ts', import.meta.url).href);
  const script = `import { openSync } from 'node:fs';
    const { exec } = await import(${source});
    try { for (;;) openSync('/dev/null'); } catch {}
    console.log(JSON.stringify(await exec('true', [], '/', {})));`;
  const run = ['-c', 'ulimit -n 64; exec "$0" "$@"', process.execPath, '--input-type=module', '-e', script];
  const { stdout, stderr } = await exec('sh', run, '.', {});
  assert.equal(stdout, '{"stdout":"","stderr":"spawn true EMFILE","code":127,"killed":false}\n', stderr);
});
