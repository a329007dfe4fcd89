import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Localiser } from '../../../src/agent/base/localiser.ts';
import { agentNameOf } from '../../../src/agent/clients/agentName.ts';

test('an agent keeps the name that it gives itself', () => {
  for (const name of ['Claude Code', 'opencode', '智能体', 'Junie', 'a'])
    assert.deepEqual(agentNameOf({ name, version: '1.0' }), { name, version: '1.0' });
  assert.deepEqual(agentNameOf(undefined), { name: 'unnamed agent', version: '' });
});

test('a name that Redline vouches for is shown as what an agent calls itself, however it is written', () => {
  const taken = [
    'your uncommitted changes',
    '  Your  Uncommitted\u200b CHANGES ',
    'branch main',
    'BRÁNCH\u00a0main',
    'ｂｒａｎｃｈ main',
    'brаnch main', // with a Cyrillic а
    'b-r-a-n-c-h: main',
    'worktree x',
    'patch on the clipboard',
    'Redline',
  ];
  for (const name of taken) assert.match(agentNameOf({ name }).name, /^agent “.+”$/u, name);
});

test('so is one in the language of the user', () => {
  const l10n: Localiser = { t: (text, ...args) => (text === 'branch {0}' ? `Zweig ${args[0]}` : text) };
  assert.equal(agentNameOf({ name: 'zweig main' }, l10n).name, 'agent “zweig main”');
});
