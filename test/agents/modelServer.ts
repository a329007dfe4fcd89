import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { wireFormats, type CalledStep, type Json, type ModelRequest, type Step } from './wireFormats.ts';

/** Decides what the model says next: `results` are those of its calls so far, the oldest first. */
export type Script = (results: readonly string[]) => Promise<Step>;

/**
 * A model on this machine that does what a script says, for agents of all four formats. Requests that do not
 * offer a tool of the script, such as those for a title, get a short answer.
 */
export class ModelServer {
  readonly #server: http.Server;
  readonly #script: Script;
  /** A tool that every request of the script offers. */
  readonly #tool: string;
  /** One line for each request, for whoever looks for the reason of a failure. */
  readonly log: string[] = [];
  /** Why the script failed. */
  error: Error | undefined;
  #lastId = 0;

  private constructor(tool: string, script: Script) {
    this.#tool = tool;
    this.#script = script;
    this.#server = http.createServer((request, response) => void this.#answer(request, response));
  }

  static async start(tool: string, script: Script): Promise<ModelServer> {
    const server = new ModelServer(tool, script);
    await new Promise<void>(resolve => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const [path = ''] = (request.url ?? '').split('?');
    const body: unknown = parsed(Buffer.concat(chunks).toString('utf8'));
    const format = request.method === 'POST' ? wireFormats.find(each => each.matches(path)) : undefined;
    if (!format) {
      this.log.push(`${request.method} ${path}`);
      // Lists of models, counts of tokens, telemetry.
      return respond(response, { object: 'list', data: [], models: [], totalTokens: 10, input_tokens: 10 });
    }
    const asked = format.read(body);
    const step = await this.#stepFor(asked);
    this.log.push(
      `${path} ${asked.tools.map(({ name }) => name).join(' ')}; ${asked.results.length} results -> ${JSON.stringify(step).slice(0, 200)}`,
    );
    const written = format.write(step, `call_${++this.#lastId}`, body, path);
    if ('body' in written) return respond(response, written.body);
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    for (const event of written.events) {
      const name = format.isNamed ? `event: ${(event as { type: string }).type}\n` : '';
      response.write(`${name}data: ${JSON.stringify(event)}\n\n`);
    }
    response.end(format.end === undefined ? '' : `data: ${format.end}\n\n`);
  }

  async #stepFor({ tools, results }: ModelRequest): Promise<CalledStep> {
    if (this.error) return { text: 'The script has failed.' };
    try {
      // Agents put the name of the server before the names of its tools.
      const offered = (tool: string): ModelRequest['tools'][number] | undefined =>
        tools.find(({ name }) => name === tool || name.endsWith(`_${tool}`));
      if (!offered(this.#tool)) return { text: 'Nothing to do.' };
      const step = await this.#script(results);
      if ('text' in step) return step;
      const call = offered(step.tool);
      if (!call) throw new Error(`${step.tool} is not offered.`);
      return { call, args: step.args };
    } catch (error) {
      this.error = error as Error;
      return { text: 'The script has failed.' };
    }
  }
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function respond(response: http.ServerResponse, body: Json): void {
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(body));
}
