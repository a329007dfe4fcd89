import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentHolds, shellHold } from '../../../../src/agent/clients/setUp/agentHolds.ts';
import { knownAgents } from '../../../../src/agent/clients/setUp/knownAgents.ts';
import { realAgents } from '../../../agents/realAgents.ts';

test('every agent that can be connected says what is held of it, first in the mode in which it is run', () => {
  assert.deepEqual(agentHolds.map(({ name }) => name).sort(), knownAgents.map(({ name }) => name).sort());
  const known = realAgents.filter(({ id }) => knownAgents.some(agent => agent.id === id));
  for (const { name, mode } of known) {
    const [first] = agentHolds.find(each => each.name === name)?.modes ?? [];
    assert.deepEqual([first?.mode, first?.from], [mode, 'run'], name);
  }
});

test('what holds in a shell is the worst of what was seen', () => {
  const mode = { mode: 'x', edits: 'held', sed: 'held', script: 'held', from: 'run' } as const;
  assert.equal(shellHold(mode), 'held');
  assert.equal(shellHold({ ...mode, sed: 'asks' }), 'asks');
  assert.equal(shellHold({ ...mode, sed: 'writes', script: 'asks' }), 'writes');
});
