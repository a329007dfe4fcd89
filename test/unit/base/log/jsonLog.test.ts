import { existsSync, readFileSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, beforeEach, test } from 'node:test';
import assert from 'node:assert/strict';
import { eachLine, encodeEntry, EncodingError } from '../../../../src/agent/base/log/jsonLines.ts';
import { JsonLog } from '../../../../src/agent/base/log/jsonLog.ts';
import { encodeHeader, UnknownLogVersionError } from '../../../../src/agent/base/log/logFormat.ts';
import { decodeLog, type DecodedLog } from '../../../support/decodeLog.ts';
import { aroundDiskCalls, quietly } from '../../../support/diskCalls.ts';

interface Entry {
  readonly n: number | string;
}

const header = { log: 'test.log', version: 2 };
const parse = (value: unknown): Entry | undefined =>
  typeof value === 'object' && value !== null && 'n' in value ? (value as Entry) : undefined;
const format = { ...header, parse };
const decode = (text: string) => decodeLog(text, format);

const root = await mkdtemp(path.join(tmpdir(), 'redline-log-'));
after(() => rm(root, { recursive: true }));

let count = 0;
let file = '';
let log: JsonLog<Entry>;
beforeEach(() => {
  file = path.join(root, `folder${count++}`, 'log.jsonl');
  log = new JsonLog(file, format);
});
/** All entries of a log, which is repaired. */
async function loaded(from = log): Promise<DecodedLog<Entry>> {
  const entries: Entry[] = [];
  return { entries, ...(await from.readAndRepair({ entry: entry => void entries.push(entry) })) };
}
const reopened = () => loaded(new JsonLog(file, format));

/** Writes the file, as another version or a crash has left it. */
async function left(content: string | Buffer): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, content);
}

/** Windows opens a folder like a file, and refuses only to write to it. */
const isFolder = { code: process.platform === 'win32' ? 'EBADF' : 'EISDIR' };

/** Runs work while the log cannot be written. */
async function whileInTheWay(work: () => Promise<void>): Promise<void> {
  await rename(file, `${file}.away`);
  await mkdir(file);
  await work();
  await rmdir(file);
  await rename(`${file}.away`, file);
}

const large = { n: 1, list: Array.from({ length: 500 }, (_, i) => ({ i, text: 'x'.repeat(10_000) })) };
/** It has no JSON text. */
const endless: { n: number; self?: unknown } = { n: 2 };
endless.self = endless;

test('a large entry comes back from the file', async () => {
  await Promise.all([log.append(large), log.append({ n: 2 })]);
  assert.deepEqual((await reopened()).entries, [large, { n: 2 }]);
});

test('an entry that has no JSON text is refused as such, and leaves nothing behind', async () => {
  await log.append({ n: 1 });
  await assert.rejects(log.append(endless), EncodingError);
  assert.equal(log.appendNow(endless), false);
  await assert.rejects(log.append({ n: 3, list: [...Array(99).keys(), 1n] } as Entry), EncodingError);
  await log.append({ n: 4 });
  assert.deepEqual((await reopened()).entries, [{ n: 1 }, { n: 4 }]);
});

test('flushing waits for what was appended, and fails when the file cannot be written', async () => {
  let stored = false;
  void log.append(large).then(() => (stored = true));
  await log.flush();
  assert.equal(stored, true);
  assert.deepEqual((await reopened()).entries, [large]);
  await rm(file);
  await assert.rejects(log.flush(), { code: 'ENOENT' });
});

test('what is appended during a flush is handed to the operating system at once', async () => {
  await log.append({ n: 1 });
  const flushed = log.flush();
  void log.append({ n: 2 });
  assert.equal(
    readFileSync(file, 'utf8'),
    encodeHeader(header) + encodeEntry({ n: 1 }) + encodeEntry({ n: 2 }),
  );
  await flushed;
});

