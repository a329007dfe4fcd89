import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { detailOf } from '../../base/errors.ts';
import { AgentClient, type ClientHost } from '../agentClient.ts';
import { agentNameOf } from '../agentName.ts';
import { INSTRUCTIONS } from '../clientTools.ts';
import { mcpToolOf } from './mcpTool.ts';
import { HEARD } from './names.ts';
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  Server,
  StreamableHTTPServerTransport,
} from './sdk.ts';

export interface McpSessionOptions {
  readonly host: ClientHost;
  /** The version of Redline. */
  readonly version: string;
  /** What tells the agent from all others; by default the session is one of its own. */
  readonly id?: string | undefined;
  /** See `ClientIdentity.heard`. */
  readonly heard?: number | undefined;
}

/** One connection of an agent, by default over streamable HTTP. */
export class McpSession {
  /** The protocol's id of the session. */
  readonly id = randomUUID();
  readonly #options: McpSessionOptions;
  readonly #server: Server;
  readonly #transport: StreamableHTTPServerTransport;
  #client: AgentClient | undefined;

  private constructor(options: McpSessionOptions) {
    this.#options = options;
    this.#server = new Server(
      { name: 'redline', title: 'Redline', version: options.version },
      { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
    );
    this.#transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => this.id });
    this.#server.onerror = error => options.host.logger.debug(`MCP session ${this.id}: ${detailOf(error)}`);
  }

  /** @param over the connection, if it is not HTTP. */
  static async start(options: McpSessionOptions, over?: Transport): Promise<McpSession> {
    const session = new McpSession(options);
    session.#serve();
    // Its handlers may be undefined, which the type of a transport does not say.
    await session.#server.connect(over ?? session.#transport);
    return session;
  }

  /** What tells this agent from all others. */
  get agentId(): string {
    return this.#options.id ?? this.id;
  }

  /** @param body the message, if the request has one. */
  handle(request: IncomingMessage, response: ServerResponse, body?: unknown): Promise<void> {
    return this.#transport.handleRequest(request, response, body);
  }

  /** Ends the connection. What the agent proposed stays pending. */
  async close(): Promise<void> {
    this.#client?.dispose();
    await this.#server.close();
  }

  #serve(): void {
    this.#server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: this.#agent.tools.map(mcpToolOf),
    }));
    this.#server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
      const token = extra._meta?.progressToken;
      let progress = 0;
      const report = (message: string): void =>
        void extra
          .sendNotification({
            method: 'notifications/progress',
            params: { progressToken: token ?? '', progress: ++progress, message },
          })
          .catch(() => undefined); // the agent is gone
      const { name, arguments: args } = params;
      const { text, isError } = await this.#agent.call(
        name,
        args,
        extra.signal,
        token === undefined ? undefined : report,
      );
      return { content: [{ type: 'text', text }], isError, _meta: { [HEARD]: this.#agent.heard } };
    });
  }

  /** The agent, which has told its name by now. */
  get #agent(): AgentClient {
    const { host, heard } = this.#options;
    this.#client ??= new AgentClient(host, {
      id: `agent-${this.agentId}`,
      agent: agentNameOf(this.#server.getClientVersion(), host.l10n),
      ...(heard === undefined ? {} : { heard }),
    });
    return this.#client;
  }
}
