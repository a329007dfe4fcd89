import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LiveTurn } from '../../../../../src/views/chat/transcript/liveTurn.ts';
import { answered, call, result } from '../../../../support/chatFixtures.ts';

const read = call('c1', 'read_file', { path: 'a.ts' });

test('text accumulates until the answer is a message', () => {
  const live = new LiveTurn();
  live.follow({ type: 'message_start' });
  assert.equal(live.follow({ type: 'message_update', delta: 'Hel' }), 'all');
  assert.equal(live.follow({ type: 'message_update', delta: 'lo' }), 'text');
  assert.equal(live.arriving.text, 'Hello');
  live.follow({ type: 'message_end', message: answered('Hello') });
  assert.equal(live.arriving.text, '');
});

test('reasoning accumulates beside the text', () => {
  const live = new LiveTurn();
  live.follow({ type: 'message_start' });
  assert.equal(live.follow({ type: 'reasoning_update', delta: 'Hm' }), 'all');
  assert.equal(live.follow({ type: 'reasoning_update', delta: '.' }), 'text');
  assert.equal(live.follow({ type: 'message_update', delta: 'Yes' }), 'text');
  assert.deepEqual(live.arriving, { text: 'Yes', reasoning: 'Hm.' });
  live.follow({ type: 'message_start' });
  assert.deepEqual(live.arriving, { text: '', reasoning: '' });
});

test('a steering message that is added during an answer does not end it', () => {
  const live = new LiveTurn();
  live.follow({ type: 'message_start' });
  live.follow({ type: 'message_update', delta: 'Hel' });
  const message = { role: 'steering', kind: 'outcome', text: '', previewIds: [] } as const;
  live.follow({ type: 'message_end', message });
  assert.equal(live.arriving.text, 'Hel');
});

test('the result of a tool is available until the session has it', () => {
  const live = new LiveTurn();
  live.follow({ type: 'tool_start', call: read });
  const message = result(read, 'ok');
  live.follow({ type: 'tool_end', call: read, result: message });
  assert.equal(live.result('c1'), message);
  live.follow({ type: 'message_end', message });
  assert.equal(live.result('c1'), undefined);
});

test('a reset clears everything', () => {
  const live = new LiveTurn();
  live.follow({ type: 'message_start' });
  live.follow({ type: 'message_update', delta: 'Hel' });
  live.follow({ type: 'tool_start', call: read });
  live.follow({ type: 'reset' });
  assert.equal(live.arriving.text, '');
});

test('a wait before the request is sent again is there until the server answers or the turn ends', () => {
  const live = new LiveTurn();
  const wait = { type: 'retrying', delayMs: 2_000, code: 'rateLimited' } as const;
  const before = Date.now();
  assert.equal(live.follow(wait), 'all');
  assert.equal(live.retry?.code, 'rateLimited');
  assert.ok((live.retry?.at ?? 0) >= before + 2_000);
  live.follow({ type: 'message_update', delta: 'Hi' });
  assert.equal(live.retry, undefined);
  for (const end of [
    { type: 'reasoning_update', delta: 'Hm' },
    { type: 'message_end', message: answered('') },
    { type: 'turn_end', stopReason: 'aborted' },
    { type: 'reset' },
  ] as const) {
    live.follow(wait);
    live.follow(end);
    assert.equal(live.retry, undefined, end.type);
  }
});
