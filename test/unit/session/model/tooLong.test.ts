import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTooLong, windowInRefusal } from '../../../../src/agent/session/model/tooLong.ts';
import { closeServerAfterEach, run, serve } from '../../../support/providerHarness.ts';

closeServerAfterEach();

/** What servers answer to a request that is too long, and the window that their words tell. */
const REFUSALS: readonly (readonly [server: string, status: number, body: unknown, window?: number])[] = [
  [
    'OpenAI',
    400,
    {
      error: {
        message:
          "This model's maximum context length is 128000 tokens. However, your messages resulted in 150011 tokens. Please reduce the length of the messages.",
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      },
    },
    128_000,
  ],
  [
    'OpenAI, newer',
    400,
    {
      error: {
        message: 'Your input exceeds the context window of this model.',
        code: 'context_length_exceeded',
      },
    },
  ],
  [
    'vLLM',
    400,
    {
      object: 'error',
      message:
        "This model's maximum context length is 4096 tokens. However, you requested 5021 tokens (4021 in the messages, 1000 in the completion).",
      type: 'BadRequestError',
      code: 400,
    },
    4_096,
  ],
  [
    'vLLM, newer',
    400,
    {
      error: { message: 'The decoder prompt (length 9000) is longer than the maximum model length of 8192.' },
    },
    8_192,
  ],
  [
    'llama.cpp',
    400,
    {
      error: {
        code: 400,
        message: 'the request exceeds the available context size, try increasing it',
        type: 'exceed_context_size_error',
        n_prompt_tokens: 14_429,
        n_ctx: 8_192,
      },
    },
    8_192,
  ],
  [
    'llama.cpp, newer',
    400,
    {
      error: {
        message: 'request (9412 tokens) exceeds the available context size (8192 tokens), try increasing it',
      },
    },
    8_192,
  ],
  ['Ollama', 400, { error: 'prompt too long; exceeded max context length by 4096 tokens' }],
  ['Ollama, older', 500, { error: 'the input length exceeds the context length' }],
  [
    'LM Studio',
    400,
    { error: 'The number of tokens to keep from the initial prompt is greater than the context length.' },
  ],
  [
    'a gateway to Anthropic',
    400,
    {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'prompt is too long: 213462 tokens > 200000 maximum' },
    },
    200_000,
  ],
  [
    'Anthropic with a limit of the answer',
    400,
    { error: { message: 'input length and `max_tokens` exceed context limit: 199000 + 8000 > 200000' } },
    200_000,
  ],
  [
    'Gemini',
    400,
    {
      error: {
        message: 'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).',
        status: 'INVALID_ARGUMENT',
      },
    },
    1_048_575,
  ],
  [
    'Mistral',
    400,
    { message: 'Prompt contains 300000 tokens, too large for model with 131072 maximum context length' },
    131_072,
  ],
  [
    'xAI',
    400,
    { error: "This model's maximum prompt length is 131,072 but the request contains 537,812 tokens." },
    131_072,
  ],
  [
    'Copilot',
    400,
    {
      error: {
        message: 'prompt token count of 138898 exceeds the limit of 64000',
        code: 'model_max_prompt_tokens_exceeded',
      },
    },
    64_000,
  ],
  ['a proxy', 413, '<html>Request Entity Too Large</html>'],
];

for (const [server, status, body, window] of REFUSALS)
  test(`too long, in the words of ${server}`, async () => {
    const { last } = await run(await serve([{ status, body }]));
    assert.equal(last.type, 'error');
    assert.ok(last.type === 'error');
    assert.equal(last.failure.code, 'contextLength');
    assert.equal(last.failure.contextWindow, window);
    assert.match(last.failure.message, /the conversation is too long for the model “m”\./);
  });

test('an error in the middle of an answer can say so too', async () => {
  const error =
    '{"error":{"message":"exceeds the available context size","type":"exceed_context_size_error","n_ctx":4096}}';
  const { last } = await run(await serve([{ raw: [`data: ${error}`, ''] }]));
  assert.ok(last.type === 'error');
  assert.equal(last.failure.code, 'contextLength');
  assert.equal(last.failure.contextWindow, 4_096);
});

test('other refusals do not count as too long', () => {
  const others: readonly (readonly [number, string])[] = [
    [429, 'Request too large for model: tokens per minute (TPM): Limit 12000, Requested 15318'],
    [400, 'Rate limit reached: please reduce the length of the messages, 8000 tokens per minute'],
    [400, 'tool_choice is not supported'],
    [400, 'max_tokens must be at least 1'],
    [401, 'context_length_exceeded'],
    [500, 'internal error'],
  ];
  for (const [status, body] of others) assert.equal(isTooLong(status, body), false, body);
  assert.equal(windowInRefusal('no number here'), undefined);
});
