import { appendFileSync, existsSync } from 'node:fs';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { UnknownLogVersionError } from '../../../src/agent/base/log/logFormat.ts';
import type { Logger } from '../../../src/agent/base/logger.ts';
import {
  Recorders,
  type RecorderListeners,
  type SessionLogSink,
} from '../../../src/agent/session/conversation/storage/recorder.ts';
import type { SessionLogEntry } from '../../../src/agent/session/conversation/storage/sessionEntry.ts';
import { SessionLogs } from '../../../src/agent/session/conversation/storage/sessionLogs.ts';
import { messageHead } from '../../../src/agent/session/conversation/storage/storedLine.ts';
import type { StoredSession } from '../../../src/agent/session/conversation/storage/storedSession.ts';
import { validTrunk } from '../../../src/agent/session/conversation/validTrunk.ts';
import type { SessionMessage } from '../../../src/agent/session/model/messages.ts';
import { Gate } from '../../support/gate.ts';
import { noSpace } from '../../support/memoryWorkspace.ts';
import { historyViolations } from '../../support/scriptedProvider.ts';
import { createTestSession, MemorySessionLog } from '../../support/testSession.ts';

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
    read: () => new SessionLogs(folder).readAndRepair('s1', logger),
  };
}

async function breakLines(file: string, ...numbers: number[]): Promise<void> {
  const lines = (await readFile(file, 'utf8')).split('\n');
  for (const number of numbers) lines[number - 1] = '{"type":"mess#ge"';
  await writeFile(file, lines.join('\n'));
}

const request = ({ tree }: StoredSession): readonly SessionMessage[] =>
  validTrunk(tree).map(({ message }) => message);

test('a torn last line is dropped, the rest is there, and the next entry is on a line of its own', async () => {
  const { file, read, logs } = await store();
  await appendFile(file, '{"type":"message","id":7,"parentId":6,"mess');
  const stored = await read();
  assert.deepEqual(stored.tree.messages, said);
  assert.match(warnings.at(-1) ?? '', /dropped a torn last line/);
  await logs.open('s1').append({ type: 'title', title: 'T' });
  assert.equal((await read()).title, 'T');
});

test('a corrupt line in the middle is skipped and logged, whichever it is, and the request is still valid', async () => {
  for (let line = 2; line < said.length + 2; line++) {
    const { file, read } = await store();
    await breakLines(file, line);
    const stored = await read();
    assert.match(warnings.at(-1) ?? '', new RegExp(`could not be parsed: ${line}$`));
    assert.equal(stored.tree.size, said.length - 1);
    assert.deepEqual(historyViolations(request(stored)), [], `line ${line}`);
    assert.equal(stored.tree.active, line === said.length + 1 ? said.length - 2 : said.length - 1);
  }
});

