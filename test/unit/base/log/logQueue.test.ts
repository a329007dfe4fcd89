import { test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import { EncodingError } from '../../../../src/agent/base/log/jsonLines.ts';
import { LogQueue, marked, type LogSink } from '../../../../src/agent/base/log/logQueue.ts';

/** A log on which the next `failures` attempts fail, and those with the entry `failing`. */
class FailingLog implements LogSink<number> {
  readonly written: number[] = [];
  failures = 0;
  failing: number | undefined;
  error: Error | undefined;
  attempts = 0;

  append(entry: number): Promise<void> {
    this.attempts++;
    if (this.failures-- > 0 || entry === this.failing)
      return Promise.reject(this.error ?? new Error(`no room for ${entry}`));
    this.written.push(entry);
    return Promise.resolve();
  }
}

function given() {
  const log = new FailingLog();
  const told: string[] = [];
  const queue = new LogQueue(log, {
    onFailure: error => told.push(String(error)),
    onDrop: (entry, error) => told.push(`${entry} dropped: ${String(error)}`),
    onRecovery: () => told.push('recovered'),
  });
  return { log, told, queue };
}

const fail = (error: unknown): never => assert.fail(String(error));
/** For a log that is not to fail. */
const failing = { onFailure: fail, onDrop: (_: number, error: unknown) => fail(error) };

const settled = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

/** Lets timers fire only when the test says so. */
function withTimers(context: TestContext): (ms: number) => Promise<void> {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  return async ms => {
    context.mock.timers.tick(ms);
    await settled();
  };
}

test('what waits is retried after a while by itself, less and less often, and then everything is in order', async context => {
  const tick = withTimers(context);
  const { log, told, queue } = given();
  log.failures = 4;
  await queue.append(1);
  assert.deepEqual(told, ['Error: no room for 1']);
  await Promise.all([queue.append(2), queue.append(3)]);
  assert.equal(log.attempts, 1, 'later entries join what waits');
  await tick(500);
  assert.equal(log.attempts, 2);
  await tick(500);
  assert.equal(log.attempts, 2, 'the second wait is longer');
  await tick(500);
  assert.equal(log.attempts, 3);
  await tick(2_000);
  assert.equal(log.attempts, 4);
  await tick(4_000);
  assert.deepEqual(log.written, [1, 2, 3]);
  assert.deepEqual(told, ['Error: no room for 1', 'recovered']);
  await tick(120_000);
  assert.equal(log.attempts, 7, 'nothing is left to retry');
});

test('however long it fails, it is retried every half minute', async context => {
  const tick = withTimers(context);
  const { log, queue } = given();
  log.failures = 50;
  await queue.append(1);
  for (let n = 0; n < 10; n++) await tick(30_000);
  const before = log.attempts;
  await tick(30_000);
  assert.equal(log.attempts, before + 1);
  log.failures = 0;
  await tick(30_000);
  assert.deepEqual(log.written, [1]);
});

test('it is not reported as recovered before everything is written', async () => {
  const { log, told, queue } = given();
  log.failures = 1;
  await queue.append(1);
  log.failing = 2; // a large one, for example
  await Promise.all([queue.append(2), queue.append(3)]);
  assert.equal(await queue.drain(), false);
  assert.deepEqual(log.written, [1]);
  assert.deepEqual(told, ['Error: no room for 1']);
  log.failing = undefined;
  assert.equal(await queue.drain(), true);
  assert.deepEqual(log.written, [1, 2, 3]);
  assert.deepEqual(told, ['Error: no room for 1', 'recovered']);
});

test('an entry that is needed now is dropped when it, or one before it, cannot be written', async () => {
  const { log, told, queue } = given();
  log.failures = 2;
  await queue.append(1);
  await assert.rejects(queue.append(2, { nowOrNever: true }) ?? assert.fail(), /no room for 1/);
  await queue.append(3, { nowOrNever: true });
  assert.deepEqual(log.written, [1, 3]);
  log.failures = 1;
  await assert.rejects(queue.append(4, { nowOrNever: true }) ?? assert.fail(), /no room for 4/);
  assert.equal(queue.isEmpty, true);
  await queue.append(5);
  assert.equal(await queue.drain(), true);
  assert.deepEqual(log.written, [1, 3, 5]);
  assert.equal(told.filter(text => text !== 'recovered').length, 2);
});

test('several entries are in the log when append returns, if it can write at once', () => {
  const written: number[] = [];
  const log: LogSink<number> = {
    append: () => assert.fail('it could write at once'),
    appendNow: entry => written.push(entry) > 0,
  };
  const queue = new LogQueue(log, failing);
  void queue.append(1);
  void queue.append(2);
  assert.deepEqual(written, [1, 2]);
});

test('an entry that cannot be written at once is not overtaken', async () => {
  const written: number[] = [];
  let isOpen = false;
  const log: LogSink<number> = {
    append: async entry => {
      await settled();
      written.push(entry);
    },
    appendNow: entry => isOpen && written.push(entry) > 0,
  };
  const queue = new LogQueue(log, failing);
  void queue.append(1);
  isOpen = true;
  await queue.append(2);
  void queue.append(3);
  assert.deepEqual(written, [1, 2, 3]);
});

test('draining an empty queue does nothing; draining one that fails says so', async () => {
  const { log, queue } = given();
  assert.equal(await queue.drain(), true);
  assert.equal(log.attempts, 0);
  log.failures = 2;
  await queue.append(1);
  assert.equal(await queue.drain(), false);
});

test('an entry that has no encoding is dropped and reported; the others go on', async context => {
  const tick = withTimers(context);
  const { log, told, queue } = given();
  log.failing = 2;
  log.error = new EncodingError(new RangeError('Invalid string length'));
  await Promise.all([queue.append(1), queue.append(2), queue.append(3)]);
  assert.deepEqual(log.written, [1, 3]);
  assert.equal(told.length, 1);
  assert.match(told[0] ?? '', /^2 dropped: .* cannot be encoded: Invalid string length/);
  await tick(60_000);
  assert.equal(log.attempts, 3, 'it is not tried again');
});

test('an entry that turns out to have no encoding only after it waited is reported all the same', async () => {
  const { log, told, queue } = given();
  log.failures = 1;
  await queue.append(1);
  await queue.append(2);
  log.failing = 2;
  log.error = new EncodingError(new RangeError('Invalid string length'));
  await queue.append(3, { nowOrNever: true });
  assert.deepEqual(log.written, [1, 3]);
  assert.match(told[1] ?? '', /^2 dropped: /);
});

test('closing tries once more what waits, and ends the retries', async context => {
  const tick = withTimers(context);
  const { log, queue } = given();
  log.failures = 1;
  await queue.append(1);
  await queue.append(2);
  assert.equal(await queue.close(), true);
  assert.deepEqual(log.written, [1, 2]);

  const full = given();
  full.log.failures = Infinity;
  await full.queue.append(1);
  assert.equal(await full.queue.close(), false);
  assert.equal(full.log.attempts, 2);
  await full.queue.append(2);
  await assert.rejects(full.queue.append(3, { nowOrNever: true }) ?? assert.fail(), /closed/);
  await tick(120_000);
  assert.equal(full.log.attempts, 2, 'no timer is left');
});

test('an entry that was stored although writing it was said to have failed is written again, with its mark', async () => {
  const lines: { n: number; mark: string }[] = [];
  let lies = true;
  const log: LogSink<{ n: number; mark: string }> = {
    append: async entry => {
      lines.push(entry);
      if (lies) throw new Error('EIO');
    },
  };
  const queue = new LogQueue(log, { onFailure: () => undefined, onDrop: (_, error) => fail(error) });
  await queue.append(marked({ n: 1 }));
  lies = false;
  assert.equal(await queue.drain(), true);
  assert.deepEqual(
    lines.map(({ n }) => n),
    [1, 1],
  );
  assert.equal(lines[0]?.mark, lines[1]?.mark, 'so that a reader takes both for one');
});

test('marks tell entries apart that are otherwise equal, however many there are', () => {
  const marks = Array.from({ length: 1_000 }, () => marked({ n: 1 }).mark);
  assert.equal(new Set(marks).size, marks.length);
  // As a birthday paradox has it, half as many bits tell how many entries it takes until two are taken for one.
  const random = (at: number): boolean => new Set(marks.map(mark => mark[at])).size === 16;
  const digits = Array.from(marks[0] ?? '', (_, at) => at).filter(random);
  assert.ok(digits.length * 4 >= 100, `${digits.length} random hexadecimal digits`);
});

test('an entry that was needed at once and is dropped since the log is closed was not written', async () => {
  const writing = Promise.withResolvers<void>();
  const queue = new LogQueue({ append: () => writing.promise }, failing);
  const first = queue.append(1);
  const needed = queue.append(2, { nowOrNever: true });
  const closed = queue.dispose();
  writing.resolve();
  await first;
  await assert.rejects(async () => needed, /closed/);
  await closed;
});
