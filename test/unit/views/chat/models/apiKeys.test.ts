import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import type { SecretStorage, SecretStorageChangeEvent } from 'vscode';
import { Emitter } from '../../../../../src/agent/base/event.ts';
import { silentLogger } from '../../../../../src/agent/base/logger.ts';
import { createOpenAiProvider } from '../../../../../src/agent/session/model/openai/provider.ts';
import { ApiKeys } from '../../../../../src/views/chat/models/apiKeys.ts';
import { startScriptedServer, type ScriptedServer } from '../../../../support/scriptedServer.ts';

/** The part of VS Code's secret storage that is used, and what was asked of it. */
function secrets(): SecretStorage & { readonly asked: string[] } {
  const kept = new Map<string, string>();
  const asked: string[] = [];
  const changed = new Emitter<SecretStorageChangeEvent>();
  return {
    asked,
    onDidChange: changed.event,
    get: async name => {
      asked.push(name);
      return Promise.resolve(kept.get(name));
    },
    store: async (name, value) => {
      kept.set(name, value);
      changed.fire({ key: name });
    },
    delete: async name => {
      kept.delete(name);
      changed.fire({ key: name });
    },
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
    const keys = new ApiKeys(secrets(), [], {});
    await keys.set(mine.baseUrl, 'sk-mine');
    await sent(keys, mine.baseUrl);
    await sent(keys, `${mine.baseUrl}/`);
    await sent(keys, other.baseUrl);
    assert.deepEqual(headersOf(mine), ['Bearer sk-mine', 'Bearer sk-mine']);
    assert.equal(other.requests.length, 1);
    assert.equal(leaks(other, 'sk-mine'), false);
  });

  test('another path, port, scheme or host is another base URL', async () => {
    const keys = new ApiKeys(secrets(), [], {});
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
    const plain = new ApiKeys(secrets(), [], { OPENAI_API_KEY: 'sk-env' });
    assert.equal(await plain.get(openai), 'sk-env');
    assert.equal(await plain.get('http://127.0.0.1:1/v1'), undefined);
    const env = { OPENAI_API_KEY: 'sk-env', OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' };
    const moved = new ApiKeys(secrets(), [], env);
    assert.equal(await moved.get('http://127.0.0.1:1/v1'), 'sk-env');
    assert.equal(await moved.get(openai), undefined);
  });

  test('setting an empty key deletes it', async () => {
    const keys = new ApiKeys(secrets(), [], {});
    await keys.set('https://a.test/v1', 'sk');
    await keys.set('https://a.test/v1', '');
    assert.equal(await keys.get('https://a.test/v1'), undefined);
  });

  test('VS Code is asked for a key once, until it says that the key changed, or a minute is over', async t => {
    const store = secrets();
    const [keys, other] = [new ApiKeys(store, [], {}), new ApiKeys(store, [], {})];
    let time = 0;
    t.mock.method(performance, 'now', () => time);
    const url = 'https://a.test/v1';
    const told = async (): Promise<readonly unknown[]> => {
      const [first, second] = [await keys.get(url), await keys.get(url)];
      return [first, second, store.asked.splice(0).length];
    };
    assert.deepEqual(await told(), [undefined, undefined, 1]);
    await other.set(url, 'sk-of-another-window');
    assert.deepEqual(await told(), ['sk-of-another-window', 'sk-of-another-window', 1]);
    await keys.set(url, 'sk');
    assert.deepEqual(await told(), ['sk', 'sk', 1]);
    time = 59_999;
    assert.deepEqual(await told(), ['sk', 'sk', 0]);
    time = 60_000;
    assert.deepEqual(await told(), ['sk', 'sk', 1]);
  });

  test('after VS Code could not read a key, it is asked again', async () => {
    const store = secrets();
    const broken = {
      ...store,
      get: async (name: string) => {
        if (store.asked.length > 0) return store.get(name);
        store.asked.push(name);
        throw new Error('locked');
      },
    };
    const keys = new ApiKeys(broken, [], {});
    await keys.set('https://a.test/v1', 'sk');
    await assert.rejects(keys.get('https://a.test/v1'), /locked/);
    assert.equal(await keys.get('https://a.test/v1'), 'sk');
  });
});

test('keys of other addresses, and those that were replaced, are known as long as the window is open', async () => {
  const keys = new ApiKeys(secrets(), [], { OPENAI_API_KEY: 'sk-env' });
  for (const [url, key] of [
    ['http://a/v1', ' one '],
    ['http://b/v1', 'two'],
    ['http://b/v1', 'three'],
  ] as const) {
    await keys.set(url, key);
    await keys.get(url);
  }
  for (const url of ['https://api.openai.com/v1', 'http://c/v1']) await keys.get(url);
  assert.deepEqual(keys.returned, ['one', 'two', 'three', 'sk-env']);
});
