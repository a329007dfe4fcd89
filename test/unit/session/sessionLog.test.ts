import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import {
  newSessionId,
  parseSessionEntry,
  SessionLogs,
  storedSession,
  type SessionLogEntry,
} from '../../../src/agent/session/sessionLog.ts';

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
  { type: 'state', state: 'awaitingReview' },
  { type: 'plan', on: true },
  { type: 'preview', previewId: 'p1', asked: true },
];

for (const entry of entries) {
  const what = entry.type === 'message' ? ` (${entry.message.role})` : '';
  test(`a stored ${entry.type}${what} comes back as it was`, () => {
    assert.deepEqual(parseSessionEntry(JSON.parse(JSON.stringify(entry))), entry);
  });
}

test('what is no entry is refused', () => {
  for (const value of [
    null,
    {},
    { type: 'state', state: 'sleeping' },
    { type: 'message', id: 1, parentId: null },
  ]) {
    assert.equal(parseSessionEntry(value), undefined);
  }
});

test('a session comes back from its log; it was interrupted if its last state was running', () => {
  const decoded = (more: SessionLogEntry[]) => ({
    entries: [...entries, ...more],
    badLines: [],
    torn: false,
  });
  assert.deepEqual(storedSession('s1', decoded([])), {
    id: 's1',
    messages,
    interrupted: false,
    previews: new Map([['p1', true]]),
    planMode: true,
  });
  assert.equal(storedSession('s1', decoded([{ type: 'state', state: 'running' }])).interrupted, true);
  assert.equal(storedSession('s1', { entries: [], badLines: [], torn: false }).interrupted, false);
});

test('ids sort by the time of their making', () => {
  const ids = [0, 1, 35, 36, Date.UTC(2026, 0), Date.UTC(2400, 0)].map(newSessionId);
  assert.deepEqual([...ids].sort(), ids);
  assert.notEqual(newSessionId(5), newSessionId(5));
});

test('the latest session is the one that was begun last; without any there is none', async () => {
  const logs = new SessionLogs(path.join(root, 'logs'));
  assert.equal(await logs.latest(), undefined);
  const [older, newer] = [newSessionId(1_000), newSessionId(2_000)];
  await logs.open(newer).append({ type: 'state', state: 'idle' });
  await logs.open(older).append({ type: 'state', state: 'running' });
  await writeFile(path.join(root, 'logs', 'zzz.txt'), '');
  assert.equal(await logs.latest(), newer);
  assert.deepEqual((await logs.open(older).load()).entries, [{ type: 'state', state: 'running' }]);
});
