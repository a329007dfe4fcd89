import { readFileSync } from 'node:fs';
import { appendFile, copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { silentLogger } from '../../../../../src/agent/base/logger.ts';
import {
  parseSessionEntry,
  type SessionLogEntry,
} from '../../../../../src/agent/session/conversation/storage/sessionEntry.ts';
import {
  newSessionId,
  SessionLogs,
} from '../../../../../src/agent/session/conversation/storage/sessionLogs.ts';
import { messageHead } from '../../../../../src/agent/session/conversation/storage/storedLine.ts';
import { storedSession } from '../../../../support/testSession.ts';

const root = await mkdtemp(path.join(tmpdir(), 'redline-sessions-'));
after(() => rm(root, { recursive: true }));

const messages = [
  { role: 'user', text: 'q' },
  {
    role: 'assistant',
    text: 'a',
    toolCalls: [{ id: '1', name: 'read_file', arguments: '{' }],
    stopReason: 'length',
    usage: { inputTokens: 1, outputTokens: 2 },
  },
  { role: 'assistant', text: '', toolCalls: [], stopReason: 'error', error: 'No connection.' },
  { role: 'tool', toolCallId: '1', toolName: 'read_file', content: 'x', isError: true, details: { n: 1 } },
  { role: 'steering', kind: 'outcome', text: 'x', previewIds: ['p1'] },
  {
    role: 'user',
    text: 'q',
    attachments: [
      { path: 'a.ts', startLine: 1, endLine: 2, text: 'x' },
      { path: 'b.ts', text: '', note: 'Gone.' },
    ],
  },
  { role: 'local', text: '/apply', answer: 'Applied p1.' },
] as const;
const entries: readonly SessionLogEntry[] = [
  ...messages.map(
    (message, id) => ({ type: 'message', id, parentId: id === 0 ? null : id - 1, message }) as const,
  ),
  {
    type: 'revert',
    record: {
      category: 'failure',
      target: 1,
      abandonedNodeIds: [2, 3],
      summary: 's',
      applied: true,
      reason: null,
      timestamp: '2026-01-01T00:00:00.000Z',
      actor: 'model',
    },
  },
  {
    type: 'revert',
    record: {
      category: null,
      target: null,
      abandonedNodeIds: [],
      summary: null,
      applied: false,
      reason: 'r',
      timestamp: '2026-01-01T00:00:00.000Z',
      actor: 'human',
    },
  },
  { type: 'title', title: 'Named' },
  { type: 'state', state: 'awaitingReview' },
  { type: 'plan', on: true },
  { type: 'preview', previewId: 'p1' },
  {
    type: 'resolution',
    resolution: {
      previewId: 'p1',
      label: 'Edit a.ts',
      action: 'apply',
      actor: 'human',
      reason: 'r',
      outcome: 'failed',
      at: '2026-01-01T00:00:00.000Z',
    },
  },
  {
    type: 'settings',
    settings: {
      model: 'openai:http://localhost:1/v1:m',
      modelAuthority: 'recommend',
      forcing: 'soft',
      order: 'oldestFirst',
      revertEnabled: true,
    },
  },
];
/** The reverts, without which the conversation has no branches. */
const straight = entries.filter(({ type }) => type !== 'revert');

for (const entry of entries) {
  const what = JSON.stringify(entry).slice(0, 60);
  test(`a stored ${entry.type} comes back as it was: ${what}`, () => {
    assert.deepEqual(parseSessionEntry(JSON.parse(JSON.stringify(entry))), entry);
  });
}

test('anything else is refused', () => {
  for (const value of [
    null,
    {},
    { type: 'state', state: 'sleeping' },
    { type: 'message', id: 1_000_000_000, parentId: null, message: messages[0] },
    { type: 'message', id: 1, parentId: null },
  ]) {
    assert.equal(parseSessionEntry(value), undefined);
  }
});

const stored = (items: readonly SessionLogEntry[]) =>
  storedSession(
    's1',
    items.map(item => JSON.stringify(item)),
  );

test('a session comes back from its log; it was interrupted if its last state was running', () => {
  const { id, title, interrupted, planMode, tree } = stored(straight);
  assert.deepEqual([id, title, interrupted, planMode, tree.messages], ['s1', 'Named', false, true, messages]);
  const running = [...straight, { type: 'state', state: 'running' }] as const;
  assert.equal(stored(running).interrupted, true);
  const empty = stored([]);
  assert.deepEqual(
    [empty.interrupted, empty.planMode, empty.title, empty.tree.size],
    [false, false, undefined, 0],
  );
});

test('a message in another layout than ours, as a tool that rewrites JSON makes it, comes back too', () => {
  const spaced = straight.map(item => JSON.stringify(item).replace('{"type":', '{ "type": '));
  assert.deepEqual(storedSession('s1', spaced).tree.messages, messages);
});

test('records of reverts rebuild the trunk and its tags; a refused one changes nothing', () => {
  const { tree } = stored(entries);
  assert.deepEqual(tree.trunk, [0, 1]);
  assert.deepEqual(
    tree.tagsOf(1).map(({ kind, text, createdAtTurn }) => [kind, text, createdAtTurn]),
    [['revert-lesson', 's (abandoned: read_file)', 2]],
  );
});

test('ids sort by the time they were made', () => {
  const ids = [0, 1, 35, 36, Date.UTC(2026, 0), Date.UTC(2400, 0)].map(newSessionId);
  assert.deepEqual([...ids].sort(), ids);
  assert.notEqual(newSessionId(5), newSessionId(5));
});

test('the latest session is the one used last, if there is any', async () => {
  const logs = new SessionLogs(path.join(root, 'logs'));
  assert.equal(await logs.latest(), undefined);
  const [older, newer] = [newSessionId(1_000), newSessionId(2_000)];
  await logs.open(newer).append({ type: 'state', state: 'idle' });
  await logs.open(older).append({ type: 'state', state: 'running' });
  await writeFile(path.join(root, 'logs', 'zzz.txt'), '');
  await logs.touch(older, new Date(1_000));
  assert.equal(await logs.latest(), newer);
  await logs.touch(older, new Date(Date.now() + 1_000));
  assert.equal(await logs.latest(), older);
  const times = (await logs.list()).map(({ id, bytes }) => [id, bytes > 0]);
  assert.deepEqual(times, [
    [older, true],
    [newer, true],
  ]);
  await logs.touch(newer, new Date(5_000));
  await logs.touch(older, new Date(5_000));
  assert.equal(await logs.latest(), newer, 'at the same time: the one that was begun last');
  const entries: unknown[] = [];
  await logs.open(older).read({ entry: entry => void entries.push(entry) });
  assert.deepEqual(entries, [{ type: 'state', state: 'running' }]);
});

test('a session that another window still writes is not the latest, until that window is gone', async () => {
  const folder = path.join(root, 'held');
  const [owner, other] = [new SessionLogs(folder), new SessionLogs(folder)];
  await owner.open('s1').append({ type: 'state', state: 'idle' });
  await owner.touch('s1', new Date(1_000));
  const held = other.openHeld('s2');
  const title = { type: 'title', title: 'Two' } as const;
  assert.equal(held.appendNow?.(title), false, 'nothing is written before it is locked');
  await held.append(title);
  assert.equal(await owner.latest(), 's1');
  assert.deepEqual([await owner.isHeld('s1'), await owner.isHeld('s2')], [false, true]);
  assert.equal(held.appendNow?.({ type: 'title', title: 'Three' }), true);
  await other.release();
  assert.equal(await owner.latest(), 's2');
  assert.equal((await owner.readAndRepair('s2', silentLogger)).title, 'Three');
  await writeFile(path.join(folder, 's2.lock'), JSON.stringify({ pid: 1_073_741_823 }));
  assert.equal(await owner.latest(), 's2', 'the lock of a window that died is void');
  await owner.delete('s2');
  assert.deepEqual(await readdir(folder), ['s1.jsonl']);
});

test('a window that has lost its storage to another machine adds nothing to a session', async () => {
  const folder = path.join(root, 'lost');
  const check = (): Promise<void> => (lock.isSure ? Promise.resolve() : Promise.reject(new Error('lost')));
  const lock = { isSure: true, check };
  const log = new SessionLogs(folder, lock).open('s1');
  await log.append({ type: 'title', title: 'One' });
  lock.isSure = false;
  assert.equal(log.appendNow({ type: 'title', title: 'Two' }), false);
  await assert.rejects(log.append({ type: 'title', title: 'Two' }), /lost/);
  assert.equal((await new SessionLogs(folder).read('s1', silentLogger)).title, 'One');
});

test('a window that holds a session writes it until another machine has it, and no lock outlives it', async context => {
  context.mock.timers.enable({ apis: ['Date', 'setInterval'] }); // locks do not look by themselves
  const folder = path.join(root, 'slept');
  const logs = new SessionLogs(folder);
  const [one, two] = [logs.openHeld('s1'), logs.openHeld('s2')];
  for (const log of [one, two]) await log.append({ type: 'title', title: 'First' });
  const other = '{"pid":1,"place":"elsewhere"}';
  await writeFile(path.join(folder, 's1.lock'), other);
  context.mock.timers.setTime(Date.now() + 100_000);
  assert.equal(one.appendNow?.({ type: 'title', title: 'Late' }), false);
  await assert.rejects(one.append({ type: 'title', title: 'Late' }), { code: 'ELOST' });
  assert.equal((await logs.read('s1', silentLogger)).title, 'First');
  await two.append({ type: 'title', title: 'Second' });
  assert.equal((await logs.read('s2', silentLogger)).title, 'Second');
  await logs.delete('s2');
  context.mock.timers.tick(5_000);
  await logs.release();
  assert.deepEqual((await readdir(folder)).sort(), ['s1.jsonl', 's1.lock']);
  assert.equal(await readFile(path.join(folder, 's1.lock'), 'utf8'), other);
});

test('that the folder cannot be read is not told as if there were no sessions', async () => {
  const folder = path.join(root, 'unreadable');
  await writeFile(folder, 'a file in its place');
  const logs = new SessionLogs(folder);
  await assert.rejects(logs.list(), { code: 'ENOTDIR' });
  await assert.rejects(logs.latest(), { code: 'ENOTDIR' });
});

test('a stored session is summarized, renamed without counting as used, and deleted', async () => {
  const logs = new SessionLogs(path.join(root, 'described'));
  const id = newSessionId();
  const log = logs.open(id);
  for (const entry of entries) if (entry.type === 'message') await log.append(entry);
  await writeFile(
    logs.fileOf(id),
    `${await readFile(logs.fileOf(id), 'utf8')}no line of ours\n{"type":"mess`,
  );
  assert.deepEqual(await logs.summarize(id), { title: undefined, firstWords: 'q', messages: 4 });
  await logs.touch(id, new Date(7_000));
  await logs.rename(id, 'Cart');
  await logs.rename(id, 'The cart');
  assert.equal((await logs.summarize(id)).title, 'The cart');
  assert.equal((await logs.list())[0]?.usedAt.getTime(), 7_000);
  const stored = await logs.readAndRepair(id, silentLogger);
  assert.equal(stored.title, 'The cart');
  assert.equal(stored.tree.size, messages.length);
  await logs.delete(id);
  await logs.delete(id);
  assert.deepEqual(await logs.list(), []);
});

test('what is appended to a session that was just read is in its file when append returns', async () => {
  const logs = new SessionLogs(path.join(root, 'ready'));
  await logs.open('s1').append({ type: 'title', title: 'One' });
  const again = new SessionLogs(path.join(root, 'ready'));
  await again.readAndRepair('s1', silentLogger);
  void again.open('s1').append({ type: 'title', title: 'Two' });
  assert.match(readFileSync(again.fileOf('s1'), 'utf8'), /"One"[^]*"Two"/);
  await again.delete('s1');
  await again.open('s1').append({ type: 'title', title: 'Three' });
  assert.equal((await again.summarize('s1')).title, 'Three', 'the deleted log starts again, with its header');
});

test('reading a session leaves its file unchanged, also a line that another window is writing', async () => {
  const logs = new SessionLogs(path.join(root, 'viewed'));
  await logs.open('s1').append({ type: 'title', title: 'One' });
  const line = JSON.stringify({ type: 'title', title: 'Two' });
  await appendFile(logs.fileOf('s1'), line.slice(0, 10));
  const elsewhere = new SessionLogs(path.join(root, 'viewed'));
  assert.equal((await elsewhere.read('s1', silentLogger)).title, 'One');
  await appendFile(logs.fileOf('s1'), `${line.slice(10)}\n`);
  assert.equal((await elsewhere.read('s1', silentLogger)).title, 'Two');
  assert.equal((await elsewhere.read('s2', silentLogger)).tree.size, 0);
  assert.deepEqual(
    (await logs.list()).map(({ id }) => id),
    ['s1'],
  );
});

test('a session with only commands is summarized by its first one', async () => {
  const logs = new SessionLogs(path.join(root, 'commands'));
  const message = { role: 'local', text: '/help', answer: 'x' } as const;
  await logs.open('s1').append({ type: 'message', id: 0, parentId: null, message });
  assert.deepEqual(await logs.summarize('s1'), { title: undefined, firstWords: '/help', messages: 0 });
});

test('the head of a line is read only if it is a message in the form that we write', () => {
  const headOf = (text: string) => {
    // What surrounds the line must not matter.
    const bytes = Buffer.from(`}}\n${text}\n"}}`);
    return messageHead(bytes, 3, bytes.length - 4);
  };
  for (const entry of entries) {
    const head = headOf(JSON.stringify(entry));
    if (entry.type !== 'message') assert.equal(head, undefined);
    else assert.deepEqual(head, { id: entry.id, parentId: entry.parentId, role: entry.message.role });
  }
  const line = '{"type":"message","id":12,"parentId":1,"message":{"role":"user","text":"x"}}';
  assert.deepEqual(headOf(line), { id: 12, parentId: 1, role: 'user' });
  const others = [
    ['"id":12', '"id":-1'],
    ['"id":12', '"id":"12"'],
    ['"id":12', '"id":1000000000'],
    ['"id":12', '"id":'],
    ['"parentId":1', '"parentId":1000000000'],
    ['"parentId":1', '"parentId":'],
    ['"parentId":1', '"parentId":null1'],
    ['"role":"user"', '"role":"users"'],
    ['"role":"user"', '"role":"owner"'],
    ['{"type"', ' {"type"'],
  ] as const;
  for (const [part, other] of others) assert.equal(headOf(line.replace(part, other)), undefined, other);
  for (let length = 0; length < line.length; length++) assert.equal(headOf(line.slice(0, length)), undefined);
});

for (const version of [1, 2])
  test(`a log of version ${version} is read in full, and its summary too`, async () => {
    const folder = await mkdtemp(path.join(root, 'version-'));
    const fixture = path.join(import.meta.dirname, `../../../../fixtures/logs/session.v${version}.jsonl`);
    await copyFile(fixture, path.join(folder, 's1.jsonl'));
    const logs = new SessionLogs(folder);
    const lines: SessionLogEntry[] = [];
    const faults = await logs.open('s1').read({ entry: entry => void lines.push(entry) });
    assert.deepEqual(faults, { badLines: [], torn: false });
    assert.deepEqual([...new Set(lines.map(({ type }) => type))].sort(), [
      'message',
      'plan',
      'preview',
      'resolution',
      'revert',
      'settings',
      'state',
      'title',
    ]);
    const stored = await logs.readAndRepair('s1', silentLogger);
    assert.deepEqual([stored.title, stored.interrupted, stored.planMode], ['Named', false, true]);
    assert.deepEqual(
      stored.tree.messages.map(({ role }) => role),
      ['user'],
    );
    assert.deepEqual(await logs.summarize('s1'), { title: 'Named', firstWords: 'Do it.', messages: 3 });
  });
