import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INSTRUCTIONS } from '../../../src/agent/clients/clientTools.ts';
import { knownAgents, setUpText } from '../../../src/agent/clients/setUp.ts';
import { allClientTools } from '../../../src/agent/clients/stdio/allClientTools.ts';

const BRIDGE = '/home/me/.config/Code Files/redline-mcp.cjs';

test('the steps for each agent name the program, the instructions and how to end it', () => {
  for (const agent of knownAgents) {
    const text = setUpText(agent, BRIDGE);
    assert.ok(text.includes(BRIDGE), agent.id);
    assert.ok(text.includes(INSTRUCTIONS), agent.id);
    assert.ok(text.includes(agent.disconnect), agent.id);
    assert.equal((text.match(/^```/gm) ?? []).length % 2, 0, `${agent.id} closes its code blocks`);
  }
});

test('the JSON to copy is valid, also with a path of Windows', () => {
  const windows = String.raw`C:\Users\Jo Doe\redline-mcp.cjs`;
  let found = 0;
  for (const agent of knownAgents)
    for (const [, json = ''] of setUpText(agent, windows).matchAll(/```json\n(.*?)```/gs)) {
      const value = JSON.stringify(JSON.parse(json));
      if (value.includes('redline')) assert.ok(value.includes(JSON.stringify(windows)), agent.id);
      found++;
    }
  assert.equal(found, 4);
});

test('a path with a space is one argument of a shell', () => {
  const [claude] = knownAgents;
  assert.match(
    claude?.connect(BRIDGE) ?? '',
    /-- node "\/home\/me\/\.config\/Code Files\/redline-mcp\.cjs"\n/,
  );
  assert.match(claude?.connect('/opt/redline-mcp.cjs') ?? '', /-- node \/opt\/redline-mcp\.cjs\n/);
});

test('the instructions name only tools that there are', () => {
  const names = allClientTools().map(({ name }) => name);
  const named = INSTRUCTIONS.match(/\b(?:[a-z]+_)+[a-z]+\b/g) ?? [];
  assert.ok(named.length > 4);
  for (const name of named) assert.ok(names.includes(name), name);
});
