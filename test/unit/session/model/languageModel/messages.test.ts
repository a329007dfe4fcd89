import { test } from 'node:test';
import assert from 'node:assert/strict';
import type { ChatRequest, ToolChoice } from '../../../../../src/agent/session/model/chatProvider.ts';
import {
  toModelRequest,
  withoutImageData,
} from '../../../../../src/agent/session/model/languageModel/messages.ts';
import type {
  AssistantMessage,
  SessionMessage,
  ToolResultMessage,
} from '../../../../../src/agent/session/model/messages.ts';
import { TWO_IMAGES_AND_TEXT } from '../../../../support/twoImages.ts';

const tools = ['read', 'resolve'].map(name => ({ name, description: '', parameters: {} }));
const requestOf = (messages: readonly SessionMessage[], more: Partial<ChatRequest> = {}): ChatRequest => ({
  system: '',
  messages,
  tools,
  ...more,
});
const says = (text: string, ...calls: [id: string, name: string, args: string][]): AssistantMessage => ({
  role: 'assistant',
  text,
  toolCalls: calls.map(([id, name, args]) => ({ id, name, arguments: args })),
  stopReason: calls.length > 0 ? 'toolCalls' : 'stop',
});
const result = (toolCallId: string, content: string): ToolResultMessage => ({
  role: 'tool',
  toolCallId,
  toolName: 'read',
  content,
  isError: false,
});
const user = (text: string) => ({ role: 'user', parts: [{ type: 'text', text }] });

test('the system prompt is the first message of the user, and steering messages stay where they stand', () => {
  const { messages } = toModelRequest(
    requestOf(
      [
        { role: 'user', text: 'Hello' },
        says('Hi'),
        { role: 'steering', kind: 'resolve-reminder', text: 'Call resolve.', previewIds: [] },
      ],
      { system: 'Be brief.' },
    ),
  );
  assert.deepEqual(messages, [
    user('Be brief.'),
    user('Hello'),
    { role: 'assistant', parts: [{ type: 'text', text: 'Hi' }] },
    user('Call resolve.'),
  ]);
});

test('the results of one answer are one message, and what follows is another', () => {
  const { messages } = toModelRequest(
    requestOf([
      says('Look', ['a', 'read', '{"path":"x"}'], ['b', 'read', '{}']),
      result('a', 'one'),
      result('b', ''),
      { role: 'steering', kind: 'notice', text: 'And now', previewIds: [] },
      says('', ['c', 'read', '{}']),
      result('c', 'three'),
    ]),
  );
  assert.deepEqual(messages, [
    {
      role: 'assistant',
      parts: [
        { type: 'text', text: 'Look' },
        { type: 'call', id: 'a', name: 'read', arguments: '{"path":"x"}' },
        { type: 'call', id: 'b', name: 'read', arguments: '{}' },
      ],
    },
    {
      role: 'user',
      parts: [
        { type: 'result', callId: 'a', text: 'one' },
        { type: 'result', callId: 'b', text: '(no output)' },
      ],
    },
    user('And now'),
    { role: 'assistant', parts: [{ type: 'call', id: 'c', name: 'read', arguments: '{}' }] },
    { role: 'user', parts: [{ type: 'result', callId: 'c', text: 'three' }] },
  ]);
});

test('empty and local messages are left out, and calls that no server takes are made sendable', () => {
  const { messages } = toModelRequest(
    requestOf([
      { role: 'user', text: '' },
      says(''),
      says(' \n'),
      { role: 'local', text: '/apply', answer: 'Applied p1.' },
      says('\n\n', ['a', 'odd name!', '{"half']),
      result('a', 'No such tool.'),
    ]),
  );
  assert.deepEqual(messages[0], {
    role: 'assistant',
    parts: [{ type: 'call', id: 'a', name: 'odd_name_', arguments: '{}' }],
  });
  assert.equal(messages.length, 2);
});

test('attachments are part of their prompt', () => {
  const { messages } = toModelRequest(
    requestOf([{ role: 'user', text: 'Explain', attachments: [{ path: 'a.ts', text: 'let a;\n' }] }]),
  );
  assert.match(JSON.stringify(messages), /Attached by the user: a\.ts.*let a;.*Explain/);
});

