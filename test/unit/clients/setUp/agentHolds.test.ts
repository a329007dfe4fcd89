import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentHolds, IN_VIEW, shellHold, type Hold } from '../../../../src/agent/clients/setUp/agentHolds.ts';
import { knownAgents } from '../../../../src/agent/clients/setUp/knownAgents.ts';
import { realAgents } from '../../../agents/realAgents.ts';

const HOLDS: readonly Hold[] = ['held', 'asks', 'writes'];

test('every agent that can be connected says what is held of it, in each mode in which it is run and in a view', () => {
  const names = agentHolds.map(({ name }) => name);
  for (const { name } of [...knownAgents, ...realAgents]) assert.ok(names.includes(name), name);
  for (const { name, modes } of realAgents) {
    const run = agentHolds.find(each => each.name === name)?.modes.filter(({ from }) => from === 'run') ?? [];
    assert.deepEqual(
      run.map(({ mode }) => mode),
      [...Object.keys(modes), IN_VIEW],
      name,
    );
  }
});

test('the table of what holds is complete: words that are known, a date, and the version of what was run', () => {
  for (const { name, version, date, modes } of agentHolds) {
    assert.match(date, /^\d{4}-\d{2}-\d{2}$/, name);
    for (const { mode, edits, sed, script, from } of modes) {
      assert.match(from, /^(run|documentation)$/, mode);
      for (const hold of [edits, sed, script]) assert.ok(HOLDS.includes(hold), `${name} ${mode}`);
      if (from === 'run') assert.match(version, /^\d+\.\d+\.\d+$/, name);
    }
  }
});

test('in a view everything is held of every agent that was run there', () => {
  const inViews = agentHolds.flatMap(({ modes }) => modes.filter(({ mode }) => mode === IN_VIEW));
  assert.equal(inViews.length, realAgents.length);
  for (const mode of inViews) assert.deepEqual([mode.edits, shellHold(mode)], ['held', 'held']);
});

test('what holds in a shell is the worst of what was seen', () => {
  const mode = { mode: 'x', edits: 'held', sed: 'held', script: 'held', from: 'run' } as const;
  assert.equal(shellHold(mode), 'held');
  assert.equal(shellHold({ ...mode, sed: 'asks' }), 'asks');
  assert.equal(shellHold({ ...mode, sed: 'writes', script: 'asks' }), 'writes');
});
