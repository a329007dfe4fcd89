import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import type { SecretStorage } from 'vscode';
import { silentLogger } from '../../../../src/agent/base/logger.ts';
import { createOpenAiProvider } from '../../../../src/agent/model/openai/provider.ts';
import { ApiKeys } from '../../../../src/views/models/apiKeys.ts';
import { startScriptedServer, type ScriptedServer } from '../../../support/scriptedServer.ts';

/** The part of VS Code's secret storage that is used. */
function secrets(): Pick<SecretStorage, 'get' | 'store' | 'delete'> {
  const kept = new Map<string, string>();
  return {
    get: name => Promise.resolve(kept.get(name)),
    store: async (name, value) => void kept.set(name, value),
    delete: async name => void kept.delete(name),
  };
}

describe('keys on the wire', () => {
  const servers: ScriptedServer[] = [];

  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close();
  });

  const server = async (): Promise<ScriptedServer> => {
    const started = await startScriptedServer(() => ({ text: 'hi' }));
    servers.push(started);
    return started;
  };
  const sent = async (keys: ApiKeys, baseUrl: string): Promise<void> => {
    const provider = createOpenAiProvider({
      baseUrl,
      model: 'm',
      apiKey: () => keys.get(baseUrl),
      logger: silentLogger,
    });
    const request = { system: 's', messages: [{ role: 'user', text: 'hello' }] as const, tools: [] };
    for await (const event of provider.stream(request, new AbortController().signal)) void event;
  };
  const headersOf = ({ requests }: ScriptedServer): (string | undefined)[] =>
    requests.map(request => request.authorization);
  const leaks = ({ requests }: ScriptedServer, key: string): boolean =>
    JSON.stringify(requests.map(({ headers, body }) => [headers, body])).includes(key);

  test('a key is sent to the base URL that it was entered for, and to no other', async () => {
    const [mine, other] = [await server(), await server()];
    const keys = new ApiKeys(secrets() as SecretStorage, {});
    await keys.set(mine.baseUrl, 'sk-mine');
    await sent(keys, mine.baseUrl);
    await sent(keys, `${mine.baseUrl}/`);
    await sent(keys, other.baseUrl);
    assert.deepEqual(headersOf(mine), ['Bearer sk-mine', 'Bearer sk-mine']);
    assert.equal(other.requests.length, 1);
    assert.equal(leaks(other, 'sk-mine'), false);
  });

  test('another path, port, scheme or host is another base URL', async () => {
    const keys = new ApiKeys(secrets() as SecretStorage, {});
    await keys.set('https://api.example.com/v1', 'sk-mine');
    assert.equal(await keys.get('https://API.example.com:443/v1/'), 'sk-mine');
    for (const url of [
      'http://api.example.com/v1',
      'https://api.example.com:8443/v1',
      'https://api.example.com/v2',
      'https://api.example.com.evil.test/v1',
      'https://api.example.com@evil.test/v1',
      'https://api.example.com/v1?x=1',
      'not a url',
    ]) {
      assert.equal(await keys.get(url), undefined, url);
    }
  });

  test('the key of the environment belongs to OpenAI, or to the base URL of the environment', async () => {
    const openai = 'https://api.openai.com/v1';
    const plain = new ApiKeys(secrets() as SecretStorage, { OPENAI_API_KEY: 'sk-env' });
    assert.equal(await plain.get(openai), 'sk-env');
    assert.equal(await plain.get('http://127.0.0.1:1/v1'), undefined);
    const env = { OPENAI_API_KEY: 'sk-env', OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' };
    const moved = new ApiKeys(secrets() as SecretStorage, env);
    assert.equal(await moved.get('http://127.0.0.1:1/v1'), 'sk-env');
    assert.equal(await moved.get(openai), undefined);
  });

  test('setting an empty key deletes it', async () => {
    const keys = new ApiKeys(secrets() as SecretStorage, {});
    await keys.set('https://a.test/v1', 'sk');
    await keys.set('https://a.test/v1', '');
    assert.equal(await keys.get('https://a.test/v1'), undefined);
  });
});
