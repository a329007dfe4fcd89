import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { OutputBuffer } from '../../../../src/agent/tools/command/outputBuffer.ts';
import { startShellProcess } from '../../../../src/views/terminal/shellProcess.ts';
import { TempFolder } from '../../../support/tempFolder.ts';

const posix = { skip: process.platform === 'win32' && 'POSIX only' };
const temp = await TempFolder.create();
after(() => temp.remove());

/** Starts a command in the temporary folder; `said` settles once its output matches. */
function start(command: string, environment: Record<string, string | null> = {}) {
  const controller = new AbortController();
  const output = new OutputBuffer();
  const waiting: { pattern: RegExp; resolve: (match: string) => void }[] = [];
  const plan = { command, shell: '/bin/sh', folder: temp.root, environment };
  const running = startShellProcess(plan, controller.signal, chunk => {
    output.add(chunk);
    for (const { pattern, resolve } of waiting) {
      const [match] = pattern.exec(output.text()) ?? [];
      if (match !== undefined) resolve(match);
    }
  });
  const said = (pattern: RegExp): Promise<string> =>
    new Promise(resolve => waiting.push({ pattern, resolve }));
  return { ...running, output, said, stop: () => controller.abort() };
}

/** Whether a process runs; one that has ended but that no one has waited for does not. */
const runs = (pid: number): boolean => {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return /^[^Z\s]/.test(stdout);
};

test(
  'the exit code, the output on both streams, the folder and the environment are those of the command',
  posix,
  async () => {
    const { ended, output } = start('pwd; echo "[$ADDED][$HOME]" >&2; exit 3', { ADDED: 'x y', HOME: null });
    assert.deepEqual(await ended, { exitCode: 3 });
    assert.ok(output.text().includes(`${temp.root}\n`));
    assert.ok(output.text().includes('[x y][]\n'));
  },
);

test(
  'a server that never ends is ended with all that it has started, even if they ignore the first request',
  posix,
  async () => {
    const { ended, said, stop } = start(
      `trap '' TERM; sh -c 'trap "" TERM; echo inner $$; while :; do sleep 1; done' & echo up; while :; do sleep 1; done`,
    );
    const inner = Number((await said(/inner \d+/)).slice(6));
    assert.ok(runs(inner));
    stop();
    const { exitCode } = await ended;
    assert.equal(exitCode, undefined);
    assert.ok(!runs(inner));
  },
);

test('a program that asks for input gets what is typed', posix, async () => {
  const { ended, said, write, output } = start('printf "Name? "; read name; echo "Hello, $name."');
  await said(/Name\? /);
  write('Ada\n');
  assert.equal((await ended).exitCode, 0);
  assert.equal(output.text(), 'Name? Hello, Ada.\n');
});

test('100 MB of output leave room for other work and keep little memory', posix, async () => {
  let turns = 0;
  const ticking = setInterval(() => turns++, 1);
  const before = process.memoryUsage().rss;
  const { ended, output } = start('head -c 100000000 /dev/zero | tr "\\0" "x"; echo; echo end');
  assert.equal((await ended).exitCode, 0);
  clearInterval(ticking);
  assert.ok(turns > 10, `${turns} turns`);
  assert.ok(process.memoryUsage().rss - before < 80_000_000, 'memory');
  assert.ok(output.text().endsWith('x\nend\n'));
  assert.ok(output.text().length < 31_000);
});

test('what is left in the background is ended, whether or not it holds the output', posix, async () => {
  for (const redirect of ['', '>/dev/null 2>&1 </dev/null']) {
    const { ended, output } = start(`sleep 1000 ${redirect} & echo $!`);
    assert.deepEqual(await ended, { exitCode: 0, leftovers: 'ended' });
    const left = Number(output.text());
    while (runs(left)) await new Promise(resolve => setImmediate(resolve));
  }
});

test('a shell that does not exist is an error, and nothing runs', posix, async () => {
  const plan = { command: 'ls', shell: '/no/such/shell', folder: temp.root, environment: {} };
  const { ended } = startShellProcess(plan, new AbortController().signal, () => undefined);
  await assert.rejects(ended, /The shell \/no\/such\/shell cannot be started/);
});
