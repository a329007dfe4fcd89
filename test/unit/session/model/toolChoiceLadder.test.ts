import { test } from 'node:test';
import assert from 'node:assert/strict';
import type { ProviderFailure, ToolChoice } from '../../../../src/agent/session/model/chatProvider.ts';
import { ToolChoiceLadder, type LadderMemory } from '../../../../src/agent/session/model/toolChoiceLadder.ts';

const tools = ['read', 'resolve'].map(name => ({ name, description: '', parameters: {} }));
const named: ToolChoice = { type: 'tool', name: 'resolve' };
const refusal = (over: Partial<ProviderFailure> = {}): ProviderFailure => ({
  code: 'badRequest',
  message: 'Bad request',
  detail: 'Invalid tool_choice',
  ...over,
});
const callOf = (name: string) => ({ id: '1', name, arguments: '{}' });

test('a named choice is sent unchanged, then as the only tool with required, then not at all', () => {
  const ladder = new ToolChoiceLadder(new Map());
  const offer = { tools, toolChoice: named };
  assert.deepEqual(ladder.offer({ id: 's' }, offer), offer);
  assert.equal(ladder.learnFromRefusal({ id: 's' }, named, refusal()), true);
  assert.deepEqual(ladder.offer({ id: 's' }, offer), { tools: [tools[1]], toolChoice: { type: 'required' } });
  assert.equal(ladder.learnFromRefusal({ id: 's' }, named, refusal()), true);
  assert.deepEqual(ladder.offer({ id: 's' }, offer), { tools });
  assert.equal(ladder.learnFromRefusal({ id: 's' }, named, refusal()), false, 'there is no way left');
});

test('a choice that forces no tool is sent unchanged on every step', () => {
  const ladder = new ToolChoiceLadder({ get: () => 'auto', set: () => undefined });
  for (const offer of [{ tools }, { tools, toolChoice: { type: 'auto' } as const }]) {
    assert.equal(ladder.offer({ id: 's' }, offer), offer);
  }
});

test('each provider has its own step, which is remembered', () => {
  const memory: LadderMemory = new Map();
  new ToolChoiceLadder(memory).learnFromRefusal({ id: 'one' }, named, refusal());
  const later = new ToolChoiceLadder(memory);
  assert.equal(later.step({ id: 'one' }), 'required');
  assert.equal(later.step({ id: 'other' }), 'named');
});

for (const detail of [
  'Invalid tool_choice',
  'tool choice is not supported',
  '"tool-choice" must be one of auto, none',
  'function calling config is invalid',
  'Thinking may not be enabled when tool_choice forces tool use',
  'cannot force a tool in this mode',
]) {
  test(`"${detail}" is recognized as a refusal of the choice`, () => {
    assert.equal(
      new ToolChoiceLadder(new Map()).learnFromRefusal({ id: 's' }, named, refusal({ detail })),
      true,
    );
  });
}

test('other failures, and failures of requests without a forced tool, are not refusals', () => {
  const ladder = new ToolChoiceLadder(new Map());
  assert.equal(ladder.learnFromRefusal({ id: 's' }, undefined, refusal()), false);
  assert.equal(ladder.learnFromRefusal({ id: 's' }, { type: 'required' }, refusal()), false);
  for (const code of ['unauthorized', 'rateLimited', 'unreachable', 'broken', 'noModel'] as const)
    assert.equal(ladder.learnFromRefusal({ id: 's' }, named, refusal({ code })), false);
  assert.equal(
    ladder.learnFromRefusal({ id: 's' }, named, refusal({ detail: 'context length exceeded' })),
    false,
  );
  assert.equal(ladder.step({ id: 's' }), 'named');
});

for (const code of ['notFound', 'server'] as const) {
  test(`a failure of kind ${code} is a refusal only if it mentions the choice`, () => {
    const ladder = new ToolChoiceLadder(new Map());
    const silent = refusal({ code, message: 'No.', detail: 'No.' });
    assert.equal(ladder.learnFromRefusal({ id: 's' }, named, silent), false);
    const said = "No endpoints found that support the provided 'tool_choice' value";
    assert.equal(ladder.learnFromRefusal({ id: 's' }, named, refusal({ code, detail: said })), true);
  });
}

test('an answer without the forced call shows that the choice is ignored; one with it does not', () => {
  const ladder = new ToolChoiceLadder(new Map());
  ladder.learnFromAnswer({ id: 's' }, undefined, []);
  ladder.learnFromAnswer({ id: 's' }, named, [callOf('read'), callOf('resolve')]);
  assert.equal(ladder.step({ id: 's' }), 'named');
  ladder.learnFromAnswer({ id: 's' }, named, [callOf('read')]);
  assert.equal(ladder.step({ id: 's' }), 'required');
  ladder.learnFromAnswer({ id: 's' }, named, []);
  ladder.learnFromAnswer({ id: 's' }, named, []);
  assert.equal(ladder.step({ id: 's' }), 'auto', 'it goes no further');
});

test('a provider without a named choice begins with the tool alone and required', () => {
  const ladder = new ToolChoiceLadder(new Map());
  const provider = { id: 'vscode-lm:acme/m', lacksNamedChoice: true };
  const offer = { tools, toolChoice: named };
  assert.deepEqual(ladder.offer(provider, offer), { tools: [tools[1]], toolChoice: { type: 'required' } });
  const message = 'LanguageModelChatToolMode.Required is not supported by this model';
  assert.equal(
    ladder.learnFromRefusal(provider, named, refusal({ code: 'server', message, detail: '' })),
    true,
  );
  assert.deepEqual(ladder.offer(provider, offer), { tools });
  assert.equal(ladder.learnFromRefusal(provider, named, refusal()), false, 'there is no way left');
});
