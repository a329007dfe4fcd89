import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { readProcesses } from '../../../src/agent/base/system/processTable.ts';
import { existsSync } from 'node:fs';
import { CommandRuns } from '../../../src/agent/commands/commandRuns.ts';
import type { CommandPlan } from '../../../src/agent/commands/commandPlan.ts';
import { runInShell } from '../../../src/agent/commands/shellProcess.ts';
import { TempFolder } from '../../support/tempFolder.ts';

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
