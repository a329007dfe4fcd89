import { test } from 'node:test';
import assert from 'node:assert/strict';
import { ToolChoiceLadder, transientLadderMemory } from '../../../src/agent/model/toolChoiceLadder.ts';
import type { AssistantMessage } from '../../../src/agent/model/messages.ts';
import { ToolChoices } from '../../../src/agent/session/toolChoices.ts';
import { InvokerHarness } from '../../support/invokerHarness.ts';
import { createScriptedProvider } from '../../support/scriptedProvider.ts';

const FORCED = { type: 'tool', name: 'resolve' };
const tool = (name: string) => ({ name, description: '', parameters: {} });
const all = [tool('read_file'), tool('resolve')];
const answer: AssistantMessage = { role: 'assistant', text: 'ok', toolCalls: [], stopReason: 'stop' };

/** The choices of a session in Auto mode with one preview that it was reminded of. */
function withPreview() {
  const { store, invoker, stage } = new InvokerHarness();
  const said: string[] = [];
  const choices = new ToolChoices({
    store,
    invoker,
    ladder: new ToolChoiceLadder(transientLadderMemory()),
    settings: () => ({ modelAuthority: 'apply', order: 'newestFirst', forcing: 'forced' }),
    steer: ({ kind }) => void said.push(kind),
  });
  choices.remind(stage());
  return { choices, said, provider: createScriptedProvider([]) };
}

test('a choice that names a tool which is not offered is unavailable: nothing is forced, until it is offered', () => {
  const { choices, said, provider } = withPreview();
  const [readFile] = all;
  const without = readFile ? [readFile] : [];
  for (let n = 0; n < 5; n++) {
    assert.deepEqual(choices.begin(provider, without, false), { tools: without });
    choices.settle('resolve', answer);
  }
  assert.ok(!said.includes('notice'), 'what could not be asked is not a turn in vain');
  assert.deepEqual(choices.begin(provider, all, false), { tools: all, toolChoice: FORCED });
});

test('the same for a choice that is replayed after a stop', () => {
  const { choices, provider } = withPreview();
  assert.deepEqual(choices.begin(provider, all, false).toolChoice, FORCED);
  choices.settle('aborted', { ...answer, stopReason: 'aborted' });
  assert.deepEqual(choices.begin(provider, [], false), { tools: [] });
  choices.settle('resolve', answer);
  assert.deepEqual(choices.begin(provider, all, false).toolChoice, FORCED);
});

test('while a mode has the floor what is due waits', () => {
  const { choices, provider } = withPreview();
  assert.deepEqual(choices.begin(provider, all, true), { tools: all });
  choices.settle('resolve', answer);
  assert.deepEqual(choices.begin(provider, all, false).toolChoice, FORCED);
});
