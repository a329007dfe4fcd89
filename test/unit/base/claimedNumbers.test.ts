import { execFile } from 'node:child_process';
import * as fs from 'node:fs';
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { promisify } from 'node:util';
import { ClaimedNumbers, FIRST_RANDOM } from '../../../src/agent/base/claimedNumbers.ts';
import { TempFolder } from '../../support/tempFolder.ts';

const temp = await TempFolder.create();
after(() => temp.remove());
let count = 0;
const newFile = (): string => temp.at(`deep${count++}/numbers`);

test('numbers count up from 1, also across restarts and in a folder that does not exist yet', () => {
  const file = newFile();
  const first = new ClaimedNumbers(file);
  assert.deepEqual([first.next(0), first.next(1)], [1, 2]);
  assert.deepEqual([new ClaimedNumbers(file).next(0), first.next(2)], [3, 4]);
});

test('numbers that an older version used are left out', () => {
  const file = newFile();
  const numbers = new ClaimedNumbers(file, 40);
  assert.equal(numbers.next(57), 58);
  assert.equal(numbers.next(58), 59);
  assert.equal(new ClaimedNumbers(file, 40).next(0), 60, 'whoever claims next');
  assert.equal(new ClaimedNumbers(newFile(), 40).next(7), 41);
});

test('a number far above all that were counted, from a damaged file for example, is not counted up to', () => {
  for (const [floor, last] of [
    [4e8, 0],
    [0, 4e8],
    [Infinity, 0],
  ] as const) {
    const file = newFile();
    const given = [1, 2].map(() => new ClaimedNumbers(file, floor).next(last));
    assert.ok(given.every(number => number >= FIRST_RANDOM));
    assert.ok(fs.statSync(file).size < 100, `${fs.statSync(file).size} bytes`);
    assert.ok(new ClaimedNumbers(file).next(0) <= 3, 'others count on');
  }
});

test('a floor that was taken holds for those who do not know it, and costs no number', async () => {
  const file = newFile();
  await new ClaimedNumbers(file, 200_000).takeFloor();
  assert.equal(new ClaimedNumbers(file).next(0), 200_001);
  const empty = newFile();
  await new ClaimedNumbers(empty).takeFloor();
  assert.ok(fs.statSync(empty).size > 0, 'it is seen that there was nothing to take');
  assert.deepEqual([new ClaimedNumbers(empty).next(0), new ClaimedNumbers(empty).next(1)], [1, 2]);
});

test('a claim that was torn, by a full disk for example, costs no one a number twice', () => {
  const file = newFile();
  const [a, b] = [new ClaimedNumbers(file), new ClaimedNumbers(file)];
  const given = [a.next(0), b.next(0)];
  fs.appendFileSync(file, 'abc');
  given.push(a.next(0), b.next(0));
  fs.appendFileSync(file, Buffer.from([0xff, 0x0a, 0x0a, 0xfe]));
  given.push(b.next(0), a.next(0));
  assert.deepEqual(given, [1, 2, 3, 4, 7, 8]);
});

test('a file that is deleted or cut off meanwhile starts again above what its user knows', () => {
  const file = newFile();
  const numbers = new ClaimedNumbers(file);
  for (let n = 0; n < 5; n++) numbers.next(n);
  fs.rmSync(file);
  assert.equal(numbers.next(5), 6);
  fs.truncateSync(file, 0);
  assert.equal(numbers.next(6), 7);
});

test('where nothing can be claimed, numbers are random, high, and differ', () => {
  const file = newFile();
  fs.mkdirSync(file, { recursive: true });
  const numbers = new ClaimedNumbers(file);
  const given = Array.from({ length: 1_000 }, () => numbers.next(3));
  assert.equal(new Set(given).size, given.length);
  assert.ok(given.every(number => number >= FIRST_RANDOM && Number.isSafeInteger(number)));
  fs.rmdirSync(file);
  assert.equal(numbers.next(3), 4, 'as soon as it works again, it counts on');
});

test('processes that claim at the same time get different numbers', async () => {
  const file = newFile();
  const module = new URL('../../../src/agent/base/claimedNumbers.ts', import.meta.url).href;
  const code = `const { ClaimedNumbers } = await import(${JSON.stringify(module)});
    const numbers = new ClaimedNumbers(${JSON.stringify(file)});
    let last = 0;
    for (let n = 0; n < 500; n++) console.log((last = numbers.next(last)));`;
  const run = promisify(execFile);
  const outputs = await Promise.all(
    [1, 2, 3].map(() => run(process.execPath, ['--input-type=module', '-e', code])),
  );
  const given = outputs.flatMap(({ stdout }) => stdout.trim().split('\n').map(Number));
  assert.equal(given.length, 1_500);
  assert.deepEqual(
    [...given].sort((a, b) => a - b),
    Array.from({ length: 1_500 }, (_, n) => n + 1),
  );
});
