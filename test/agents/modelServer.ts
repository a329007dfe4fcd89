import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  wireFormats,
  type Call,
  type CalledStep,
  type Json,
  type ModelRequest,
  type Step,
} from './wireFormats.ts';

/**
 * Decides what the model says next: `results` are those of its calls so far, the oldest first; `offers` tells whether the agent
 * has a tool.
 */
export type Script = (
  results: readonly string[],
  offers: (tool: string) => boolean,
  request: ModelRequest,
) => Promise<Step>;

/** How often the model pauses at most. */
const MAX_PAUSES = 30;
/** The tools of Redline that scripts call. Agents put the name of the server before them; tools of their own may end alike. */
const SERVED: readonly string[] = ['propose_edit', 'status'];

/**
 * A model on this machine that does what a script says, for agents of all three formats. Requests that do not
 * offer a tool of the script, such as those for a title, get a short answer.
 */
export class ModelServer {
  readonly #server: http.Server;
  readonly #script: Script;
  readonly #pause: Call;
  /** A tool that every request of the script offers. */
  readonly #tool: string;
  /** One line for each request, for whoever looks for the reason of a failure. */
  readonly log: string[] = [];
  /** Why the script failed. */
  error: Error | undefined;
  #lastId = 0;
  #pauses = 0;

  private constructor(tool: string, pause: Call, script: Script) {
    this.#tool = tool;
    this.#pause = pause;
    this.#script = script;
    this.#server = http.createServer((request, response) => void this.#answer(request, response));
  }

  /** @param pause what the model does while the agent does not offer `tool` yet: some begin before their servers have started. */
  static async start(tool: string, pause: Call, script: Script): Promise<ModelServer> {
    const server = new ModelServer(tool, pause, script);
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
    const written = format.write(step, `call_${++this.#lastId}`, body);
    if ('body' in written) return respond(response, written.body);
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    for (const event of written.events) {
      const name = format.isNamed ? `event: ${(event as { type: string }).type}\n` : '';
      response.write(`${name}data: ${JSON.stringify(event)}\n\n`);
    }
    response.end(format.end === undefined ? '' : `data: ${format.end}\n\n`);
  }

  async #stepFor(request: ModelRequest): Promise<CalledStep> {
    const { tools, results } = request;
    if (this.error) return { text: 'The script has failed.' };
    try {
      const offered = (tool: string): ModelRequest['tools'][number] | undefined =>
        tools.find(({ name }) =>
          SERVED.includes(tool)
            ? name.endsWith(`_${tool}`) || name.endsWith(`-${tool}`) || name === tool
            : name === tool,
        );
      const isMain = offered(this.#tool) ?? (results.length === this.#pauses && offered(this.#pause.tool));
      if (!isMain || this.#pauses > MAX_PAUSES) return { text: 'Nothing to do.' };
      if (!offered(this.#tool)) this.#pauses++;
      const step = !offered(this.#tool)
        ? this.#pause
        : await this.#script(results.slice(this.#pauses), tool => offered(tool) !== undefined, request);
      if ('text' in step) {
        return step;
      }
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
