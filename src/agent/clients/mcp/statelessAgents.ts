import type { McpHttpHandler } from '@modelcontextprotocol/server';
import { detailOf } from '../../base/errors.ts';
import { sha256 } from '../../base/hash.ts';
import type { AgentClient, ClientHost } from '../agentClient.ts';
import { agentNameOf } from '../agentName.ts';
import { createMcpHandler } from './sdk.ts';
import { agentIn, toolsOf } from './servedAgent.ts';
import { toolServer, type ClientInfo } from './toolServer.ts';

/** The header in which an agent can tell which one it is, if several with one name work side by side. */
export const AGENT_HEADER = 'redline-agent';
const HANDLE = /^[\w-]{8,64}$/;

/**
 * The most agents that are remembered. Beyond that, the least recently used one is forgotten, and hears no more of earlier
 * decisions.
 */
const MAX_AGENTS = 100;

/**
 * Agents that speak the stateless protocol of 2026-07-28, in which connections do not tell agents apart. An agent is who it says it
 * is: by the header {@link AGENT_HEADER}, else by its name. So it goes on with its previews after any pause.
 */
export class StatelessAgents {
  readonly #host: ClientHost;
  readonly #handler: McpHttpHandler;
  /** By identity, the most recently used last. */
  readonly #agents = new Map<string, AgentClient>();

  /** @param version that of Redline. */
  constructor(host: ClientHost, version: string) {
    this.#host = host;
    this.#handler = createMcpHandler(
      ({ requestInfo }) =>
        toolServer(
          version,
          toolsOf(client => this.#agent(requestInfo?.headers.get(AGENT_HEADER) ?? '', client)),
        ),
      {
        legacy: 'reject',
        onerror: error => host.logger.debug(`MCP without a session: ${detailOf(error)}`),
      },
    );
  }

  /** @param body the message. */
  handle(request: Request, body: unknown): Promise<Response> {
    return this.#handler.fetch(request, { parsedBody: body });
  }

  /** Ends all calls. Proposals stay pending. */
  async close(): Promise<void> {
    for (const agent of this.#agents.values()) agent.dispose();
    this.#agents.clear();
    await this.#handler.close();
  }

  #agent(handle: string, client: ClientInfo): AgentClient {
    const id = HANDLE.test(handle) ? handle : sha256(Buffer.from(agentNameOf(client).name)).slice(0, 32);
    const agent = this.#agents.get(id) ?? agentIn(this.#host, { id }, client);
    this.#agents.delete(id);
    this.#agents.set(id, agent);
    const [oldest] = this.#agents;
    if (this.#agents.size > MAX_AGENTS && oldest) {
      this.#agents.delete(oldest[0]);
      oldest[1].dispose();
    }
    return agent;
  }
}
