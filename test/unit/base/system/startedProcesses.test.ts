import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mock, test, type Mock, type TestContext } from 'node:test';
import type { SeenProcess } from '../../../../src/agent/base/system/processTable.ts';
import { StartedProcesses, type ProcessSystem } from '../../../../src/agent/base/system/startedProcesses.ts';

const linux = { skip: process.platform !== 'linux' && 'Linux only' };
const LATER = Date.now() + 1_000_000;

/** A child with this id, which has ended if it has an exit code. */
const child = (exitCode: number | null): ChildProcess =>
  ({ pid: 100, exitCode, signalCode: null, kill: mock.fn(() => true) }) as unknown as ChildProcess;

const seen = (pid: number, parent: number, session: number, started = LATER): SeenProcess => ({
  pid,
  parent,
  session,
  started,
  name: `p${pid}`,
});

/** A system of another platform with these processes; `refuses` are not ended by the first kind of signal, or by none. */
class FakeSystem implements ProcessSystem {
  readonly platform: NodeJS.Platform;
  table: SeenProcess[];
  readonly signals: [pid: number, isForced: boolean][] = [];
  isStubborn = false;

  constructor(platform: NodeJS.Platform, table: SeenProcess[]) {
    this.platform = platform;
    this.table = table;
  }

  processes = async (): Promise<readonly SeenProcess[]> => this.table;

  async signal(
    processes: readonly SeenProcess[],
    { isForced }: { readonly isForced: boolean },
  ): Promise<void> {
    for (const { pid } of processes) this.signals.push([pid, isForced]);
    if (!this.isStubborn) this.table = this.table.filter(one => !processes.includes(one));
  }
}

function started(
  system: ProcessSystem,
  exitCode: number | null,
  own: ChildProcess = child(exitCode),
): StartedProcesses {
  const processes = new StartedProcesses(system);
  processes.own(own);
  return processes;
}

const killsOf = (one: ChildProcess): number => (one.kill as unknown as Mock<() => boolean>).mock.callCount();

/** Lets time pass until the work settles, while the wall clock is set back again and again. */
async function withClock<T>(context: TestContext, work: () => Promise<T>): Promise<T> {
  let [now, wall] = [performance.now(), Date.now()];
  context.mock.timers.enable({ apis: ['setTimeout'] });
  context.mock.method(performance, 'now', () => now);
  context.mock.method(Date, 'now', () => (wall -= 1_000));
  let isOver = false;
  const result = work().finally(() => (isOver = true));
  while (!isOver) {
    context.mock.timers.tick(50);
    now += 50;
    await new Promise(resolve => setImmediate(resolve));
  }
  context.mock.restoreAll();
  return result;
}

test('attached processes are ended; those with a session of their own run on and are named', async () => {
  const other = seen(500, 1, 500);
  const system = new FakeSystem('darwin', [seen(101, 1, 100), seen(102, 101, 102), other]);
  const left = await started(system, 0).end('attached');
  assert.deepEqual(system.signals, [[101, false]]);
  assert.equal(left.ended, 1);
  // Once its parent has ended, nothing on macOS tells whose it was.
  assert.deepEqual(left.running, []);

  const living = new FakeSystem('darwin', [seen(100, 1, 100), seen(102, 100, 102), other]);
  assert.deepEqual(await started(living, null).end('all'), { ended: 1, running: [] });
  assert.deepEqual(living.table, [other]);
});

test('a parent is asked before its children, also where the system has begun again with small ids', async () => {
  const system = new FakeSystem('darwin', [seen(7, 9, 100), seen(9, 100, 100), seen(100, 1, 100)]);
  await started(system, null).end('all');
  assert.deepEqual(
    system.signals.map(([pid]) => pid),
    [100, 9, 7],
  );
});

test('an id that the system has given again is left alone', async () => {
  const reused = [seen(100, 1, 100), seen(101, 100, 100)];
  const system = new FakeSystem('darwin', reused);
  assert.deepEqual(await started(system, 0).end('all'), { ended: 0, running: [] });
  assert.deepEqual(system.signals, []);
  const earlier = new FakeSystem('win32', [seen(100, 1, 0), seen(101, 100, 0, 5)]);
  await started(earlier, null).end('all');
  assert.deepEqual(earlier.signals, [[100, false]], 'it was started before its parent');
});

test('what refuses is killed; what survives that is named, in bounded time', async context => {
  const system = new FakeSystem('win32', [seen(100, 1, 0), seen(101, 100, 0)]);
  system.isStubborn = true;
  const own = child(null);
  const { running } = await withClock(context, () => started(system, null, own).end('all'));
  assert.deepEqual(
    running?.map(({ pid }) => pid),
    [100, 101],
  );
  assert.ok(system.signals.some(([pid, isForced]) => pid === 101 && isForced));
  assert.equal(killsOf(own), 1, 'the child is ended without the program that should have done it');
});

test('if the system tells no processes, the child alone is ended, and the rest is said to be unknown', async () => {
  const system = new FakeSystem('win32', []);
  system.processes = () => Promise.reject(new Error('no WMI'));
  const own = child(null);
  assert.deepEqual(await started(system, null, own).end('all'), { ended: 0, running: undefined });
  assert.deepEqual(system.signals, [[100, true]]);
  assert.equal(killsOf(own), 1, 'also if that program fails');
  const over = new FakeSystem('win32', []);
  over.processes = system.processes;
  const gone = child(0);
  assert.deepEqual(await started(over, 0, gone).end('attached'), { ended: 0, running: undefined });
  assert.equal(killsOf(gone), 0);
  assert.deepEqual(over.signals, [], 'its id may be that of another program by now');
});

test('orphans in sessions of their own are found and ended with the others', linux, async () => {
  const processes = new StartedProcesses();
  const script = 'for i in $(seq 30); do sleep 50 & done; (setsid sleep 50 &); echo up; wait';
  const env = { ...process.env, ...processes.variables };
  const shell = spawn('sh', ['-c', script], { detached: true, env, stdio: ['ignore', 'pipe', 'ignore'] });
  processes.own(shell);
  await once(shell.stdout, 'data');
  const { ended, running } = await processes.end('all');
  assert.deepEqual([ended, running], [31, []]);
});

test('another program ends them once the one that started them has gone', linux, async () => {
  const processes = new StartedProcesses();
  const env = { ...process.env, ...processes.variables };
  const script = '(setsid sleep 50 &); echo up; sleep 50';
  const shell = spawn('sh', ['-c', script], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  processes.own(shell);
  await once(shell.stdout, 'data');
  const known = await processes.known();
  assert.deepEqual(await StartedProcesses.of(known ?? assert.fail()).end('all'), { ended: 2, running: [] });
});

test('of another program, a child whose id was given again is left alone', async () => {
  const system = new FakeSystem('darwin', [seen(100, 1, 100), seen(101, 100, 100)]);
  const known = { mark: 'a mark', pid: 100, started: LATER - 5 };
  assert.deepEqual(await StartedProcesses.of(known, system).end('all'), { ended: 0, running: [] });
  assert.deepEqual(system.signals, []);
});

test('of another program, a session whose leader has gone is told from one with the same id by the mark', async () => {
  const [leader, left] = [5_000_000, 5_000_001];
  const known = { mark: 'a mark', pid: leader, started: LATER - 5 };
  const system = new FakeSystem('linux', [seen(left, 1, leader)]);
  assert.deepEqual(await StartedProcesses.of(known, system).end('all'), { ended: 0, running: [] });
  assert.deepEqual(system.signals, [], 'it may be of another program, even of another start of the system');
});