test('what is appended while a log in doubt is written again is handed to the operating system at once, and stays', async () => {
  await left(encodeHeader(header) + encodeEntry({ n: 1 }));
  const lock = { isSure: true, check: () => Promise.resolve(), wasLeft: true };
  log = new JsonLog(file, format, lock);
  await loaded();
  let count = 1;
  const entries = (): Entry[] => Array.from({ length: count }, (_, i) => ({ n: i + 1 }));
  const appendNow = (): void => {
    assert.equal(log.appendNow({ n: ++count }), true);
    const stored = encodeHeader(header) + entries().map(encodeEntry).join('');
    assert.equal(
      quietly(() => readFileSync(file, 'utf8')),
      stored,
    );
  };
  let wasReplaced = false;
  await aroundDiskCalls(
    ({ name, isPromised, make }) => {
      wasReplaced ||= name === 'rename';
      if (isPromised) appendNow();
      return make();
    },
    () => log.flush(() => Promise.resolve(appendNow())),
  );
  assert.equal(wasReplaced, true);
  assert.ok(count > 3, `${count} entries`);
  appendNow();
  assert.deepEqual((await reopened()).entries, entries());
});

test('compacting waits for a flush, and a flush for compacting', async () => {
  await log.append({ n: 1 });
  const all = [
    log.flush(),
    log.rewrite(() => ({ n }) => [{ n: `${n}!` }]),
    log.flush(),
    log.append({ n: 2 }),
  ];
  await Promise.all(all);
  assert.deepEqual((await reopened()).entries, [{ n: '1!' }, { n: 2 }]);
});

test('what is encoded is decoded, line feeds and all', async () => {
  const entries = [{ n: 1 }, { n: 'a\nb\u2028\r' }];
  const text = encodeHeader(header) + entries.map(encodeEntry).join('');
  assert.deepEqual(await decode(text), { entries, badLines: [], torn: false });
});

test('a last line without its line feed is dropped, even if it happens to be whole', async () => {
  const text = `${encodeHeader(header)}{"n":1}\n{"n":2}`;
  assert.deepEqual(await decode(text), { entries: [{ n: 1 }], badLines: [], torn: true });
});

test('lines that cannot be read are skipped and numbered, the others are kept', async () => {
  const text = `${encodeHeader(header)}{"n":1}\n{"n":\n{"other":1}\n{"n":4}\n`;
  assert.deepEqual(await decode(text), { entries: [{ n: 1 }, { n: 4 }], badLines: [3, 4], torn: false });
});

test('an older version is read; a newer one, another log and no header at all are refused', async () => {
  assert.deepEqual((await decode(`${encodeHeader({ ...header, version: 1 })}{"n":1}\n`)).entries, [{ n: 1 }]);
  for (const first of [{ ...header, version: 3 }, { log: 'other', version: 1 }, { n: 1 }, null]) {
    await assert.rejects(decode(`${JSON.stringify(first)}\n`), UnknownLogVersionError);
  }
  await assert.rejects(decode('not json\n'), UnknownLogVersionError);
});

test('a reader may take lines as bytes, is given the other entries in order, and never the header', async () => {
  await loaded();
  for (const n of [1, 'ä', 3, 'ö']) await log.append({ n });
  await appendFile(file, '{"n":\n\n{"n":5}\n{"n":');
  const got: unknown[] = [];
  const faults = await new JsonLog(file, format).readAndRepair({
    line: (bytes, start, end) => {
      const line = bytes.toString('utf8', start, end);
      return /"[äö]"/.test(line) && got.push(line) > 0;
    },
    entry: entry => void got.push(entry),
  });
  assert.deepEqual(got, [{ n: 1 }, '{"n":"ä"}', { n: 3 }, '{"n":"ö"}', { n: 5 }]);
  assert.deepEqual(faults, { badLines: [6], torn: true });
});

test('a reader is given nothing of a log of a newer version', async () => {
  await left(`${encodeHeader({ ...header, version: 3 })}{"n":1}\n`);
  const taken = () => assert.fail('something was read');
  await assert.rejects(log.readAndRepair({ line: taken, entry: taken }), UnknownLogVersionError);
});

