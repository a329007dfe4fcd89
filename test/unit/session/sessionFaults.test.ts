import { appendFileSync } from 'node:fs';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { UnknownLogVersionError } from '../../../src/agent/base/jsonLines.ts';
import type { Logger } from '../../../src/agent/base/log.ts';
import type { SessionLogSink } from '../../../src/agent/session/recorder.ts';
import type { SessionLogEntry } from '../../../src/agent/session/sessionEntry.ts';
import { SessionLogs } from '../../../src/agent/session/sessionLog.ts';
import type { StoredSession } from '../../../src/agent/session/storedSession.ts';
import { Recorder } from '../../../src/agent/session/recorder.ts';
import type { SessionMessage } from '../../../src/agent/model/messages.ts';
import { validTrunk } from '../../../src/agent/tree/validTrunk.ts';
import { historyViolations } from '../../support/scriptedProvider.ts';
import { noSpace } from '../../support/memoryWorkspace.ts';

const root = await mkdtemp(path.join(tmpdir(), 'redline-faults-'));
after(() => rm(root, { recursive: true }));

let made = 0;
const warnings: string[] = [];
const logger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: text => void warnings.push(text),
  error: text => void warnings.push(text),
};

const said: readonly SessionMessage[] = [
  { role: 'user', text: 'q' },
  {
    role: 'assistant',
    text: '',
    toolCalls: ['1', '2'].map(id => ({ id, name: 'read_file', arguments: '{}' })),
    stopReason: 'toolCalls',
  },
  { role: 'tool', toolCallId: '1', toolName: 'read_file', content: 'one', isError: false },
  { role: 'tool', toolCallId: '2', toolName: 'read_file', content: 'two', isError: false },
  { role: 'assistant', text: 'done', toolCalls: [], stopReason: 'stop' },
  { role: 'user', text: 'again' },
  { role: 'assistant', text: 'well', toolCalls: [], stopReason: 'stop' },
];

/** A stored session of one line each, on line 2 and following. */
async function store(): Promise<{ logs: SessionLogs; file: string; read: () => Promise<StoredSession> }> {
  const folder = path.join(root, `${++made}`);
  const logs = new SessionLogs(folder);
  const log = logs.open('s1');
  for (const [id, message] of said.entries())
    await log.append({ type: 'message', id, parentId: id === 0 ? null : id - 1, message });
  return {
    logs,
    file: path.join(folder, 's1.jsonl'),
    read: () => new SessionLogs(folder).read('s1', logger),
  };
}

async function breakLines(file: string, ...numbers: number[]): Promise<void> {
  const lines = (await readFile(file, 'utf8')).split('\n');
  for (const number of numbers) lines[number - 1] = '{"type":"mess#ge"';
  await writeFile(file, lines.join('\n'));
}

const request = ({ tree }: StoredSession): readonly SessionMessage[] =>
  validTrunk(tree).map(({ message }) => message);

test('a torn last line is dropped, the rest is there, and the next entry stands on a line of its own', async () => {
  const { file, read, logs } = await store();
  await appendFile(file, '{"type":"message","id":7,"parentId":6,"mess');
  const stored = await read();
  assert.deepEqual(stored.tree.messages, said);
  assert.match(warnings.at(-1) ?? '', /dropped a last line/);
  await logs.open('s1').append({ type: 'title', title: 'T' });
  assert.equal((await read()).title, 'T');
});

test('a corrupt middle line is skipped and logged, whichever it is, and the request is valid all the same', async () => {
  for (let line = 2; line < said.length + 2; line++) {
    const { file, read } = await store();
    await breakLines(file, line);
    const stored = await read();
    assert.match(warnings.at(-1) ?? '', new RegExp(`could not be read: ${line}$`));
    assert.equal(stored.tree.size, said.length - 1);
    assert.deepEqual(historyViolations(request(stored)), [], `line ${line}`);
    assert.equal(stored.tree.active, line === said.length + 1 ? said.length - 2 : said.length - 1);
  }
});

