import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod/mini';
import type { Disposable } from '../../../base/disposable.ts';
import { detailOf, messageOf, ToolError } from '../../../base/errors.ts';
import type { HttpSession } from '../../mcp/httpServer.ts';
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  Server,
  StreamableHTTPServerTransport,
} from '../../mcp/sdk.ts';
import type { CompanionHost } from '../companionHost.ts';
import { argumentsOf } from '../argumentsOf.ts';
import { ProposedDiffs } from '../proposedDiffs.ts';
import { contextOf } from './contextUpdate.ts';

/** See `CompanionHost.silenceMs`. */
const MAX_SILENCE_MS = 10_000;
/** How often an idle stream is used, in milliseconds, before something in between ends it. */
const KEEP_ALIVE_MS = 60_000;
/** For how long changes in the editor are gathered before they are told, in milliseconds. */
const GATHER_MS = 100;

const openDiffArguments = z.object({ filePath: z.string(), newContent: z.string() });
const closeDiffArguments = z.object({ filePath: z.string() });

const text = { type: 'string' } as const;
const tools = [
  {
    name: 'openDiff',
    description: 'Shows a proposed change of a file for review. The answer comes as a notification.',
    inputSchema: {
      type: 'object' as const,
      properties: { filePath: text, newContent: text },
      required: ['filePath', 'newContent'],
    },
  },
  {
    name: 'closeDiff',
    description: 'Ends the review of a change that was answered elsewhere, and returns the reviewed text.',
    inputSchema: {
      type: 'object' as const,
      properties: { filePath: text, suppressNotification: { type: 'boolean' as const } },
      required: ['filePath'],
    },
  },
];

/** One connection of Gemini CLI or Qwen Code. */
export class GeminiSession implements HttpSession {
  readonly id = randomUUID();
  readonly agentId = this.id;
  readonly #host: CompanionHost;
  readonly #agent: string;
  readonly #server: Server;
  readonly #transport: StreamableHTTPServerTransport;
  readonly #diffs: ProposedDiffs;
  readonly #following: Disposable;
  readonly #keepAlive: NodeJS.Timeout;
  /** How many streams are open on which the agent can be told something: one, or two while it connects again. */
  #streams = 0;
  #isClosed = false;
  #silence: NodeJS.Timeout | undefined;
  #gathering: NodeJS.Timeout | undefined;

  private constructor(host: CompanionHost, agent: string) {
    this.#host = host;
    this.#agent = agent;
    this.#server = new Server(
      { name: 'redline', title: 'Redline', version: host.version },
      { capabilities: { tools: {} } },
    );
    this.#transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => this.id });
    this.#server.onerror = error => host.logger.debug(`${agent}, session ${this.id}: ${detailOf(error)}`);
    this.#diffs = new ProposedDiffs(host, { id: `${this.id}`, agent: { name: agent, version: '' } });
    this.#following = host.editor.onDidChange(() => this.#tellContextSoon());
    this.#keepAlive = setInterval(() => this.#ping(), KEEP_ALIVE_MS).unref();
  }

  static async start(host: CompanionHost, agent: string): Promise<GeminiSession> {
    const session = new GeminiSession(host, agent);
    session.#server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
    session.#server.setRequestHandler(CallToolRequestSchema, ({ params }) =>
      session.#call(params.name, params.arguments),
    );
    await session.#server.connect(session.#transport);
    return session;
  }

  async handle(request: IncomingMessage, response: ServerResponse, body?: unknown): Promise<void> {
    if (request.method === 'GET') this.#followStream(response);
    await this.#transport.handleRequest(request, response, body);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#silence);
    clearTimeout(this.#gathering);
    clearInterval(this.#keepAlive);
    this.#following.dispose();
    this.#diffs.dispose();
    await this.#server.close();
  }

  /** An agent that ends closes its stream. So does one that connects again. */
  #followStream(response: ServerResponse): void {
    this.#streams++;
    clearTimeout(this.#silence);
    this.#tellContextSoon();
    response.once('close', () => {
      this.#streams--;
      if (this.#streams > 0 || this.#isClosed) return;
      this.#silence = setTimeout(
        () => this.#diffs.expireAll(`${this.#agent} has ended, or lost its connection.`),
        this.#host.silenceMs ?? MAX_SILENCE_MS,
      );
    });
  }

  async #call(name: string, args: unknown): Promise<CallToolResult> {
    try {
      if (name === 'openDiff') return await this.#openDiff(argumentsOf(openDiffArguments, args));
      if (name === 'closeDiff') return this.#closeDiff(argumentsOf(closeDiffArguments, args));
      throw new ToolError(`There is no tool ${name.slice(0, 100)}.`);
    } catch (error) {
      if (!(error instanceof ToolError))
        this.#host.logger.error(`${name} of ${this.#agent} failed: ${detailOf(error)}`);
      return { content: [{ type: 'text', text: messageOf(error) }], isError: true };
    }
  }

  async #openDiff({ filePath, newContent }: z.infer<typeof openDiffArguments>): Promise<CallToolResult> {
    await this.#diffs.propose(
      { key: filePath, file: filePath, text: newContent },
      {
        accept: content => {
          if (this.#streams === 0)
            throw new ToolError(`${this.#agent} does not listen at the moment. Nothing was sent; try again.`);
          this.#notify('ide/diffAccepted', { filePath, content });
        },
        reject: () => this.#notify('ide/diffRejected', { filePath }),
      },
    );
    return { content: [] };
  }

  #closeDiff({ filePath }: z.infer<typeof closeDiffArguments>): CallToolResult {
    const content = this.#diffs.answeredInTerminal(filePath) ?? null;
    return { content: [{ type: 'text', text: JSON.stringify({ content }) }] };
  }

  #tellContextSoon(): void {
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      this.#tellContext();
    }, GATHER_MS);
  }

  #tellContext(): void {
    if (this.#streams > 0) this.#notify('ide/contextUpdate', contextOf(this.#host.editor));
  }

  #notify(method: string, params: Record<string, unknown>): void {
    this.#server.notification({ method, params }).catch((error: unknown) => {
      this.#host.logger.debug(`${this.#agent} was not told ${method}: ${messageOf(error)}`);
    });
  }

  #ping(): void {
    if (this.#streams > 0) this.#server.ping().catch(() => undefined); // it has ended, which its stream tells
  }
}
