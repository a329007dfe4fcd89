import type { ChildProcess } from 'node:child_process';
import * as channels from 'node:diagnostics_channel';
import { once } from 'node:events';
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readProcesses } from '../../../../../src/agent/base/system/processTable.ts';
import { exec } from '../../../../../src/agent/session/tools/custom/exec.ts';
import { TempFolder } from '../../../../support/tempFolder.ts';
import { windowsTest } from '../../../../support/windowsTest.ts';

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

const runs = async (wanted: number): Promise<boolean> =>
  (await readProcesses()).some(({ pid }) => pid === wanted);

test('a kill ends what the program has started, even if the program itself has ended', posix, async () => {
  for (const detached of [false, true]) {
    const lasting = 'setTimeout(() => {}, 20_000)';
    const script = `const held = require('node:child_process').spawn(process.execPath, ['-e', '${lasting}'], { detached: ${detached}, stdio: ['ignore', 'inherit', 'inherit'] });
      held.unref(); console.log(held.pid);`;
    const controller = new AbortController();
    let running: ReturnType<typeof exec> | undefined;
    const program = startedBy(() => {
      running = exec(process.execPath, ['-e', script], '.', { signal: controller.signal });
    });
    const printed = program.stdout ? once(program.stdout, 'data') : assert.fail('it has an output');
    const [held] = await Promise.all([printed.then(Number), once(program, 'exit')]);
    assert.ok(await runs(held));
    controller.abort();
    const { code, killed } = (await running) ?? assert.fail('it runs');
    assert.deepEqual([code, killed], [0, true]);
    assert.ok(!(await runs(held)));
  }
});

test(
  'a program gets no variables of VS Code itself, but Node gets the one that makes it Node',
  posix,
  async () => {
    process.env['ELECTRON_RUN_AS_NODE'] = '1';
    process.env['VSCODE_PID'] = '1';
    try {
      const names = async (program: string, args: readonly string[]): Promise<string[]> =>
        (await exec(program, args, '.', { env: { ADDED: '1' } })).stdout.match(
          /\b(ELECTRON|VSCODE|ADDED)\w*/g,
        ) ?? [];
      assert.deepEqual(await names('env', []), ['ADDED']);
      const print = 'console.log(Object.keys(process.env).join("\\n"))';
      assert.deepEqual((await names(process.execPath, ['-e', print])).toSorted(), [
        'ADDED',
        'ELECTRON_RUN_AS_NODE',
      ]);
    } finally {
      delete process.env['ELECTRON_RUN_AS_NODE'];
      delete process.env['VSCODE_PID'];
    }
  },
);

test('no more output is kept than the limit, whatever the program writes before it ends', async () => {
  const script = `const say = then => process.stdout.write('x'.repeat(11_000_000), then);
    process.on('SIGTERM', () => say(() => process.exit()));
    say(); setInterval(() => {}, 1000);`;
  const { killed, stdout } = await exec(process.execPath, ['-e', script], '.', {});
  assert.equal(killed, true);
  assert.ok(stdout.length > 10_000_000 && stdout.length < 11_000_000, `${stdout.length} characters`);
});

test('if no more files can be opened, the result says so', posix, async () => {
  const source = JSON.stringify(
    new URL('../../../../../src/agent/session/tools/custom/exec.ts', import.meta.url).href,
  );
  const script = `import { openSync } from 'node:fs';
    const { exec } = await import(${source});
    try { for (;;) openSync('/dev/null'); } catch {}
    console.log(JSON.stringify(await exec('true', [], '/', {})));`;
  const run = ['-c', 'ulimit -n 64; exec "$0" "$@"', process.execPath, '--input-type=module', '-e', script];
  const { stdout, stderr } = await exec('sh', run, '.', {});
  assert.equal(stdout, '{"stdout":"","stderr":"spawn true EMFILE","code":127,"killed":false}\n', stderr);
});

for (const [what, args] of [
  ['arguments', ['a b', 'x&y', 'Grün', '-n=1', '']],
  ['percent signs and quotation marks', ['%PATH%', 'say "a"', 'a\\\\']],
] as const)
  windowsTest(
    `on Windows a batch file is found by its name, and gets ${what} as they are given`,
    async context => {
      const folder = await TempFolder.create();
      context.after(() => folder.remove());
      await folder.file('show.cjs', 'console.log(JSON.stringify(process.argv.slice(2)))');
      await folder.file('tool.cmd', `@"${process.execPath}" "%~dp0show.cjs" %*\r\n`);
      const env = { PATH: `${folder.root};${process.env['PATH'] ?? ''}` };
      const { stdout, stderr, code } = await exec('tool', args, folder.root, { env });
      assert.equal(code, 0, stderr);
      assert.deepEqual(JSON.parse(stdout), args);
    },
  );