test('a line whose beginning and end are whole and whose middle is not is skipped and logged when it is read', async () => {
  for (let line = 2; line < said.length + 2; line++) {
    const { file, read } = await store();
    const lines = (await readFile(file, 'utf8')).split('\n');
    lines[line - 1] = (lines[line - 1] ?? '').replace(/"(text|content)":"/, '"$1":"\u0001');
    await writeFile(file, lines.join('\n'));
    const stored = await read();
    assert.deepEqual(historyViolations(request(stored)), [], `line ${line}`);
    assert.match(warnings.at(-1) ?? '', new RegExp(`skipped message ${line - 2}, which could not be read`));
    assert.equal(stored.tree.turns, 3, 'turns do not depend on what was read');
  }
});

test('a line that was cut off where it looks whole gives way to the one that was written after it', async () => {
  const { file, read } = await store();
  const text = (await readFile(file, 'utf8')).split('\n');
  const [whole = ''] = text.splice(said.length, 1);
  await writeFile(file, [...text.slice(0, -1), `${whole.slice(0, 60)}}}`, whole, ''].join('\n'));
  const stored = await read();
  assert.deepEqual(stored.tree.messages, said);
});

test('an id that no session can have is that of a corrupt line', async () => {
  const { file, read } = await store();
  const lines = (await readFile(file, 'utf8')).replace('"id":3,', '"id":3000000000,');
  await writeFile(file, lines);
  const stored = await read();
  assert.match(warnings.at(-1) ?? '', /could not be read: 5$/);
  assert.deepEqual([stored.tree.size, stored.tree.nextId], [said.length - 1, said.length]);
  assert.deepEqual(historyViolations(request(stored)), []);
});

test('several corrupt lines leave a valid request too', async () => {
  for (const lines of [
    [3, 4],
    [4, 5],
    [2, 3, 5],
    [3, 6],
    [2, 3, 4, 5, 6, 7, 8],
  ]) {
    const { file, read } = await store();
    await breakLines(file, ...lines);
    assert.deepEqual(historyViolations(request(await read())), [], lines.join());
  }
});

test('a newer version is refused, and its file is left as it is', async () => {
  const { file, read } = await store();
  const newer = (await readFile(file, 'utf8')).replace('"version":1', '"version":99');
  await writeFile(file, newer);
  await assert.rejects(read(), UnknownLogVersionError);
  assert.equal(await readFile(file, 'utf8'), newer);
});

/** A log on a disk that is full while `full` is set; then a part of the line is written. */
class SmallDisk implements SessionLogSink {
  full = false;
  readonly written: SessionLogEntry[] = [];

  append(entry: SessionLogEntry): Promise<void> {
    if (this.full) return Promise.reject(noSpace());
    this.written.push(entry);
    return Promise.resolve();
  }
}

const title = (text: string): SessionLogEntry => ({ type: 'title', title: text });
const settled = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

test('a full disk: what cannot be written waits, and is written in order once there is room; told once', async () => {
  const disk = new SmallDisk();
  const told: unknown[] = [];
  const recorder = new Recorder(disk, error => void told.push(error));
  recorder.append(title('1'));
  assert.deepEqual(disk.written, [title('1')], 'handed over at once');
  await settled();
  disk.full = true;
  recorder.append(title('2'));
  recorder.append(title('3'));
  await settled();
  recorder.append(title('4'));
  await settled();
  assert.equal(told.length, 1);
  disk.full = false;
  recorder.append(title('5'));
  await settled();
  assert.deepEqual(disk.written, ['1', '2', '3', '4', '5'].map(title));
  disk.full = true;
  recorder.append(title('6'));
  await settled();
  assert.equal(told.length, 2);
});

test('on a real file: a line that was cut off by a full disk is skipped, and the entry is there once', async () => {
  const { logs, read, file } = await store();
  const log = logs.open('s1');
  await log.load();
  let full = true;
  const recorder = new Recorder(
    {
      append: async entry => {
        if (!full) return log.append(entry);
        appendFileSync(file, JSON.stringify(entry).slice(0, 20));
        throw noSpace();
      },
    },
    () => undefined,
  );
  recorder.append(title('T'));
  await settled();
  await settled();
  assert.equal((await read()).title, undefined);
  full = false;
  recorder.append(title('U'));
  await settled();
  await settled();
  const stored = await read();
  assert.equal(stored.title, 'U');
  assert.deepEqual(stored.tree.messages, said);
});

test('an entry that comes at any moment of the writing of another one is written without a third', async () => {
  for (let ticks = 0; ticks < 10; ticks++) {
    const written: string[] = [];
    const log: SessionLogSink = {
      append: entry => {
        if (entry.type === 'title') written.push(entry.title);
        return Promise.resolve();
      },
    };
    const recorder = new Recorder(log, () => assert.fail('nothing fails'));
    recorder.append({ type: 'title', title: 'one' });
    for (let n = 0; n < ticks; n++) await Promise.resolve();
    recorder.append({ type: 'title', title: 'two' });
    await new Promise(resolve => setImmediate(resolve));
    assert.deepEqual(written, ['one', 'two'], `after ${ticks} ticks`);
  }
});
