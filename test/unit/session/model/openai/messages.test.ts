import { test } from 'node:test';
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import type { SessionMessage, ToolCall } from '../../../../../src/agent/session/model/messages.ts';
import {
  toWireMessages,
  toWireToolChoice,
  toWireTools,
} from '../../../../../src/agent/session/model/openai/messages.ts';
import { validateConversation } from '../../../../support/validateConversation.ts';

function assistant(
  text: string,
  toolCalls: ToolCall[] = [],
  stopReason: 'stop' | 'toolCalls' | 'error' | 'aborted' = 'stop',
): SessionMessage {
  return { role: 'assistant', text, toolCalls, stopReason };
}
const call = (id: string, args: string, name = 'read_file'): ToolCall => ({ id, name, arguments: args });
const result = (toolCallId: string, content: string): SessionMessage => ({
  role: 'tool',
  toolCallId,
  toolName: 'read_file',
  content,
  isError: false,
  details: { secret: 'details' },
});

test('a conversation is translated message by message', () => {
  const wire = toWireMessages('Be brief.', [
    { role: 'user', text: 'Read both.' },
    assistant('', [call('c1', '{"path":"a"}'), call('c2', '{"path":"b"}')], 'toolCalls'),
    result('c1', 'A'),
    result('c2', ''),
    { role: 'steering', kind: 'resolve-reminder', text: 'A reminder.', previewIds: ['p1'] },
    { role: 'user', text: 'And?' },
    assistant('Done.'),
  ]);
  assert.deepEqual(wire, [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Read both.' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'read_file', arguments: '{"path":"a"}' } },
        { id: 'c2', type: 'function', function: { name: 'read_file', arguments: '{"path":"b"}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'A' },
    { role: 'tool', tool_call_id: 'c2', content: '(no output)' },
    { role: 'user', content: 'A reminder.' },
    { role: 'user', content: 'And?' },
    { role: 'assistant', content: 'Done.' },
  ]);
  assert.deepEqual(validateConversation(wire), []);
});

test('empty messages are left out, and those of blanks, which Claude refuses', () => {
  const blank = toWireMessages('', [
    { role: 'user', text: 'Hello' },
    assistant('\n\n', [call('c1', '{}')], 'toolCalls'),
    result('c1', ' \n'),
    assistant(' \n'),
    { role: 'steering', kind: 'notice', text: '\n', previewIds: [] },
    { role: 'user', text: ' ' },
  ]);
  assert.deepEqual(
    blank.map(({ role, content }) => [role, content]),
    [
      ['user', 'Hello'],
      ['assistant', null],
      ['tool', '(no output)'],
    ],
  );
  const wire = toWireMessages('', [
    { role: 'user', text: 'Hello' },
    assistant('', [], 'error'),
    { role: 'user', text: '' },
    assistant('', [], 'aborted'),
    assistant('half an ans', [], 'aborted'),
  ]);
  assert.deepEqual(wire, [
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: 'half an ans' },
  ]);
});

for (const bad of ['', '{"path":', '[1]', '"text"', 'null', 'nonsense']) {
  test(`arguments that are not an object are sent as an empty one: ${bad || 'nothing'}`, () => {
    const wire = toWireMessages('', [
      { role: 'user', text: 'x' },
      assistant('', [call('c1', bad)], 'toolCalls'),
      result('c1', 'Bad JSON.'),
    ]);
    const message = wire[1];
    assert.ok(message?.role === 'assistant');
    assert.equal(message.tool_calls?.[0]?.function.arguments, '{}');
    assert.deepEqual(validateConversation(wire), []);
  });
}

test('an invented tool name keeps its allowed characters', () => {
  const named = (name: string): string | undefined => {
    const message = toWireMessages('', [assistant('', [call('c1', '{}', name)], 'toolCalls')])[0];
    return message?.role === 'assistant' ? message.tool_calls?.[0]?.function.name : undefined;
  };
  assert.equal(named('functions.read file'), 'functions_read_file');
  assert.equal(named('ast_edit-2'), 'ast_edit-2');
  assert.equal(named('x'.repeat(100)), 'x'.repeat(64));
  assert.equal(named(''), '_');
});

test('a tool choice is sent only with tools, and only for an offered tool', () => {
  const tools = [{ name: 'resolve', description: 'd', parameters: { type: 'object' } }];
  assert.equal(toWireToolChoice({ type: 'required' }, []), undefined);
  assert.equal(toWireToolChoice(undefined, tools), undefined);
  assert.equal(toWireToolChoice({ type: 'auto' }, tools), 'auto');
  assert.equal(toWireToolChoice({ type: 'none' }, tools), 'none');
  assert.equal(toWireToolChoice({ type: 'required' }, tools), 'required');
  assert.equal(toWireToolChoice({ type: 'tool', name: 'absent' }, tools), undefined);
  assert.deepEqual(toWireToolChoice({ type: 'tool', name: 'resolve' }, tools), {
    type: 'function',
    function: { name: 'resolve' },
  });
  assert.deepEqual(toWireTools(tools), [
    { type: 'function', function: { name: 'resolve', description: 'd', parameters: { type: 'object' } } },
  ]);
});

const user = { role: 'user', content: 'x' };
const asks = (...ids: string[]): unknown => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map(id => ({ id, type: 'function', function: { name: 't', arguments: '{}' } })),
});
const answers = (id: string): unknown => ({ role: 'tool', tool_call_id: id, content: 'r' });