test('reading a long log does not block the event loop', async () => {
  const line = `${'x'.repeat(70_000)}\n`;
  let turns = 0;
  let reading = true;
  const others = (): void => {
    turns++;
    if (reading) setImmediate(others);
  };
  setImmediate(others);
  let spent = 0;
  await eachLine(Buffer.from(line.repeat(30)), () => {
    const since = performance.now();
    while (performance.now() - since < 2);
    spent += performance.now() - since;
  });
  reading = false;
  // A slice of work is 10 ms and what the last line takes.
  assert.ok(turns >= 4, `${turns} turns in ${spent} ms`);
});

test('a line of megabytes is read, and a damaged one is told of', async () => {
  const long = { n: '\t"é"\n'.repeat(500_000) };
  const line = encodeEntry(long);
  const { entries, badLines } = await decode(
    `${encodeHeader(header)}${line}{"n":1}\n${line.replace(':', ';')}{"n":2}\n`,
  );
  assert.deepEqual(badLines, [4]);
  assert.deepEqual(entries, [long, { n: 1 }, { n: 2 }]);
});

test('a log that does not exist is created, with its folder and header', async () => {
  assert.deepEqual(await loaded(), { entries: [], badLines: [], torn: false });
  assert.equal(await readFile(file, 'utf8'), encodeHeader(header));
});

test('an empty file gets its header', async () => {
  await left('');
  await loaded();
  await log.append({ n: 1 });
  assert.deepEqual((await reopened()).entries, [{ n: 1 }]);
});

test('appends are written in the order of the calls, whether they are awaited or not', async () => {
  await loaded();
  const entries = Array.from({ length: 50 }, (_, n) => ({ n }));
  await Promise.all(entries.map(entry => log.append(entry)));
  assert.deepEqual((await reopened()).entries, entries);
});

test('what was appended is in the file when append returns', async () => {
  await loaded();
  void log.append({ n: 1 });
  assert.deepEqual((await decode(readFileSync(file, 'utf8'))).entries, [{ n: 1 }]);
});

test('appends during a compaction follow it', async () => {
  await loaded();
  await log.append({ n: 1 });
  const compacted = log.rewrite(() => entry => (entry.n === 1 ? [] : [entry]));
  await Promise.all([compacted, log.append({ n: 2 }), log.append({ n: 3 })]);
  await log.append({ n: 4 });
  assert.deepEqual((await reopened()).entries, [{ n: 2 }, { n: 3 }, { n: 4 }]);
});

test('a torn last line is truncated, so that the next entry is on a line of its own', async () => {
  await loaded();
  await log.append({ n: 'ä' });
  await appendFile(file, '{"n":"ö');
  const again = new JsonLog(file, format);
  assert.deepEqual(await loaded(again), { entries: [{ n: 'ä' }], badLines: [], torn: true });
  await again.append({ n: 3 });
  assert.deepEqual(await reopened(), { entries: [{ n: 'ä' }, { n: 3 }], badLines: [], torn: false });
});

test('a torn line is truncated at the right byte although an earlier line contains invalid UTF-8', async () => {
  await loaded();
  await appendFile(file, Buffer.from([0xff, 0xfe, 0x0a]));
  await log.append({ n: 1 });
  await appendFile(file, '{"n":2');
  const again = new JsonLog(file, format);
  assert.deepEqual(await loaded(again), { entries: [{ n: 1 }], badLines: [2], torn: true });
  await again.append({ n: 3 });
  assert.deepEqual(await reopened(), { entries: [{ n: 1 }, { n: 3 }], badLines: [2], torn: false });
});

test('two entries on one line, whose line feed was lost, are two entries, and are stored so', async () => {
  await loaded();
  const whole = [{ n: 1 }, { n: 'a}{' }, { n: '"}{"n":9}' }, { n: '}{"' }];
  await appendFile(file, `${whole.map(entry => JSON.stringify(entry)).join('')}\n`);
  await appendFile(file, `${'\0'.repeat(400)}{"n":2}\n{"n":3}{"n":4`);
  const again = new JsonLog(file, format);
  assert.deepEqual(await loaded(again), {
    entries: [...whole, { n: 2 }, { n: 3 }],
    badLines: [6],
    torn: true,
  });
  await again.rewrite(() => entry => (entry.n === 1 ? [] : [entry]));
  await again.append({ n: 5 });
  assert.deepEqual((await reopened()).entries, [...whole.slice(1), { n: 2 }, { n: 3 }, { n: 5 }]);
});

