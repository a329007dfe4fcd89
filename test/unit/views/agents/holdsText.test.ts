import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentHolds, IN_VIEW, shellHold } from '../../../../src/agent/clients/setUp/agentHolds.ts';
import { knownAgents } from '../../../../src/agent/clients/setUp/knownAgents.ts';
import * as stub from '../../../support/fuzz/vscodeStub.ts';

stub.useVscodeStub();
const { holdsText } = await import('../../../../src/views/agents/connectAgent.ts');

test('one sentence for each agent says what is held of it, as it was seen when it was run', () => {
  for (const { name } of knownAgents) {
    const { modes } = agentHolds.find(each => each.name === name) ?? assert.fail(name);
    const told = holdsText(name);
    assert.match(told, /^Edits wait here\. (Its shell asks first|So do writes by its shell)\./);
    for (const mode of modes) {
      const isHeld = mode.mode === IN_VIEW || (mode.edits !== 'writes' && shellHold(mode) !== 'writes');
      assert.equal(told.includes(mode.mode), !isHeld, `${name}: ${mode.mode}`);
    }
  }
  assert.equal(holdsText('Claude Code'), 'Edits wait here. Its shell asks first.');
});