test('an image of a result follows all results of the answer', () => {
  const calls = ['a', 'b'].map(id => ({ id, name: 'read_file', arguments: '{}' }));
  const image = { file: 'a.png', type: 'image/png', bytes: 3 } as const;
  const result = { role: 'tool', toolName: 'read_file', content: 'a.png', isError: false } as const;
  const request = requestOf([
    { role: 'assistant', text: '', toolCalls: calls, stopReason: 'toolCalls' },
    { ...result, toolCallId: 'a', image },
    { ...result, toolCallId: 'b' },
  ]);
  const sent = { type: 'image/png', data: new Uint8Array([1, 2, 3]) } as const;
  const results = (...texts: string[]) => ({
    role: 'user',
    parts: texts.map((text, i) => ({ type: 'result', callId: calls[i]?.id, text })),
  });
  assert.deepEqual(toModelRequest(request, new Map([['a.png', sent]])).messages.slice(1), [
    results('a.png', 'a.png'),
    { role: 'user', parts: [{ type: 'image', image: sent }] },
  ]);
  assert.deepEqual(toModelRequest(request).messages.slice(1), [
    results('a.png You cannot see it: images are not sent to you.', 'a.png'),
  ]);
});

test('an image that is given follows the words of its prompt, of others the model is told', () => {
  const imageOf = (file: string) =>
    ({ path: file, text: '', image: { file, type: 'image/png', bytes: 3 } }) as const;
  const request = requestOf([
    { role: 'user', text: 'What is this?', attachments: [imageOf('a.png'), imageOf('gone.png')] },
  ]);
  const sent = { type: 'image/png', data: new Uint8Array([1, 2, 3]) } as const;
  const translated = toModelRequest(request, new Map([['a.png', sent]]));
  const words = {
    type: 'text',
    text: TWO_IMAGES_AND_TEXT,
  };
  assert.deepEqual(translated.messages, [{ role: 'user', parts: [words, { type: 'image', image: sent }] }]);
  assert.deepEqual(withoutImageData(translated), {
    ...translated,
    messages: [{ role: 'user', parts: [words, { type: 'image', image: '[image/png, 3 bytes]' }] }],
  });
});

test('a forced tool is sent alone with Required; Required never goes with several tools', () => {
  const sent = (toolChoice: ToolChoice | undefined, offered = tools) => {
    const { tools: names, mode } = toModelRequest(
      requestOf([], { tools: offered, ...(toolChoice ? { toolChoice } : {}) }),
    );
    return [names.map(tool => tool.name).join(), mode];
  };
  assert.deepEqual(sent({ type: 'tool', name: 'resolve' }), ['resolve', 'required']);
  assert.deepEqual(sent({ type: 'required' }, tools.slice(1)), ['resolve', 'required']);
  assert.deepEqual(sent({ type: 'required' }), ['read,resolve', 'auto']);
  assert.deepEqual(sent({ type: 'tool', name: 'absent' }), ['read,resolve', 'auto']);
  assert.deepEqual(sent({ type: 'none' }), ['', 'auto']);
  assert.deepEqual(sent({ type: 'auto' }), ['read,resolve', 'auto']);
  assert.deepEqual(sent(undefined), ['read,resolve', 'auto']);
});

test('NUL and half a surrogate pair, which models refuse, are not sent', () => {
  const odd = 'a\0b\ud83dc';
  const sent = toModelRequest({
    system: odd,
    messages: [
      { role: 'user', text: odd },
      says(odd, ['c1', 'read', JSON.stringify({ path: odd })]),
      result('c1', odd),
      { role: 'steering', kind: 'notice', text: odd, previewIds: [] },
    ],
    tools: [{ name: 'read', description: odd, parameters: { description: odd } }],
  });
  const text = JSON.stringify(sent);
  assert.doesNotMatch(text, /\\u(?:0000|d83d)/i);
  assert.equal(text.match(/a\ufffdb\ufffdc/g)?.length, 7);
});