test('an entry that is glued to the header is not lost, nor is the log', async () => {
  await left(`${encodeHeader(header).trimEnd()}{"n":1}\n`);
  assert.deepEqual(await loaded(), { entries: [{ n: 1 }], badLines: [], torn: false });
});

test('reading does not change a log while another process is in the middle of writing a line', async () => {
  const taken: Entry[] = [];
  const reader = { entry: (entry: Entry) => void taken.push(entry) };
  const other = new JsonLog(file, format);
  assert.deepEqual(await other.read(reader), { badLines: [], torn: false });
  assert.equal(existsSync(path.dirname(file)), false, 'a missing one is not created');
  await log.append({ n: 1 });
  await appendFile(file, '{"n":');
  assert.deepEqual(await other.read(reader), { badLines: [], torn: true });
  assert.deepEqual(taken, [{ n: 1 }]);
  await appendFile(file, '2}\n');
  assert.deepEqual(await reopened(), { entries: [{ n: 1 }, { n: 2 }], badLines: [], torn: false });
});

test('a log that was only read is prepared by its first append', async () => {
  await log.append({ n: 1 });
  await appendFile(file, '{"n":');
  const other = new JsonLog(file, format);
  await other.read({ entry: () => undefined });
  await other.append({ n: 2 });
  assert.deepEqual((await reopened()).entries, [{ n: 1 }, { n: 2 }]);
});

test('a log whose header is torn is started again, and can be read later', async () => {
  await left(encodeHeader(header).slice(0, 7));
  assert.deepEqual(await loaded(), { entries: [], badLines: [], torn: true });
  await log.append({ n: 1 });
  assert.deepEqual((await reopened()).entries, [{ n: 1 }]);
});

test('a log of a newer version is refused and left as it is', async () => {
  const text = `${encodeHeader({ ...header, version: 3 })}{"n":1}\n{"torn`;
  await left(text);
  await assert.rejects(loaded(), UnknownLogVersionError);
  assert.equal(await readFile(file, 'utf8'), text);
});

test('a log that is prepared by its first append does not parse its entries', async () => {
  await log.append({ n: 1 });
  await appendFile(file, '{"n":');
  const unread = new JsonLog<Entry>(file, {
    ...header,
    parse: () => assert.fail('an entry was parsed'),
  });
  await unread.append({ n: 2 });
  assert.deepEqual((await reopened()).entries, [{ n: 1 }, { n: 2 }]);
});

test('a failed append rejects, and later ones are still written', async () => {
  await loaded();
  await whileInTheWay(() => assert.rejects(log.append({ n: 1 }), isFolder));
  await log.append({ n: 2 });
  assert.deepEqual(await reopened(), { entries: [{ n: 2 }], badLines: [], torn: false });
});

