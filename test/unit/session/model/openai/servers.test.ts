import { test } from 'node:test';
import assert from 'node:assert/strict';
import type { ChatRequest, ProviderAnswer } from '../../../../../src/agent/session/model/chatProvider.ts';
import { ToolChoiceLadder } from '../../../../../src/agent/session/model/toolChoiceLadder.ts';
import { closeServerAfterEach, failureIn, hello, run, serve } from '../../../../support/providerHarness.ts';
import { replyFor, serverFixtures, type Given } from '../../../../support/serverFixtures.ts';

closeServerAfterEach();

const tool = (name: string) => ({ name, description: 'A tool.', parameters: { type: 'object' } });
const toolChoice = { type: 'tool', name: 'resolve' } as const;
const request: ChatRequest = {
  ...hello,
  tools: ['resolve', 'read_file', 'search'].map(tool),
  toolChoice,
};

function answerIn({ text = '', reasoning, calls = [], usage, stopReason }: Given): ProviderAnswer {
  return {
    text,
    ...(reasoning !== undefined && { reasoning }),
    toolCalls: calls.map(([id, name, args]) => ({ id, name, arguments: args })),
    stopReason: stopReason ?? (calls.length > 0 ? 'toolCalls' : 'stop'),
    ...(usage && { usage: { inputTokens: usage[0], outputTokens: usage[1] } }),
  };
}

for (const [file, fixture] of serverFixtures())
  for (const [name, exchange] of Object.entries(fixture.exchanges))
    test(`${fixture.server}: ${name}`, async () => {
      const server = await serve(() => replyFor(fixture, exchange));
      const outcome = await run(server, { maxRetries: 0 }, request);
      const { gives } = exchange;
      if (gives.error === undefined) {
        assert.ok(outcome.last.type === 'done', JSON.stringify(outcome.last));
        assert.deepEqual(outcome.last.answer, answerIn(gives));
        return;
      }
      const failure = failureIn(outcome);
      assert.equal(failure.code, gives.error);
      if (gives.says !== undefined) assert.ok(failure.message.includes(gives.says), failure.message);
      const ladder = new ToolChoiceLadder(new Map());
      assert.equal(ladder.learnFromRefusal({ id: file }, toolChoice, failure), gives.refusesChoice ?? false);
      assert.deepEqual(server.violations, []);
    });

test('each server is known by text, one call, parallel calls and a cut stream, and its sources are cited', () => {
  const fixtures = [...serverFixtures().values()];
  assert.deepEqual(fixtures.map(({ server }) => server).sort(), [
    'Azure OpenAI',
    'DeepSeek',
    "Gemini's OpenAI endpoint",
    'Groq',
    'Kimi',
    'LM Studio',
    'Mistral',
    'Ollama',
    'OpenAI',
    'OpenRouter',
    'llama.cpp',
    'vLLM',
  ]);
  for (const { server, sources, exchanges } of fixtures) {
    const given = Object.values(exchanges).map(({ gives }) => gives);
    assert.ok(
      given.some(({ text = '', usage }) => text !== '' && usage),
      `${server}: text and usage`,
    );
    assert.ok(
      given.some(({ calls = [] }) => calls.length === 1),
      `${server}: one call`,
    );
    assert.ok(
      given.some(({ calls = [] }) => calls.length > 1),
      `${server}: parallel calls`,
    );
    assert.ok(
      Object.keys(exchanges).some(name => name.startsWith('cut')),
      `${server}: a cut stream`,
    );
    assert.ok(
      sources.every(source => source.startsWith('https://')),
      `${server}: sources`,
    );
  }
});
