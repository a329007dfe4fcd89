import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { readProcesses, systemProgram } from '../../../../src/agent/base/system/processTable.ts';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { CommandRuns } from '../../../../src/agent/sandbox/commands/commandRuns.ts';
import type { CommandPlan } from '../../../../src/agent/sandbox/commands/commandPlan.ts';
import { runInShell } from '../../../../src/agent/sandbox/commands/shellProcess.ts';
import { polled } from '../../../../scripts/lib/limits.mjs';
import { TempFolder } from '../../../support/tempFolder.ts';
import { windowsTest } from '../../../support/windowsTest.ts';

const posix = { skip: process.platform === 'win32' && 'POSIX only' };
const linux = { skip: process.platform !== 'linux' && 'Linux only' };
const temp = await TempFolder.create();
after(() => temp.remove());

/** Starts a command in the temporary folder; `said` settles once its output matches. */
function start(command: string, { shell = '/bin/sh', ...plan }: Partial<CommandPlan> = {}) {
  const run = new CommandRuns().start('p1', 600_000);
  const waiting: { pattern: RegExp; resolve: (match: string) => void }[] = [];
  const add = (chunk: string): void => {
    run.add(chunk);
    for (const { pattern, resolve } of waiting) {
      const [match] = pattern.exec(run.output.text()) ?? [];
      if (match !== undefined) resolve(match);
    }
  };
  const given = {
    command,
    shell,
    arguments: [],
    folder: temp.root,
    environment: {},
    timeLimit: 600,
    ...plan,
  };
  const ended = runInShell(given, { signal: run.signal, add }).finally(() => run.end());
  const said = (pattern: RegExp): Promise<string> =>
    new Promise(resolve => waiting.push({ pattern, resolve }));
  return { ended, output: run.output, said, stop: () => run.stop() };
}

const NOTHING_LEFT = { ended: 0, running: [] };

const runs = async (wanted: number): Promise<boolean> =>
  (await readProcesses()).some(({ pid }) => pid === wanted);

test(
  'the exit code, the output on both streams, the folder and the environment are those of the command',
  posix,
  async () => {
    const { ended, output } = start('pwd; echo "[$ADDED][$HOME]" >&2; exit 3', {
      environment: { ADDED: 'x y', HOME: null },
    });
    assert.deepEqual(await ended, { exitCode: 3, ...NOTHING_LEFT });
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
    assert.ok(await runs(inner));
    stop();
    const { exitCode } = await ended;
    assert.equal(exitCode, undefined);
    assert.ok(!(await runs(inner)));
  },
);

test('the input is closed, and the shell is not interactive, whatever the text is', posix, async () => {
  const run = async (command: string): Promise<[number | undefined, string]> => {
    const { ended, output } = start(command, { shell: '/bin/bash' });
    return [(await ended).exitCode, output.text()];
  };
  assert.deepEqual(await run('read name; echo "[$name] $?"; cat'), [0, '[] 1\n']);
  for (const command of ['echo $-', 'echo $- # why', 'true\n\n  echo $-'])
    assert.deepEqual(await run(command), [0, 'hBc\n']);
  const [code, text] = await run("echo 'abc");
  assert.equal(code, 2);
  assert.match(text, /unexpected EOF/);
});

test('a command gets the arguments of its shell, and no variables of VS Code itself', posix, async () => {
  const theirs = ['ELECTRON_RUN_AS_NODE', 'VSCODE_PID', 'NODE_OPTIONS'];
  for (const name of theirs) process.env[name] = '--no-warnings';
  try {
    const { ended, output } = start('env; echo "$-"', { arguments: ['-u'] });
    await ended;
    assert.doesNotMatch(output.text(), /^(ELECTRON|VSCODE|NODE_OPTIONS)/m);
    assert.match(output.text(), /^PATH=/m);
    assert.match(output.text(), /\n\w*u\w*\n$/);
  } finally {
    for (const name of theirs) delete process.env[name];
  }
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
    assert.deepEqual(await ended, { exitCode: 0, ended: 1, running: [] });
    assert.ok(!(await runs(Number(output.text()))));
  }
});

test(
  'what is left in a session of its own is named and runs on, even with the output open; a stop ends it',
  linux,
  async () => {
    const detached = 'setsid sleep 99 & while ! pgrep -s $! >/dev/null; do :; done; echo $!';
    const { ended, output } = start(detached);
    const { running, ...end } = await ended;
    const pid = Number(output.text());
    assert.deepEqual(end, { exitCode: 0, ended: 0 });
    assert.deepEqual(
      running?.map(one => [one.name, one.pid]),
      [['sleep', pid]],
    );
    process.kill(pid);

    const server = start(`${detached}; sleep 99`);
    const other = Number(await server.said(/\d+\n/));
    server.stop();
    assert.deepEqual((await server.ended).running, []);
    assert.ok(!(await runs(other)));
  },
);