test('a failed append that left half a line behind does not spoil the next entry, for which nothing is read', async () => {
  await loaded();
  await log.append({ n: 1 });
  const reads: string[] = [];
  let fails = true;
  await aroundDiskCalls(
    ({ name, args: [file, line], make }) => {
      if (name.startsWith('read')) reads.push(name);
      if (name !== 'appendFile' || !fails) return make();
      fails = false;
      make([file, (line as string).slice(0, 5)]);
      throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    },
    async () => {
      await assert.rejects(log.append({ n: 2 }), { code: 'ENOSPC' });
      assert.match(await readFile(file, 'utf8'), /\n\{"n":$/);
      reads.length = 0;
      await log.append({ n: 3 });
    },
    true,
  );
  assert.deepEqual(reads, []);
  assert.deepEqual(await reopened(), { entries: [{ n: 1 }, { n: 3 }], badLines: [], torn: false });
});

/** Loads the log with a lock. @returns a function that gives the lock to another process */
async function loadedWithLock(): Promise<() => void> {
  let isLost = false;
  const lost = Object.assign(new Error('lost'), { code: 'ELOST' });
  const lock = { isSure: true, check: () => (isLost ? Promise.reject(lost) : Promise.resolve()) };
  log = new JsonLog(file, format, lock);
  await loaded();
  return () => void (isLost = true);
}

test('what a failed append left is not cut off once another process owns the log', async () => {
  const lose = await loadedWithLock();
  await log.append({ n: 1 });
  await aroundDiskCalls(
    ({ name, make }) => {
      if (name === 'appendFile') throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
      return make();
    },
    () => assert.rejects(log.append({ n: 2 }), { code: 'ENOSPC' }),
  );
  lose();
  await new JsonLog(file, format).append({ n: 3 });
  await assert.rejects(
    log.rewrite(() => entry => [entry]),
    { code: 'ELOST' },
  );
  assert.deepEqual((await reopened()).entries, [{ n: 1 }, { n: 3 }]);
});

test('a log that is started again is not repaired once another process owns it', async () => {
  const lose = await loadedWithLock();
  await rm(file);
  await assert.rejects(log.append({ n: 1 }), { code: 'ENOENT' });
  lose();
  await left(`${encodeHeader(header)}{"n":`);
  await assert.rejects(log.append({ n: 2 }), { code: 'ELOST' });
  assert.match(await readFile(file, 'utf8'), /\{"n":$/);
});

test('a log whose sync failed is not written again once another process owns it, not even beside it', async () => {
  const lose = await loadedWithLock();
  await aroundDiskCalls(
    ({ name, make }) => (name === 'datasync' ? Promise.reject(new Error('EIO')) : make()),
    () => assert.rejects(log.flush(), /EIO/),
  );
  lose();
  await writeFile(`${file}.new`, 'what the owner is about to put in its place');
  await assert.rejects(log.flush(), { code: 'ELOST' });
  assert.match(await readFile(`${file}.new`, 'utf8'), /^what the owner/);
});

test('a log that was deleted while it was in use is started again, with its header', async () => {
  await loaded();
  await rm(path.dirname(file), { recursive: true });
  assert.equal(log.appendNow({ n: 1 }), false);
  await assert.rejects(log.append({ n: 1 }), { code: 'ENOENT' });
  await log.append({ n: 2 });
  assert.deepEqual(await reopened(), { entries: [{ n: 2 }], badLines: [], torn: false });
});

/** Writes half of each entry that is appended meanwhile, as a full disk does. */
const whileDiskIsFull = (work: () => Promise<void>): Promise<void> =>
  aroundDiskCalls(({ name, args: [handle, line], make }) => {
    if (name !== 'appendFile') return make();
    make([handle, (line as string).slice(0, 5)]);
    throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
  }, work);

test('a log that was emptied while it was in use is started again, with its header', async () => {
  await loaded();
  await log.append({ n: 1 });
  for (const isFull of [false, true]) {
    await writeFile(file, '');
    if (isFull) await whileDiskIsFull(() => assert.rejects(log.append({ n: 2 }), { code: 'ENOSPC' }));
    await log.append({ n: 3 });
    assert.deepEqual(await reopened(), { entries: [{ n: 3 }], badLines: [], torn: false });
  }
});

test('what a failed append left in one file is not cut off another one that has taken its place', async () => {
  await loaded();
  await log.append({ n: 1 });
  await rename(file, `${file}.away`);
  await writeFile(file, encodeHeader(header));
  await whileDiskIsFull(() => assert.rejects(log.append({ n: 2 }), { code: 'ENOSPC' }));
  await rename(`${file}.away`, file);
  await appendFile(file, '{"n":');
  await log.append({ n: 3 });
  assert.deepEqual(await reopened(), { entries: [{ n: 1 }, { n: 3 }], badLines: [], torn: false });
});

test('an entry is appended at once if that is possible, else nothing of it is', async () => {
  assert.equal(log.appendNow({ n: 1 }), false, 'not prepared yet');
  await loaded();
  assert.equal(log.appendNow({ n: 2 }), true);
  const compacted = log.rewrite(() => entry => [entry]);
  assert.equal(log.appendNow({ n: 3 }), false, 'it must wait');
  await compacted;
  await whileInTheWay(async () => assert.equal(log.appendNow({ n: 4 }), false, 'it cannot be written'));
  await log.append({ n: 5 });
  assert.deepEqual((await reopened()).entries, [{ n: 2 }, { n: 5 }]);
});

test('compacting keeps every line that it cannot read, byte for byte and in its place', async () => {
  await loaded();
  await log.append({ n: 1 });
  const odd = Buffer.concat([Buffer.from('{"n":\n{"other": 1}\n'), Buffer.from([0xff, 0xfe, 0x0a])]);
  await appendFile(file, odd);
  await appendFile(file, '{"n":2, "unknown": 3}\n');
  const again = new JsonLog(file, format);
  await again.rewrite(() => entry => (entry.n === 1 ? [{ n: 'a' }, { n: 'b' }] : [entry]));
  const expected = Buffer.concat([
    Buffer.from(encodeHeader(header) + encodeEntry({ n: 'a' }) + encodeEntry({ n: 'b' })),
    odd,
    Buffer.from('{"n":2, "unknown": 3}\n'),
  ]);
  assert.deepEqual(await readFile(file), expected);
});

test('a line that no migration changes keeps its bytes', async () => {
  const stored = Buffer.from(`${encodeHeader({ ...header, version: 1 })}{"n": 1.0}\n{ "odd" }\n`);
  await left(stored);
  await loaded();
  assert.equal(await readFile(file, 'utf8'), `${encodeHeader(header)}{"n": 1.0}\n{ "odd" }\n`);
});

test('an error of the file system other than a missing file is not hidden', async () => {
  await mkdir(file, { recursive: true });
  await assert.rejects(loaded(), isFolder);
});

test('compacting a long log with lines of all kinds keeps their order and their bytes', async () => {
  await loaded();
  const expected: Buffer[] = [Buffer.from(encodeHeader(header))];
  const stored: Buffer[] = [...expected];
  for (let n = 0; n < 3_000; n++) {
    const odd = n % 7 === 0;
    const line = Buffer.from(odd ? `{ "odd": ${n} }\n` : `{"n": ${n}, "text": "${'é'.repeat(n % 90)}"}\n`);
    stored.push(line);
    if (odd || n % 3 > 0) expected.push(line);
    else if (n % 2 === 0) expected.push(Buffer.from(encodeEntry({ n: `${n}!` }).repeat(2)));
  }
  await writeFile(file, Buffer.concat(stored));
  const again = new JsonLog(file, format);
  await again.rewrite(() => entry => {
    const n = Number(entry.n);
    if (n % 3 > 0) return [entry];
    return n % 2 === 0 ? [{ n: `${n}!` }, { n: `${n}!` }] : [];
  });
  assert.ok((await readFile(file)).equals(Buffer.concat(expected)));
});

test('other work runs while many entries are appended, and while many are removed', async () => {
  const entries = Array.from({ length: 20_000 }, (_, n) => ({ n }));
  let others = 0;
  let next = setImmediate(function again() {
    others++;
    next = setImmediate(again);
  });
  await loaded();
  others = 0;
  await log.appendAll(entries);
  assert.ok(others > 0, 'while they were appended');
  let first = -1;
  await log.rewrite(() => entry => {
    if (first < 0) first = others;
    if (entry.n !== 19_999) return [];
    assert.ok(others > first, 'while they were removed');
    return [entry];
  });
  clearImmediate(next);
  assert.deepEqual((await reopened()).entries, [{ n: 19_999 }]);
});

test('an entry that cannot be encoded ends a compaction, and the log stays as it was', async () => {
  await log.append({ n: 1 });
  const before = await readFile(file, 'utf8');
  await assert.rejects(
    log.rewrite(() => () => [endless]),
    EncodingError,
  );
  assert.equal(await readFile(file, 'utf8'), before);
  assert.equal(existsSync(`${file}.new`), false);
  await log.append({ n: 3 });
  assert.deepEqual((await reopened()).entries, [{ n: 1 }, { n: 3 }]);
});