test('a line with an intact beginning and end but a corrupt middle is skipped and logged when it is parsed', async () => {
  for (let line = 2; line < said.length + 2; line++) {
    const { file, read } = await store();
    const lines = (await readFile(file, 'utf8')).split('\n');
    lines[line - 1] = (lines[line - 1] ?? '').replace(/"(text|content)":"/, '"$1":"\u0001');
    await writeFile(file, lines.join('\n'));
    const stored = await read();
    assert.deepEqual(historyViolations(request(stored)), [], `line ${line}`);
    assert.match(warnings.at(-1) ?? '', new RegExp(`skipped message ${line - 2}, which could not be parsed`));
    assert.equal(stored.tree.turns, 3, 'turns do not depend on what was read');
  }
});

test('a torn line that looks complete is replaced by the line that was written after it', async () => {
  const { file, read } = await store();
  const text = (await readFile(file, 'utf8')).split('\n');
  const [whole = ''] = text.splice(said.length, 1);
  const torn = `${whole.slice(0, whole.indexOf('"toolCalls"'))}}}`;
  assert.ok(messageHead(Buffer.from(torn), 0, torn.length), 'it looks like a message');
  await writeFile(file, [...text.slice(0, -1), torn, whole, ''].join('\n'));
  const stored = await read();
  assert.deepEqual(stored.tree.messages, said);
});

test('an id that is too large marks a corrupt line', async () => {
  const { file, read } = await store();
  const lines = (await readFile(file, 'utf8')).replace('"id":3,', '"id":3000000000,');
  await writeFile(file, lines);
  const stored = await read();
  assert.match(warnings.at(-1) ?? '', /could not be parsed: 5$/);
  assert.deepEqual([stored.tree.size, stored.tree.nextId], [said.length - 1, said.length]);
  assert.deepEqual(historyViolations(request(stored)), []);
});

test('the request is valid after several corrupt lines too', async () => {
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

test('a newer version is refused, and its file is left unchanged', async () => {
  const { file, read } = await store();
  const newer = (await readFile(file, 'utf8')).replace(/"version":\d+/, '"version":99');
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
    this.written.push({ ...title(entry.type === 'title' ? entry.title : entry.type) });
    return Promise.resolve();
  }
}

const title = (text: string): SessionLogEntry => ({ type: 'title', title: text });
const ignore: RecorderListeners = { onFailure: () => undefined, onLoss: () => undefined };
const settled = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

test('a full disk: entries that cannot be written wait, are written in order once there is room, and it is reported once', async () => {
  const disk = new SmallDisk();
  const told: unknown[] = [];
  const recorders = new Recorders(() => disk, { ...ignore, onFailure: error => void told.push(error) });
  const record = recorders.for('s1');
  record(title('1'));
  assert.deepEqual(disk.written, [title('1')], 'handed over at once');
  await settled();
  disk.full = true;
  record(title('2'));
  record(title('3'));
  await settled();
  record(title('4'));
  await settled();
  assert.equal(told.length, 1);
  disk.full = false;
  record(title('5'));
  assert.equal(await recorders.drain('s1'), true);
  assert.deepEqual(disk.written, ['1', '2', '3', '4', '5'].map(title));
  disk.full = true;
  record(title('6'));
  await settled();
  assert.equal(told.length, 2);
});

test('on a real file: a line torn by a full disk is skipped, and the entry is there once', async () => {
  const { logs, read, file } = await store();
  const log = logs.open('s1');
  await log.readAndRepair({ entry: () => undefined });
  let full = true;
  const recorders = new Recorders(
    () => ({
      append: async entry => {
        if (!full) return log.append(entry);
        appendFileSync(file, JSON.stringify(entry).slice(0, 20));
        throw noSpace();
      },
    }),
    ignore,
  );
  const record = recorders.for('s1');
  record(title('T'));
  await settled();
  await settled();
  assert.equal((await read()).title, undefined);
  full = false;
  record(title('U'));
  assert.equal(await recorders.drain('s1'), true);
  const stored = await read();
  assert.equal(stored.title, 'U');
  assert.deepEqual(stored.tree.messages, said);
});

test('an entry that arrives at any moment while another is written is written without waiting for a third', async () => {
  for (let ticks = 0; ticks < 10; ticks++) {
    const written: string[] = [];
    const log: SessionLogSink = {
      append: entry => {
        if (entry.type === 'title') written.push(entry.title);
        return Promise.resolve();
      },
    };
    const record = new Recorders(() => log, {
      onFailure: () => assert.fail('nothing fails'),
      onLoss: () => assert.fail('nothing is lost'),
    }).for('s1');
    record({ type: 'title', title: 'one' });
    for (let n = 0; n < ticks; n++) await Promise.resolve();
    record({ type: 'title', title: 'two' });
    await new Promise(resolve => setImmediate(resolve));
    assert.deepEqual(written, ['one', 'two'], `after ${ticks} ticks`);
  }
});

/** The sessions of a window whose disk is full while `full` is set. */
function windowOf(logs: SessionLogs) {
  const disk = { full: false };
  const told: string[] = [];
  const recorders = new Recorders(
    id => {
      const log = logs.open(id);
      return {
        append: entry => (disk.full ? Promise.reject(noSpace()) : log.append(entry)),
        appendNow: entry => !disk.full && log.appendNow(entry),
      };
    },
    {
      onFailure: () => told.push('failed'),
      onRecovery: () => told.push('recovered'),
      onLoss: () => assert.fail('nothing is lost'),
    },
  );
  return { disk, recorders, told };
}

const prompt = (id: number, text: string): SessionLogEntry => ({
  type: 'message',
  id,
  parentId: id - 1,
  message: { role: 'user', text },
});

test('what waits of a session that was left is written before the session is read again, and not into the middle of it', async context => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { logs, read } = await store();
  const { disk, recorders } = windowOf(logs);
  const first = recorders.for('s1');
  disk.full = true;
  first(prompt(said.length, 'old'));
  first(prompt(said.length + 1, 'older'));
  await settled();
  recorders.for('s2');
  assert.equal(await recorders.drain('s1'), false, 'it may not be read yet');
  disk.full = false;
  assert.equal(await recorders.drain('s1'), true);
  const stored = await logs.readAndRepair('s1', logger);
  assert.deepEqual(stored.tree.messages.slice(said.length), [
    { role: 'user', text: 'old' },
    { role: 'user', text: 'older' },
  ]);
  recorders.for('s1')(prompt(stored.tree.nextId, 'new'));
  context.mock.timers.tick(60_000);
  await recorders.drain('s1');
  const texts = (await read()).tree.messages.map(message => ('text' in message ? message.text : ''));
  assert.deepEqual(texts.slice(said.length), ['old', 'older', 'new']);
});

test('a session that is opened again while it cannot be written goes on in the same queue', async () => {
  const { logs, read } = await store();
  const { disk, recorders } = windowOf(logs);
  disk.full = true;
  recorders.for('s1')(prompt(said.length, 'old'));
  await settled();
  recorders.for('s1')(prompt(said.length + 1, 'new'));
  disk.full = false;
  await recorders.drain('s1');
  assert.deepEqual((await read()).tree.messages.slice(said.length), [
    { role: 'user', text: 'old' },
    { role: 'user', text: 'new' },
  ]);
});

test('nothing makes the log of a deleted session again', async context => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { logs, file } = await store();
  const { disk, recorders } = windowOf(logs);
  const record = recorders.for('s1');
  disk.full = true;
  record(prompt(said.length, 'secret'));
  await settled();
  recorders.for('s2');
  disk.full = false;
  await recorders.discard('s1');
  await logs.delete('s1');
  context.mock.timers.tick(60_000);
  record(prompt(said.length + 1, 'late'));
  await settled();
  assert.equal(existsSync(file), false);
});

test('once a session that could not be written is deleted, nothing fails any more', async context => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { logs } = await store();
  const { disk, recorders, told } = windowOf(logs);
  disk.full = true;
  recorders.for('s1')(prompt(said.length, 'old'));
  await settled();
  await recorders.discard('s1');
  assert.deepEqual(told, ['failed', 'recovered']);
});

