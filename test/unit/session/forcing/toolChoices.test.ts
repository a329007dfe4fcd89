import { test } from 'node:test';
import assert from 'node:assert/strict';
import { ConversationPreviews } from '../../../../src/agent/session/conversation/conversationPreviews.ts';
import { ConversationTree } from '../../../../src/agent/session/conversation/conversationTree.ts';
import { ToolChoices } from '../../../../src/agent/session/forcing/toolChoices.ts';
import type { AssistantMessage } from '../../../../src/agent/session/model/messages.ts';
import { ToolChoiceLadder } from '../../../../src/agent/session/model/toolChoiceLadder.ts';
import { InvokerHarness } from '../../../support/invokerHarness.ts';
import { createScriptedProvider } from '../../../support/scriptedProvider.ts';

const FORCED = { type: 'tool', name: 'resolve' };
const tool = (name: string) => ({ name, description: '', parameters: {} });
const all = [tool('read_file'), tool('resolve')];
const answer: AssistantMessage = { role: 'assistant', text: 'ok', toolCalls: [], stopReason: 'stop' };

/** The choices of a session in Auto mode with one preview that it was reminded of. */
function withPreview() {
  const { store, invoker, stage } = new InvokerHarness();
  const said: string[] = [];
  const previews = new ConversationPreviews('s1', new ConversationTree(), store);
  const choices = new ToolChoices({
    store,
    invoker,
    previews: () => previews,
    ladder: new ToolChoiceLadder(new Map()),
    settings: () => ({
      modelAuthority: 'apply',
      order: 'newestFirst',
      forcing: 'forced',
      continueAfterReview: true,
    }),
    steer: ({ kind }) => void said.push(kind),
  });
  const preview = stage();
  choices.resolver.noteShown(preview, { from: 0, end: Infinity, text: '' });
  choices.directives.remind(preview);
  return { choices, said, provider: createScriptedProvider([]) };
}

test('a choice that names a tool which is not offered is unavailable: nothing is forced, until it is offered', () => {
  const { choices, said, provider } = withPreview();
  const [readFile] = all;
  const without = readFile ? [readFile] : [];
  for (let n = 0; n < 5; n++) {
    assert.deepEqual(choices.begin(provider, without), { tools: without });
    choices.settle('resolve', answer);
  }
  assert.ok(!said.includes('notice'), 'a turn that could not ask does not count as unanswered');
  assert.deepEqual(choices.begin(provider, all), { tools: all, toolChoice: FORCED });
});

test('the same for a choice that is replayed after a stop', () => {
  const { choices, provider } = withPreview();
  assert.deepEqual(choices.begin(provider, all).toolChoice, FORCED);
  choices.settle('aborted', { ...answer, stopReason: 'aborted' });
  assert.deepEqual(choices.begin(provider, []), { tools: [] });
  choices.settle('resolve', answer);
  assert.deepEqual(choices.begin(provider, all).toolChoice, FORCED);
});

test('while plan mode is on, directives wait', () => {
  const { choices, provider } = withPreview();
  choices.resolver.setMode({
    sourceToolName: 'plan_approval',
    label: 'Plan',
    handle: () => Promise.reject(new Error('no plan is submitted')),
  });
  assert.deepEqual(choices.begin(provider, all), { tools: all });
  choices.settle('resolve', answer);
  choices.resolver.setMode(null);
  assert.deepEqual(choices.begin(provider, all).toolChoice, FORCED);
});
