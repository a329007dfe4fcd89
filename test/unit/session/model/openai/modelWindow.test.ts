import assert from 'node:assert/strict';
import { test } from 'node:test';
import { windowInAnswer, windowInList } from '../../../../../src/agent/session/model/openai/modelWindow.ts';
import { createOpenAiProvider } from '../../../../../src/agent/session/model/openai/provider.ts';
import { closeServerAfterEach, logger, providerFor, serve } from '../../../../support/providerHarness.ts';
import type { ScriptedServerOptions } from '../../../../support/scriptedServer.ts';

closeServerAfterEach();

const never = new AbortController().signal;

/** Entries as the documentation and the source of each server show them, without the fields that do not matter here. */
const LISTED: readonly (readonly [
  server: string,
  entry: Record<string, unknown>,
  window: number | undefined,
])[] = [
  ['OpenAI', { object: 'model', owned_by: 'openai' }, undefined],
  ['vLLM', { object: 'model', owned_by: 'vllm', max_model_len: 32_768 }, 32_768],
  ['OpenRouter', { context_length: 262_144, top_provider: { context_length: 131_072 } }, 131_072],
  ['OpenRouter without a host', { context_length: 262_144, top_provider: { context_length: null } }, 262_144],
  ['Mistral', { object: 'model', owned_by: 'mistralai', max_context_length: 131_072 }, 131_072],
  ['Groq', { object: 'model', owned_by: 'Meta', context_window: 8_192 }, 8_192],
  ['llama.cpp, a router', { owned_by: 'llamacpp', meta: { n_ctx: 16_384, n_ctx_train: 131_072 } }, 16_384],
  ['nonsense', { context_length: '8192', context_window: -1, max_model_len: 0.5 }, undefined],
];

for (const [server, entry, window] of LISTED)
  test(`the window in the list of ${server}`, () => {
    assert.deepEqual(
      windowInList(
        [
          { id: 'other', context_length: 4_096 },
          { ...entry, id: 'm' },
        ],
        'm',
      ),
      window === undefined ? {} : { window },
    );
  });

test('a list without the model, or of anything, tells no window', () => {
  assert.deepEqual(windowInList([null, 3, 'm', { id: 'n', context_length: 4_096 }], 'm'), {});
});

const LOCAL: readonly (readonly [server: string, ScriptedServerOptions, window: number | undefined])[] = [
  [
    'llama.cpp, which was started with less than it was trained for',
    {
      models: [{ id: 'm', owned_by: 'llamacpp', meta: { n_ctx_train: 131_072 } } as { id: string }],
      places: { '/props': { default_generation_settings: { n_ctx: 4_096 } } },
    },
    4_096,
  ],
  [
    'llama.cpp without /props',
    { models: [{ id: 'm', owned_by: 'llamacpp', meta: { n_ctx_train: 131_072 } } as { id: string }] },
    131_072,
  ],
  [
    'LM Studio with a loaded model',
    {
      models: [{ id: 'm', owned_by: 'organization_owner' } as { id: string }],
      places: {
        '/api/v0/models': { data: [{ id: 'm', loaded_context_length: 4_096, max_context_length: 32_768 }] },
      },
    },
    4_096,
  ],
  [
    'Ollama with a loaded model',
    {
      models: [{ id: 'm', owned_by: 'library' } as { id: string }],
      places: { '/api/ps': { models: [{ name: 'm:latest', model: 'm:latest', context_length: 4_096 }] } },
    },
    4_096,
  ],
];

for (const [server, options, window] of LOCAL)
  test(`the window of ${server}`, async () => {
    const provider = providerFor(await serve([], options));
    assert.equal(await provider.contextWindow?.(never), window);
  });

test('a model of Ollama that is not loaded yet is asked about again', async () => {
  const places: Record<string, unknown> = { '/api/ps': { models: [] } };
  const server = await serve([], { models: [{ id: 'm', owned_by: 'library' } as { id: string }], places });
  const provider = providerFor(server);
  assert.equal(await provider.contextWindow?.(never), undefined);
  places['/api/ps'] = { models: [{ model: 'm', context_length: 8_192 }] };
  assert.equal(await provider.contextWindow?.(never), 8_192);
});

test('what the server told is remembered, and what the user set counts more', async () => {
  const models = [{ id: 'm', max_model_len: 8_192 }];
  const server = await serve([], { models });
  let set = 0;
  const provider = providerFor(server, { contextWindow: () => set });
  assert.equal(await provider.contextWindow?.(never), 8_192);
  models.length = 0;
  assert.equal(await provider.contextWindow?.(never), 8_192);
  set = 50_000;
  assert.equal(await provider.contextWindow?.(never), 50_000);
});

test('a server that cannot be reached tells nothing, and nothing rejects', async () => {
  const server = await serve([]);
  const { baseUrl } = server;
  await server.close();
  const provider = createOpenAiProvider({ baseUrl, model: 'm', logger });
  assert.equal(await provider.contextWindow?.(never), undefined);
  assert.equal(await provider.contextWindow?.(AbortSignal.abort()), undefined);
});

test('answers of other places may be anything', () => {
  for (const body of [undefined, null, [], { data: 'x' }, { models: [null, { name: 'm' }] }])
    for (const place of ['/props', '/api/v0/models', '/api/ps'] as const)
      assert.equal(windowInAnswer(place, body, 'm'), undefined);
});