test('when the window closes, what waits of all sessions is written, also of those that were left', async context => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { logs, read } = await store();
  const { disk, recorders, told } = windowOf(logs);
  disk.full = true;
  recorders.for('s1')(prompt(said.length, 'old'));
  recorders.for('s2')(title('T'));
  await settled();
  disk.full = false;
  assert.equal(await recorders.close(), true);
  assert.deepEqual((await read()).tree.messages.slice(said.length), [{ role: 'user', text: 'old' }]);
  assert.equal((await logs.read('s2', logger)).title, 'T');
  assert.deepEqual(told, ['failed', 'failed', 'recovered'], 'recovered once no session fails any more');
});

test('closing a session waits for the turn that this stops, and writes all of it', async () => {
  const written: SessionLogEntry[] = [];
  let full = false;
  const begin = (): SessionLogSink => ({
    append: async entry => {
      if (full) throw noSpace();
      written.push(entry);
    },
  });
  const sessionLog = Object.assign(new MemorySessionLog(), { begin });
  const t = createTestSession({ script: [{ hang: true }], sessionLog });
  const asked = t.nextEvent(({ type }) => type === 'turn_start');
  void t.session.prompt('Go.');
  await asked;
  full = true;
  t.session.rename('T');
  await settled();
  full = false;
  assert.equal(await t.session.close(new Promise(() => undefined)), true);
  assert.deepEqual(
    written.flatMap(entry =>
      entry.type === 'state' ? [entry.state] : entry.type === 'title' ? ['title'] : [],
    ),
    ['running', 'title', 'idle'],
  );
});

test('closing a session whose turn does not end writes what there is', async () => {
  const gate = new Gate();
  const t = createTestSession({ prepareTools: () => gate.pass() });
  void t.session.prompt('Go.');
  await gate.reached;
  assert.equal(await t.session.close(Promise.resolve()), true);
  assert.equal(t.session.state, 'running');
});
