import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort, Worker } from 'node:worker_threads';
import { turnServerAt, type TurnServer } from './turnClient.ts';

/** Starts one. {@link turnServerAt} reaches it from another process. */
export async function startTurnServer(): Promise<TurnServer & { close(): Promise<void> }> {
  const worker = new Worker(new URL(import.meta.url), { argv: ['serve'] });
  const [port] = (await once(worker, 'message')) as [number];
  const server = turnServerAt(`http://127.0.0.1:${port}/v1`);
  return { ...server, close: async () => void (await worker.terminate()) };
}

/** What the answers consist of, but for the call's id. */
const chunk = (delta: object, end: object = {}): string =>
  `data: ${JSON.stringify({ id: 'a', object: 'chat.completion.chunk', created: 0, model: 'm', choices: [{ index: 0, delta, finish_reason: null, ...end }] })}\n\n`;

function serve(): void {
  let calls = 0;
  let made = 0;
  let answeredAt: number | undefined;
  let turns: number[] = [];
  const server = createServer((incoming, response) => {
    if (incoming.method === 'GET') return void response.end(JSON.stringify(told(incoming.url ?? '')));
    let body = '';
    incoming.setEncoding('utf8').on('data', (text: string) => (body += text));
    incoming.on('end', () => {
      if (answeredAt !== undefined) turns.push(performance.now() - answeredAt);
      const hasCall = body.includes('"tools":[') && calls > 0;
      answeredAt = hasCall ? performance.now() : undefined;
      answer(response, hasCall ? `call_${++made}` : undefined);
      if (hasCall) calls--;
    });
  });
  server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as AddressInfo).port));

  /** Orders, and the list of models. */
  function told(url: string): unknown {
    const [, expected] = /\/expect\/(\d+)$/.exec(url) ?? [];
    if (url.endsWith('/turns')) return turns;
    if (expected === undefined) return { data: [{ id: 'm' }] };
    calls = Number(expected);
    turns = [];
    return {};
  }
}

function answer(response: ServerResponse, id: string | undefined): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const name = { name: 'read_file', arguments: '{"path":"a.ts"}' };
  const delta =
    id === undefined
      ? { content: 'Done.' }
      : { tool_calls: [{ index: 0, id, type: 'function', function: name }] };
  const reason = { finish_reason: id === undefined ? 'stop' : 'tool_calls' };
  response.end(
    `${chunk({ role: 'assistant', content: '' })}${chunk(delta)}${chunk({}, reason)}data: [DONE]\n\n`,
  );
}

if (process.argv[2] === 'serve') serve();