test('the shell runs nothing if it was stopped before', posix, async () => {
  const { ended, stop } = start('echo ran > ran.txt');
  stop();
  await assert.rejects(ended, /stopped before it ran/);
  assert.equal(existsSync(temp.at('ran.txt')), false);
});

test('a shell that does not exist is an error, and nothing runs', posix, async () => {
  const { ended } = start('ls', { shell: '/no/such/shell' });
  await assert.rejects(ended, /The shell \/no\/such\/shell cannot be started/);
});

/** As {@link start}, in the command interpreter of Windows. */
const startCmd = (command: string, plan: Partial<CommandPlan> = {}) =>
  start(command, { shell: systemProgram('cmd.exe'), ...plan });

/** A Windows program that writes UTF-8, as most do that are not part of Windows. */
const program = (script: string): string => `"${process.execPath}" -e "${script}"`;

windowsTest(
  'cmd.exe: every line runs, in the folder and with the variables of the command, up to the end that it sets',
  async () => {
    const { ended, output } = startCmd(
      'echo one\ncd\necho [%ADDED%][%TAKEN%]\necho two>&2\nexit 3\necho never',
      {
        environment: { ADDED: 'x y', TAKEN: null },
      },
    );
    assert.equal((await ended).exitCode, 3);
    const lines = output.text().split(/\s*\r?\n/);
    for (const line of ['one', temp.root, '[x y][]', 'two']) assert.ok(lines.includes(line), output.text());
    assert.doesNotMatch(output.text(), /never/);
  },
);

windowsTest('cmd.exe: a batch file that is run without `call` does not end the command', async () => {
  await temp.file('tool.cmd', '@echo off\r\necho tool %~1\r\n');
  const { ended, output } = startCmd('.\\tool.cmd "a b"\necho after');
  assert.equal((await ended).exitCode, 0);
  assert.match(output.text(), /tool a b\s+after/);
});

windowsTest('cmd.exe: what programs write in UTF-8 is read as they wrote it', async () => {
  const { ended, output } = startCmd(`${program("process.stdout.write('Gr\\u00fcn \\u4e2d')")}\necho.`);
  assert.equal((await ended).exitCode, 0);
  assert.match(output.text(), /^Grün 中/);
});

windowsTest('cmd.exe: blocks, loops and labels mean what they mean in a batch file', async () => {
  const { ended, output } = startCmd(
    'if exist none.txt (\n  echo is there\n) else (\n  echo is not\n)\nfor %%i in (a b) do echo [%%i]',
  );
  assert.equal((await ended).exitCode, 0);
  assert.match(output.text(), /is not\s+\[a\]\s+\[b\]/);
  const jumping = startCmd('goto end\necho never\n:end\necho end');
  assert.equal((await jumping.ended).exitCode, 0);
  assert.match(jumping.output.text(), /^end/);
});

windowsTest('cmd.exe: the exit code is that of the last program', async () => {
  assert.equal((await startCmd(`echo a\n${program('process.exit(7)')}`).ended).exitCode, 7);
  assert.equal((await startCmd(`${program('process.exit(7)')}\necho a`).ended).exitCode, 0);
});

windowsTest('cmd.exe: the input is closed', async () => {
  const { ended, output } = startCmd(
    `set /p A=name?\n${program("process.stdin.on('end', () => console.log('no input')).resume()")}`,
  );
  await ended;
  assert.match(output.text(), /no input/);
});

for (const [what, isEnded] of [
  ['settles, and runs no further line', (_: number, ran: boolean) => !ran],
  ['ends what the command has started', (pid: number) => !isRunning(pid)],
] as const)
  windowsTest(`cmd.exe: a stop ${what}`, async () => {
    // Where the stop does not reach the program, it ends by itself, so that the folder can be removed.
    const script = `console.log('pid ' + process.pid + '.'); setInterval(() => { if (fs.existsSync('over')) process.exit(); }, 50)`;
    const { ended, said, stop } = startCmd(`${program(script)}\necho ran> ran.txt`);
    const pid = Number(/\d+/.exec(await said(/pid \d+\./))?.[0]);
    try {
      stop();
      assert.equal((await ended).exitCode, undefined);
      assert.ok(isEnded(pid, existsSync(temp.at('ran.txt'))));
    } finally {
      await temp.file('over');
      await polled('the end of the program', () => !isRunning(pid));
      await rm(temp.at('over'));
    }
    assert.equal(existsSync(temp.at('ran.txt')), false, 'the shell is gone');
  });

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

windowsTest('on Windows a shell that does not exist is an error, and nothing runs', async () => {
  const { ended } = start('dir', { shell: 'C:\\no\\such\\cmd.exe' });
  await assert.rejects(ended, /such\\cmd\.exe cannot be started/);
});
