import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort, Worker } from 'node:worker_threads';

/**
 * An OpenAI-compatible server in a thread of its own that answers without delay: to a request with tools by a call of
 * `read_file`, as often as it was told to, and otherwise by text.
 */
export interface TurnServer {
  readonly baseUrl: string;
  /** From now on the next `calls` requests with tools are answered by a call. */
  expect(calls: number): Promise<void>;
  /**
   * The times between the arrivals of two requests since `expect`, in milliseconds. Only gaps after a call count, from when
   * its answer began to when the next request had arrived in full.
   */
  turns(): Promise<readonly number[]>;
  close(): Promise<void>;
}

type Order = { readonly expect: number } | 'turns' | 'close';

export async function startTurnServer(): Promise<TurnServer> {
  const worker = new Worker(new URL(import.meta.url), { argv: ['serve'] });
  const next = <T>(): Promise<T> => new Promise(resolve => worker.once('message', resolve));
  const ask = async <T>(order: Order): Promise<T> => {
    const answer = next<T>();
    worker.postMessage(order);
    return answer;
  };
  const port = await next<number>();
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    expect: calls => ask({ expect: calls }),
    turns: () => ask('turns'),
    close: async () => {
      await ask('close');
      await worker.terminate();
    },
  };
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
    if (incoming.method === 'GET') return void response.end(JSON.stringify({ data: [{ id: 'm' }] }));
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
  parentPort?.on('message', (order: Order) => {
    if (order === 'close') {
      server.closeAllConnections();
      server.close(() => parentPort?.postMessage('closed'));
    } else if (order === 'turns') parentPort?.postMessage(turns);
    else {
      calls = order.expect;
      turns = [];
      parentPort?.postMessage('ready');
    }
  });
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
