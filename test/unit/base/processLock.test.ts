import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { listenAddress } from '../../../src/agent/base/aliveSocket.ts';
import { JsonLog } from '../../../src/agent/base/log/jsonLog.ts';
import { ProcessLock } from '../../../src/agent/base/processLock.ts';
import { aroundDiskCalls, type DiskCall } from '../../support/diskCalls.ts';

function folderFor(context: TestContext): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'redline-lock-'));
  context.after(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

test('one live process holds a lock; a dead one, and another process with its id, do not', async context => {
  const folder = folderFor(context);
  const file = path.join(folder, 'window.lock');
  const held = await ProcessLock.take(file, 0);
  assert.ok(held);
  assert.equal(await ProcessLock.take(file, 100), undefined);
  await held.release();
  for (const left of ['{"pid":2147483646}', `{"pid":${process.pid},"started":"1"}`, 'torn']) {
    if (left.includes('started') && process.platform !== 'linux') continue;
    fs.writeFileSync(file, left);
    const taken = await ProcessLock.take(file, 0);
    assert.ok(taken, left);
    await held.release();
    assert.equal(await ProcessLock.take(file, 0), undefined, 'an older owner takes nothing away');
    await taken.release();
  }
  const both = await Promise.all([ProcessLock.take(file, 0), ProcessLock.take(file, 0)]);
  assert.equal(both.filter(Boolean).length, 1);
  assert.deepEqual(fs.readdirSync(folder), ['window.lock']);
});

test('where the system tells no start times, a lock is void once its owner no longer answers, although its id is in use', async context => {
  const folder = folderFor(context);
  const file = path.join(folder, 'window.lock');
  const unknown = (): Promise<undefined> => Promise.resolve(undefined);
  const held = (await ProcessLock.take(file, 0, { startOf: unknown })) ?? assert.fail('it is free');
  assert.equal(await ProcessLock.take(file, 100, { startOf: unknown }), undefined, 'its owner answers');
  const text = fs.readFileSync(file, 'utf8');
  const { alive } = JSON.parse(text) as { alive: string };
  const isPipe = process.platform === 'win32';
  if (!isPipe) fs.linkSync(alive, path.join(folder, 'socket'));
  await held.release();
  if (!isPipe) fs.renameSync(path.join(folder, 'socket'), alive); // a process that is killed leaves it
  fs.writeFileSync(file, text);
  const taken = (await ProcessLock.take(file, 0, { startOf: unknown })) ?? assert.fail('its owner is gone');
  await taken.release();
  if (!isPipe) fs.rmSync(alive);
});

test('where the system tells no start times, a cleaned temporary folder takes the lock from no live owner', async context => {
  if (process.platform === 'win32') return;
  const folder = folderFor(context);
  const file = path.join(folder, 'window.lock');
  const unknown = (): Promise<undefined> => Promise.resolve(undefined);
  const held = (await ProcessLock.take(file, 0, { startOf: unknown })) ?? assert.fail('it is free');
  const { alive } = JSON.parse(fs.readFileSync(file, 'utf8')) as { alive: string };
  fs.rmSync(alive);
  assert.equal(await ProcessLock.take(file, 0, { startOf: unknown }), undefined);
  await held.release();
});

test('a lock that is a link to nothing is an error, not an endless attempt', async context => {
  if (process.platform === 'win32') return;
  const folder = folderFor(context);
  const file = path.join(folder, 'window.lock');
  fs.symlinkSync(path.join(folder, 'missing', 'x'), file);
  await assert.rejects(ProcessLock.take(file, 0), /can neither be made nor read/);
  assert.deepEqual(fs.readdirSync(folder), ['window.lock']);
});

test('a file that another program has open for a moment is waited for, until the patience ends', async context => {
  const folder = folderFor(context);
  const file = path.join(folder, 'window.lock');
  let calls = 0;
  const busy = (times: number) => async (): Promise<string> => {
    if (calls++ > 0 && calls <= times + 1) throw Object.assign(new Error('busy'), { code: 'EBUSY' });
    return 'another';
  };
  const before = JSON.stringify({ pid: process.pid, started: 'earlier' });
  fs.writeFileSync(file, before);
  const taken =
    (await ProcessLock.take(file, 60_000, { startOf: busy(2) })) ?? assert.fail('its owner is gone');
  assert.equal(calls, 4);
  await taken.release();
  fs.writeFileSync(file, before);
  calls = 0;
  await assert.rejects(ProcessLock.take(file, 0, { startOf: busy(1) }), { code: 'EBUSY' });
  assert.deepEqual(fs.readdirSync(folder), ['window.lock']);
});

test('a file of its own that another program has open keeps nobody from the lock, and hides no dead owner', async context => {
  const folder = folderFor(context);
  const file = path.join(folder, 'window.lock');
  let refusals = 0;
  const take = async (): Promise<ProcessLock> => {
    let taken: ProcessLock | undefined;
    await aroundDiskCalls(
      ({ name, args, make }) => {
        if (name !== 'rm' || args[0] === file) return make();
        refusals++;
        return Promise.reject(Object.assign(new Error('busy'), { code: 'EBUSY' }));
      },
      async () => (taken = await ProcessLock.take(file, 0, { startOf: () => Promise.resolve('later') })),
    );
    return taken ?? assert.fail('it locks itself out');
  };
  const first = await take();
  assert.equal(first.wasLeft, false);
  await first.release();
  fs.writeFileSync(file, JSON.stringify({ pid: process.pid, started: 'earlier' }));
  const second = await take();
  assert.equal(second.wasLeft, true);
  await second.release();
  assert.ok(refusals >= 3, String(refusals));
});

test('what goes on after the release writes nothing, and does not take the lock again', async context => {
  const folder = folderFor(context);
  const file = path.join(folder, 'window.lock');
  const lock = (await ProcessLock.take(file, 0)) ?? assert.fail('nobody has it');
  const log = new JsonLog(path.join(folder, 'log'), { log: 'test', version: 1, parse: String }, lock);
  await log.append('before');
  const rewritten = log.rewrite(async () => {
    await lock.release();
    return () => ['after'];
  });
  await assert.rejects(rewritten, { code: 'ELOST' });
  await assert.rejects(log.append('after'), { code: 'ELOST' });
  assert.match(fs.readFileSync(path.join(folder, 'log'), 'utf8'), /"before"\n$/);
  assert.deepEqual(fs.readdirSync(folder), ['log']);
});

test('a clock that is set back prolongs no wait', async context => {
  const file = path.join(folderFor(context), 'window.lock');
  const held = (await ProcessLock.take(file, 0)) ?? assert.fail('nobody has it');
  let now = Date.now();
  context.mock.method(Date, 'now', () => (now -= 60_000));
  assert.equal(
    await Promise.race([ProcessLock.take(file, 100), delay(3_000, 'waits', { ref: false })]),
    undefined,
  );
  context.mock.restoreAll();
  await held.release();
});

test('a lock of an earlier start of the system is void, even if a process has its id and start time now', async context => {
  if (process.platform !== 'linux') return;
  const folder = folderFor(context);
  const file = path.join(folder, 'window.lock');
  const held = (await ProcessLock.take(file, 0)) ?? assert.fail('it is free');
  const mine = JSON.parse(fs.readFileSync(file, 'utf8')) as object;
  fs.writeFileSync(file, JSON.stringify({ ...mine, boot: 'another' }));
  const taken = (await ProcessLock.take(file, 0)) ?? assert.fail('it is void');
  await taken.release();
  fs.writeFileSync(file, JSON.stringify({ ...mine, boot: undefined }));
  assert.equal(await ProcessLock.take(file, 0), undefined, 'one of an older version holds');
  await held.release();
});

/** A process of another machine takes the lock; its lines tell that, and that it has lost it. */
async function elsewhere(context: TestContext, file: string) {
  const url = new URL('../../../src/agent/base/processLock.ts', import.meta.url).href;
  const script = `
    import { setTimeout as delay } from 'node:timers/promises';
    import { ProcessLock } from ${JSON.stringify(url)};
    const lock = await ProcessLock.take(${JSON.stringify(file)}, 0, { place: 'elsewhere', boot: 'another', answerMs: 50 });
    console.log('taken');
    setInterval(() => undefined, 60_000);
    try {
      for (;;) await lock.check().then(() => delay(10));
    } catch {
      console.log('lost');
    }
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  context.after(() => child.kill('SIGKILL'));
  const line = async (): Promise<string> => String((await once(child.stdout, 'data'))[0]).trim();
  assert.equal(await line(), 'taken');
  return { line, end: (signal: NodeJS.Signals) => child.kill(signal) };
}

test('an owner on another machine holds the lock as long as it answers, whatever the clocks say', async context => {
  const folder = folderFor(context);
  const file = path.join(folder, 'window.lock');
  const other = await elsewhere(context, file);
  for (const time of ['1980-01-01', '2100-01-01']) {
    fs.utimesSync(file, new Date(time), new Date(time));
    assert.equal(await ProcessLock.take(file, 0), undefined, time);
    assert.equal(await ProcessLock.isHeld(file), true);
  }
  other.end('SIGKILL');
  fs.utimesSync(file, new Date('2100-01-01'), new Date('2100-01-01'));
  const taken = (await ProcessLock.take(file, 0, { answerMs: 100 })) ?? assert.fail('its owner is dead');
  assert.equal(taken.wasLeft, true);
  await taken.release();
  assert.deepEqual(fs.readdirSync(folder), []);
});

for (const then of ['holds', 'has released'])
  test(`an owner whose machine slept too long hears that it has lost the lock, which another ${then}`, async context => {
    if (process.platform === 'win32') return;
    const folder = folderFor(context);
    const file = path.join(folder, 'window.lock');
    const other = await elsewhere(context, file);
    other.end('SIGSTOP');
    const taken = (await ProcessLock.take(file, 0, { answerMs: 100 })) ?? assert.fail('it does not answer');
    await taken.check();
    if (then === 'has released') await taken.release();
    const lost = other.line();
    other.end('SIGCONT');
    assert.equal(await lost, 'lost');
    await taken.release();
    assert.deepEqual(fs.readdirSync(folder), []);
  });

/** Runs work, and something else right before its first call of this function of the file system. */
async function beforeFirst(name: string, before: () => void, work: () => Promise<unknown>): Promise<void> {
  let isFirst = true;
  const around = (call: DiskCall): unknown => {
    if (call.name === name && isFirst) {
      isFirst = false;
      before();
    }
    return call.make();
  };
  await aroundDiskCalls(around, work, true);
}

test('an owner elsewhere that answers right before its lock is taken keeps it', async context => {
  const folder = folderFor(context);
  const file = path.join(folder, 'window.lock');
  const held = JSON.stringify({ pid: 1, place: 'elsewhere' });
  fs.writeFileSync(file, held);
  const answered = new Date('2010-01-01');
  await beforeFirst(
    'rename',
    () => fs.utimesSync(file, answered, answered),
    async () => assert.equal(await ProcessLock.take(file, 0, { answerMs: 0 }), undefined),
  );
  assert.equal(fs.readFileSync(file, 'utf8'), held);
  assert.deepEqual(fs.readdirSync(folder), ['window.lock']);
});

for (const name of ['stat', 'link'])
  test(`an owner whose lock is taken over right before the ${name} of its look is not sure of it`, async context => {
    const folder = folderFor(context);
    context.mock.timers.enable({ apis: ['Date', 'setInterval'] }); // the lock does not look by itself
    const file = path.join(folder, 'window.lock');
    const lock = (await ProcessLock.take(file, 0)) ?? assert.fail('it is free');
    context.mock.timers.setTime(Date.now() + 5_000);
    if (name === 'link') fs.rmSync(file); // the owner makes its lock again
    await beforeFirst(
      name,
      () => fs.writeFileSync(file, '{"pid":1,"place":"elsewhere"}'),
      () => assert.rejects(lock.check(), { code: 'ELOST' }),
    );
    await lock.release();
    assert.deepEqual(fs.readdirSync(folder), ['window.lock']);
  });

test('a log whose lock was not looked at for long is not written before that', async context => {
  const folder = folderFor(context);
  context.mock.timers.enable({ apis: ['Date', 'setInterval'] }); // the lock does not look by itself
  const [file, lines] = [path.join(folder, 'window.lock'), path.join(folder, 'log.jsonl')];
  const lock = (await ProcessLock.take(file, 0)) ?? assert.fail('it is free');
  const log = new JsonLog<unknown>(lines, { log: 'test', version: 1, parse: value => value }, lock);
  await log.readAndRepair({ entry: () => undefined });
  for (const sleep of [0, 100_000]) {
    context.mock.timers.setTime(Date.now() + sleep);
    assert.equal(log.appendNow('now'), sleep === 0);
    await log.append('later');
  }
  const before = fs.readFileSync(lines, 'utf8');
  context.mock.timers.setTime(Date.now() + 100_000);
  fs.writeFileSync(file, '{"pid":1,"place":"elsewhere"}');
  assert.equal(log.appendNow('now'), false);
  for (const write of [() => log.append('later'), () => log.rewrite(() => () => [])])
    await assert.rejects(write, { code: 'ELOST' });
  assert.equal(fs.readFileSync(lines, 'utf8'), before);
  await lock.release();
});

test('a lock that cannot be read or made is an error: neither taken nor free, and nothing is left behind', async context => {
  const folder = folderFor(context);
  const file = path.join(folder, 'window.lock');
  fs.mkdirSync(file);
  await assert.rejects(ProcessLock.take(file, 0), { code: 'EISDIR' });
  assert.deepEqual(fs.readdirSync(folder), ['window.lock']);
  const nowhere = path.join(folder, 'window.lock', 'below', 'window.lock');
  fs.rmdirSync(file);
  fs.writeFileSync(file, '');
  await assert.rejects(ProcessLock.take(nowhere, 0), { code: 'ENOTDIR' });
});

test('the address to listen at is short enough for the system, however long the temporary folder is', () => {
  const folder = '/var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T';
  assert.match(listenAddress(folder, 'darwin'), /^\/var\/folders\/.*\/T\/redline-[\w-]+\.sock$/);
  for (const long of [`${folder}/${'x'.repeat(40)}`, `/${'ü'.repeat(40)}`])
    assert.match(listenAddress(long, 'darwin'), /^\/tmp\/redline-[\w-]+\.sock$/);
  assert.match(listenAddress('C:\\Temp', 'win32'), /^\\\\\.\\pipe\\redline-[\w-]+$/);
});
