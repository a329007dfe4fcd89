import { randomUUID } from 'node:crypto';
import type { Server, Transport } from '@modelcontextprotocol/server';
import { detailOf } from '../../base/errors.ts';
import type { AgentClient, ClientHost } from '../agentClient.ts';
import { WebStandardStreamableHTTPServerTransport } from './sdk.ts';
import { agentIn, toolsOf, type KnownAgent } from './servedAgent.ts';
import { toolServer } from './toolServer.ts';

/** One connection of an agent that speaks the protocol of 2025, by default over streamable HTTP. */
export class McpSession {
  /** The protocol's id of the session. */
  readonly id = randomUUID();
  readonly #agentId: string | undefined;
  readonly #server: Server;
  readonly #transport: WebStandardStreamableHTTPServerTransport;
  #client: AgentClient | undefined;

  private constructor(host: ClientHost, version: string, known: Partial<KnownAgent>) {
    this.#agentId = known.id;
    this.#server = toolServer(
      version,
      toolsOf(client => (this.#client ??= agentIn(host, { ...known, id: this.agentId }, client))),
    );
    this.#transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => this.id });
    this.#server.onerror = error => host.logger.debug(`MCP session ${this.id}: ${detailOf(error)}`);
  }

  /**
   * @param version that of Redline
   * @param known the agent, if it is not a new one
   * @param over the connection, if it is not HTTP
   */
  static async start(
    host: ClientHost,
    version: string,
    known: Partial<KnownAgent> = {},
    over?: Transport,
  ): Promise<McpSession> {
    const session = new McpSession(host, version, known);
    await session.#server.connect(over ?? session.#transport);
    return session;
  }

  /** The agent's identity; by default the id of the session. */
  get agentId(): string {
    return this.#agentId ?? this.id;
  }

  /** @param body the message, if the request has one. */
  handle(request: Request, body?: unknown): Promise<Response> {
    return this.#transport.handleRequest(request, body === undefined ? {} : { parsedBody: body });
  }

  /** Ends the connection. The agent's proposals stay pending. */
  async close(): Promise<void> {
    this.#client?.dispose();
    await this.#server.close();
  }
}
