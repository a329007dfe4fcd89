import { test } from 'node:test';
import assert from 'node:assert/strict';
import { english } from '../../../../src/agent/base/localiser.ts';
import { requestText } from '../../../../src/views/diagnostics/requestText.ts';

const textOf = (body: unknown): string =>
  requestText({ at: new Date(0), provider: 'openai:https://a.example:m', body }, 'now', english);

test('a request of a server of OpenAI’s kind: parameters, then each message and tool under its heading', () => {
  const call = { name: 'edit_file', arguments: '{"path":"a.ts","edits":[]}' };
  const text = textOf({
    model: 'm',
    tool_choice: 'required',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Look:\n```js\n1\n```' }, { type: 'image_url' }] },
      { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: call }] },
      { role: 'tool', tool_call_id: 'c1', content: 'Staged as p1.' },
    ],
    tools: [{ type: 'function', function: { name: 'resolve', description: 'Votes.', parameters: {} } }],
  });
  assert.equal(
    text,
    [
      '# Last Request\n',
      'Sent to `openai:https://a.example:m`: now\n',
      '## Parameters\n',
      '```json\n{\n  "model": "m",\n  "tool_choice": "required"\n}\n```\n',
      '## Messages\n',
      '### 1. system\n',
      '```text\nBe brief.\n```\n',
      '### 2. user\n',
      '````text\nLook:\n```js\n1\n```\n````\n',
      '```json\n{\n  "type": "image_url"\n}\n```\n',
      '### 3. assistant\n',
      `\`\`\`json\n${JSON.stringify(
        {
          tool_calls: [
            {
              id: 'c1',
              type: 'function',
              function: { name: 'edit_file', arguments: { path: 'a.ts', edits: [] } },
            },
          ],
        },
        null,
        2,
      )}\n\`\`\`\n`,
      '### 4. tool\n',
      '```text\nStaged as p1.\n```\n',
      '```json\n{\n  "tool_call_id": "c1"\n}\n```\n',
      '## Tools\n',
      '### resolve\n',
      '```text\nVotes.\n```\n',
      '```json\n{\n  "parameters": {}\n}\n```\n',
    ].join('\n'),
  );
});

test('a request to a language model of VS Code, and one to no model, lose nothing', () => {
  const call = { type: 'call', id: 'c', name: 'read_file', arguments: 'half {' };
  const text = textOf({ messages: [{ role: 'assistant', parts: [call] }], tools: [], mode: 'auto' });
  for (const part of ['"mode": "auto"', '### 1. assistant', '"name": "read_file"', '"half {"'])
    assert.ok(text.includes(part), part);
  const plain = textOf({ system: 'Be brief.', messages: [{ role: 'user', text: 'Hi' }], tools: [] });
  for (const part of ['"system": "Be brief."', '### 1. user', '```text\nHi\n```'])
    assert.ok(plain.includes(part), part);
});
