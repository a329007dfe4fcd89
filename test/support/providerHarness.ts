import { afterEach } from 'node:test';
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { Logger } from '../../src/agent/base/logger.ts';
import type {
  ChatProvider,
  ChatRequest,
  ProviderEvent,
  ProviderFailure,
} from '../../src/agent/session/model/chatProvider.ts';
import type { OpenAiProviderOptions } from '../../src/agent/session/model/openai/completions.ts';
import { createOpenAiProvider } from '../../src/agent/session/model/openai/provider.ts';
import { startScriptedServer } from './scriptedServer.ts';
import type { Script, ScriptedServer, ScriptedServerOptions } from './scriptedServer.ts';

/** The key of these tests. `drain` fails if it is found in an event or in the log. */
export const KEY = 'sk-test-0123456789-abcdef';

/** The smallest request. */
export const hello: ChatRequest = {
  system: 'Be brief.',
  messages: [{ role: 'user', text: 'Hello' }],
  tools: [],
};

/** The log lines of the running test's providers. */
export const logged: string[] = [];
const write = (message: string): void => void logged.push(message);
export const logger: Logger = { debug: write, info: write, warn: write, error: write };

let running: ScriptedServer | undefined;

/** Closes the scripted server after each test of the file that calls it. A hook of this module would belong to the first such file. */
export function closeServerAfterEach(): void {
  afterEach(async () => {
    await running?.close();
    running = undefined;
    logged.length = 0;
  });
}

/** Starts a scripted server that the next `serve` closes, or the end of the test: see {@link closeServerAfterEach}. */
export async function serve(script: Script, options?: ScriptedServerOptions): Promise<ScriptedServer> {
  await running?.close();
  running = await startScriptedServer(script, options);
  return running;
}

export function providerFor(
  server: ScriptedServer,
  options: Partial<OpenAiProviderOptions> = {},
): ChatProvider {
  return createOpenAiProvider({ baseUrl: server.baseUrl, model: 'm', logger, ...options });
}

export interface Outcome {
  readonly events: ProviderEvent[];
  readonly last: ProviderEvent;
}

/** Drains one answer of a new provider. */
export function run(
  server: ScriptedServer,
  options: Partial<OpenAiProviderOptions> = {},
  request: ChatRequest = hello,
  signal = new AbortController().signal,
): Promise<Outcome> {
  return drain(providerFor(server, options).stream(request, signal));
}

/** Drains a stream and checks its contract: one final event, nothing after it, no rejection, and no key anywhere. */
export async function drain(stream: AsyncIterable<ProviderEvent>): Promise<Outcome> {
  const events: ProviderEvent[] = [];
  for await (const event of stream) events.push(event);
  const endings = events.filter(
    event => event.type === 'done' || event.type === 'error' || event.type === 'aborted',
  );
  const last = events.at(-1);
  assert.equal(endings.length, 1);
  assert.ok(last && endings[0] === last);
  assert.ok(!JSON.stringify([events, logged]).includes(KEY), 'the key leaked');
  return { events, last };
}

/** The failure that an answer ended with; fails if it did not. */
export function failureIn({ last }: Outcome): ProviderFailure {
  assert.ok(last.type === 'error', JSON.stringify(last));
  return last.failure;
}

/** A port that no process listens on. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>(done => probe.listen(0, '127.0.0.1', done));
  const { port } = probe.address() as AddressInfo;
  await new Promise(done => probe.close(done));
  return port;
}
