import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INSTRUCTIONS } from '../../../../src/agent/clients/clientTools.ts';
import { setUpText } from '../../../../src/agent/clients/setUp/setUpText.ts';
import { allClientTools } from '../../../../src/agent/clients/stdio/allClientTools.ts';

test('the steps for any client have the instructions, and JSON to copy that is valid, also with a path of Windows', () => {
  const bridge = String.raw`C:\Users\Jo Doe\redline-mcp.cjs`;
  const text = setUpText(bridge);
  assert.ok(text.includes(INSTRUCTIONS));
  const [, json = ''] = /```json\n(.*?)```/s.exec(text) ?? [];
  assert.deepEqual(JSON.parse(json), { mcpServers: { redline: { command: 'node', args: [bridge] } } });
});

test('the instructions name only tools that there are', () => {
  const names = allClientTools().map(({ name }) => name);
  const named = INSTRUCTIONS.match(/\b(?:[a-z]+_)+[a-z]+\b/g) ?? [];
  assert.ok(named.length > 4);
  for (const name of named) assert.ok(names.includes(name), name);
});
