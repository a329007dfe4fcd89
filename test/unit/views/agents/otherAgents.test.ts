import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../../src/agent/base/logger.ts';
import { Closing } from '../../../../src/agent/base/disposable.ts';
import type { AgentServerParts } from '../../../../src/views/agents/agentServer.ts';
import { create } from '../../../support/changes.ts';
import { draft } from '../../../support/drafts.ts';
import * as stub from '../../../support/fuzz/vscodeStub.ts';
import { InvokerHarness } from '../../../support/invokerHarness.ts';

stub.useVscodeStub();
const { OtherAgents } = await import('../../../../src/views/agents/otherAgents.ts');

test('that an agent can connect is said only once the setting is on, else what to do', async t => {
  const shown: string[] = [];
  const show = (text: string): Promise<void> => Promise.resolve(void shown.push(text));
  Object.assign(stub.window, { showInformationMessage: show, showErrorMessage: show });
  const harness = new InvokerHarness();
  const { store, resolve } = harness;
  let refusal: Error | undefined = new Error('Save the user settings file first.');
  const agents = new OtherAgents({
    ...harness,
    logger: silentLogger,
    closing: new Closing(error => assert.fail(String(error))),
    context: { storageUri: stub.Uri.file('/nowhere') },
    settings: {
      agentsEnabled: false,
      onDidChange: () => ({ dispose: () => undefined }),
      setAgentsEnabled: () => (refusal ? Promise.reject(refusal) : Promise.resolve()),
    },
  } as unknown as AgentServerParts);
  t.after(() => agents.dispose());
  const connect = async (path: string): Promise<void> => {
    const changes = [create(path, 'text')];
    const { id } = store.stage({ ...draft({ changes }), label: 'Connect Codex', purpose: 'setUp' }).preview;
    await resolve({ id });
    await new Promise(setImmediate);
  };
  await connect('a');
  assert.deepEqual(shown.splice(0), [
    'Applied: Connect Codex. Agents still cannot connect: turn on redline.agents.enabled. VS Code says: Save the user settings file first.',
  ]);
  refusal = undefined;
  await connect('b');
  assert.match(shown.join(), /^Applied: Connect Codex\. Start the agent in its folder/);
});
