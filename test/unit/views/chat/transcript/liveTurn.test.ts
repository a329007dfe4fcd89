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

test('a tool is named while it runs; its result is available until the session has it', () => {
  const live = new LiveTurn();
  live.follow({ type: 'tool_start', call: read });
  assert.equal(live.runningTool, 'read_file');
  const message = result(read, 'ok');
  live.follow({ type: 'tool_end', call: read, result: message });
  assert.equal(live.runningTool, undefined);
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
  assert.deepEqual([live.arriving.text, live.runningTool], ['', undefined]);
});