const faults: [string, unknown[], RegExp][] = [
  ['nothing at all', [], /no messages/],
  ['a missing result', [user, asks('a'), user], /results of a are missing before this user/],
  [
    'a missing result at the end',
    [user, asks('a', 'b'), answers('a')],
    /results of b are missing at the end/,
  ],
  ['a result twice', [user, asks('a'), answers('a'), answers('a')], /result for a, which is not awaited/],
  ['an orphan', [user, answers('a')], /result for a, which is not awaited/],
  [
    'results in another order',
    [user, asks('a', 'b'), answers('b'), answers('a')],
    /result of b comes before that of a/,
  ],
  ['an id twice', [user, asks('a', 'a'), answers('a')], /two tool calls with the id a/],
  ['an empty user message', [{ role: 'user', content: '' }], /empty user message/],
  ['an empty assistant message', [user, { role: 'assistant', content: '' }], /empty assistant message/],
  [
    'no calls in the list',
    [user, { role: 'assistant', content: null, tool_calls: [] }],
    /not a list with members/,
  ],
  ['a late system message', [user, { role: 'system', content: 's' }], /system message after the head/],
  ['an unknown role', [{ role: 'steering', content: 's' }], /unknown role steering/],
  [
    'malformed arguments',
    [
      user,
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name: 't', arguments: '{' } }],
      },
      answers('a'),
    ],
    /arguments of a/,
  ],
  [
    'no name',
    [
      user,
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name: '', arguments: '{}' } }],
      },
      answers('a'),
    ],
    /no usable name/,
  ],
];
for (const [what, messages, expected] of faults) {
  test(`the checker finds ${what}`, () => {
    const problems = validateConversation(messages);
    assert.ok(
      problems.some(problem => expected.test(problem)),
      `${expected} in ${JSON.stringify(problems)}`,
    );
  });
}

/** Texts with NUL and halves of surrogate pairs; also between escapes, once they are JSON. */
const oddText = fc.string({
  unit: fc.constantFrom('\0', '\ud83d', '\ude00', '😀', '\\', 'u', '0', '"', '\n', 'é', 'a'),
});
/** An escape of NUL or of half a surrogate pair in JSON text. */
const ODD_ESCAPE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/i;

test('no text that is sent has NUL or half a surrogate pair, which servers refuse', () => {
  fc.assert(
    fc.property(oddText, odd => {
      const args = JSON.stringify({ [odd]: [odd, 1.0], n: 12345678901234567890 });
      const body = JSON.stringify({
        messages: toWireMessages(odd, [
          { role: 'user', text: odd, attachments: [{ path: 'a.txt', text: odd, note: odd }] },
          { role: 'assistant', text: odd, toolCalls: [call('c1', args)], stopReason: 'toolCalls' },
          result('c1', odd),
          { role: 'steering', kind: 'notice', text: odd, previewIds: [] },
        ]),
        tools: toWireTools([{ name: 't', description: odd, parameters: { description: odd } }]),
      });
      assert.ok(body.isWellFormed());
      assert.doesNotMatch(body, ODD_ESCAPE);
      const sent = JSON.parse(body) as { messages: { tool_calls?: { function: { arguments: string } }[] }[] };
      const sentArgs = sent.messages.flatMap(one => one.tool_calls ?? [])[0]?.function.arguments ?? '';
      assert.doesNotMatch(sentArgs, ODD_ESCAPE);
      const clean = odd.toWellFormed().replaceAll('\0', '\ufffd');
      assert.deepEqual(
        JSON.parse(sentArgs),
        JSON.parse(JSON.stringify({ [clean]: [clean, 1], n: 12345678901234567890 })),
      );
    }),
    { numRuns: 500 },
  );
});

test('arguments stay as they were written but for the characters that servers refuse', () => {
  const args = String.raw`{ "a": "\ud83d\ude00 \\ud83d \\\ud83d \u0000 \u00e9", "n": 1.00 }`;
  const [message] = toWireMessages('', [assistant('', [call('c1', args)], 'toolCalls')]);
  assert.equal(
    message?.role === 'assistant' && message.tool_calls?.[0]?.function.arguments,
    String.raw`{ "a": "\ud83d\ude00 \\ud83d \\\ufffd \ufffd \u00e9", "n": 1.00 }`,
  );
});
