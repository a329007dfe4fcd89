import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { inRepo } from '../../../../scripts/lib/paths.mjs';
import { english } from '../../../../src/agent/base/localiser.ts';
import { INSTRUCTIONS, allClientTools } from '../../../../src/agent/clients/clientTools.ts';
import { knownAgents } from '../../../../src/agent/clients/setUp/knownAgents.ts';
import { setUpText } from '../../../../src/agent/clients/setUp/setUpText.ts';

const BRIDGE = String.raw`C:\Users\Jo Doe\redline-mcp.cjs`;
const SERVER = { mcpServers: { redline: { command: 'node', args: [BRIDGE] } } };

test('the steps for any client have the instructions, and JSON to copy that is valid, also with a path of Windows', async () => {
  const text = await setUpText(undefined, BRIDGE);
  assert.ok(text.includes(INSTRUCTIONS));
  assert.match(text, /its own tools still write.*Open Agent Terminal/is);
  const [, json = ''] = /```json\n(.*?)```/s.exec(text) ?? [];
  assert.deepEqual(JSON.parse(json), SERVER);
});

test('the steps for an agent show each of its files, to copy', async () => {
  const [claude] = knownAgents;
  const text = await setUpText(claude, BRIDGE);
  const blocks = [...text.matchAll(/`([^`\n]+)`\n\n```\w+\n(.*?)```/gs)].map(([, name, block]) => [
    name,
    block,
  ]);
  assert.deepEqual(
    blocks.map(([name]) => name),
    ['.mcp.json', '.claude/settings.local.json', 'CLAUDE.md'],
  );
  assert.deepEqual(JSON.parse(blocks[0]?.[1] ?? ''), SERVER);
  assert.ok(blocks[2]?.[1]?.includes(INSTRUCTIONS));
});

test('the documents say in the same words as the card what each shell can still write', () => {
  const page = readFileSync(inRepo('docs', 'agents.md'), 'utf8').replace(/\s+/g, ' ');
  for (const { name, shell } of knownAgents) assert.ok(page.includes(shell(english)), name);
});

test('the instructions name only tools that there are', () => {
  const names = allClientTools().map(({ name }) => name);
  const named = INSTRUCTIONS.match(/\b(?:[a-z]+_)+[a-z]+\b/g) ?? [];
  assert.ok(named.length > 4);
  for (const name of named) assert.ok(names.includes(name), name);
});
