import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Transport } from '@modelcontextprotocol/server';
import { detailOf } from '../../base/errors.ts';
import type { ClientHost } from '../agentClient.ts';
import { MCP_PATH, newToken, refusalOf, type Refusal } from './access.ts';
import { LineTransport } from './lineTransport.ts';
import { McpSession } from './mcpSession.ts';
import { BodyError, readBody } from './message.ts';
import { acceptAgent, type Hello, type ServerAddress } from './proof.ts';
import { isLegacyRequest } from './sdk.ts';
import { StatelessAgents } from './statelessAgents.ts';
import { sendWebResponse, webRequest } from './webRequest.ts';

/** The most connections that are kept. Beyond that, the least recently used one is closed; its agent connects again. */
const MAX_SESSIONS = 100;

/**
 * Serves a program that runs an agent in a view, on a connection that outlives the server.
 * @param id identifies the program, even after it reconnects
 */
export type ServeView = (socket: Duplex, id: string) => void;

/**
 * How long an idle connection is kept open, in milliseconds: longer than clients keep theirs. A request fails if it is sent just as
 * the server closes its connection.
 */
const IDLE_MS = 75_000;

/**
 * The MCP server of one window at 127.0.0.1, on a port that the system chooses. It answers only clients that have the token of the
 * window: over streamable HTTP, with sessions (protocol of 2025) or without (2026), and `redline-mcp` over a connection on which
 * both sides prove that they have it.
 */
export class McpHttpServer {
  readonly #host: ClientHost;
  readonly #version: string;
  readonly #views: ServeView | undefined;
  readonly #token = newToken();
  readonly #server: http.Server;
  /** By the protocol's session id, the most recently used last. */
  readonly #sessions = new Map<string, McpSession>();
  readonly #stateless: StatelessAgents;
  /** Upgraded connections, proven or not yet: the HTTP server does not close them itself. */
  readonly #upgraded = new Set<Duplex>();

  private constructor(host: ClientHost, version: string, views: ServeView | undefined) {
    this.#host = host;
    this.#views = views;
    this.#version = version;
    this.#stateless = new StatelessAgents(host, version);
    const answer: http.RequestListener = (request, response) => void this.#answer(request, response);
    this.#server = http.createServer({ keepAliveTimeout: IDLE_MS }, answer);
    this.#server.on('upgrade', (request, socket, head) => {
      socket.unshift(head);
      void this.#upgrade(request, socket);
    });
  }

  /**
   * @param version that of Redline.
   * @param views serves `redline-run`; by default it is refused.
   * @throws the error of the system if it cannot listen.
   */
  static async start(host: ClientHost, version: string, views?: ServeView): Promise<McpHttpServer> {
    const server = new McpHttpServer(host, version, views);
    await new Promise<void>((resolve, reject) => {
      server.#server.once('error', reject);
      server.#server.listen(0, '127.0.0.1', resolve);
    });
    return server;
  }

  get address(): ServerAddress {
    const { port } = this.#server.address() as AddressInfo;
    return { port, token: this.#token };
  }

  /** Stops listening, and ends all connections but those of views. Proposals stay pending. Never rejects. */
  async close(): Promise<void> {
    this.#server.close();
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.allSettled([...sessions.map(session => session.close()), this.#stateless.close()]);
    for (const socket of this.#upgraded) socket.destroy();
    this.#server.closeAllConnections();
  }

  async #answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    try {
      const { port } = this.address;
      const refusal = refusalOf(request.headers, port, this.#token) ?? wrongPlace(request.url);
      if (refusal) return refuse(response, refusal);
      const body = request.method === 'POST' ? await readBody(request) : undefined;
      const asked = webRequest(request, response, { host: `127.0.0.1:${port}`, path: MCP_PATH });
      const answer = (await isLegacyRequest(asked, body))
        ? await this.#answerInSession(request, asked, body)
        : await this.#stateless.handle(asked, body);
      if (answer instanceof Response) await sendWebResponse(answer, response);
      else refuse(response, answer);
    } catch (error) {
      if (error instanceof BodyError)
        return refuse(response, { status: error.status, reason: error.message });
      // A client that goes away in the middle of a request is not our failure.
      if (request.destroyed || response.destroyed) return;
      this.#host.logger.error(`A request to the MCP server failed: ${detailOf(error)}`);
      refuse(response, { status: 500, reason: 'Redline failed to answer. Its log in VS Code says why.' });
    }
  }

  /** @returns why it is refused, if it is. */
  async #answerInSession(
    request: http.IncomingMessage,
    asked: Request,
    body: unknown,
  ): Promise<Response | Refusal> {
    const session = await this.#sessionOf(request, body);
    if (!(session instanceof McpSession)) return session;
    const answer = await session.handle(asked, body);
    if (request.method === 'DELETE') await this.#end(session);
    return answer;
  }

  /** The session that the request belongs to, or a new one if it is to begin one. */
  async #sessionOf(request: http.IncomingMessage, body: unknown): Promise<McpSession | Refusal> {
    const id = sessionIdOf(request);
    if (id !== undefined) {
      const session = this.#sessions.get(id);
      if (!session) return { status: 404, reason: 'This session has ended. Connect again.' };
      this.#sessions.delete(id);
      this.#sessions.set(id, session);
      return session;
    }
    if (!isInitialize(body)) return { status: 400, reason: 'Send initialize first.' };
    return this.#begin();
  }

  /** Serves `redline-mcp` and `redline-run`. */
  async #upgrade(request: http.IncomingMessage, socket: Duplex): Promise<void> {
    socket.on('error', () => undefined); // the agent is gone
    this.#upgraded.add(socket);
    socket.once('close', () => this.#upgraded.delete(socket));
    const hello = await acceptAgent(request, socket, this.address);
    if (!hello || !this.#server.listening) return void socket.destroy();
    if (hello.protocol === 'redline-view') {
      if (!this.#views) return void socket.destroy();
      this.#upgraded.delete(socket);
      return this.#views(socket, hello.id);
    }
    // An agent that comes back leaves its old connection behind.
    for (const known of this.#sessions.values()) if (known.agentId === hello.id) await this.#end(known);
    const session = await this.#begin(hello, new LineTransport(socket));
    if (socket.destroyed) return this.#end(session);
    socket.once('close', () => void this.#end(session));
  }

  async #begin(known?: Hello, over?: Transport): Promise<McpSession> {
    const session = await McpSession.start(this.#host, this.#version, known, over);
    this.#sessions.set(session.id, session);
    const [oldest] = this.#sessions.values();
    if (this.#sessions.size > MAX_SESSIONS && oldest) await this.#end(oldest);
    return session;
  }

  async #end(session: McpSession): Promise<void> {
    this.#sessions.delete(session.id);
    await session.close();
  }
}

function wrongPlace(url = ''): Refusal | undefined {
  const [path] = url.split('?');
  return path === MCP_PATH ? undefined : { status: 404, reason: `The MCP server is at ${MCP_PATH}.` };
}

function sessionIdOf({ headers }: http.IncomingMessage): string | undefined {
  const value = headers['mcp-session-id'];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function isInitialize(body: unknown): boolean {
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body];
  return messages.some(
    message =>
      typeof message === 'object' &&
      message !== null &&
      'method' in message &&
      message.method === 'initialize',
  );
}

function refuse(response: http.ServerResponse, { status, reason }: Refusal): void {
  if (response.headersSent) return void response.destroy();
  // The rest of an unread body would be taken for the next request.
  response.writeHead(status, { 'Content-Type': 'application/json', Connection: 'close' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message: reason } }));
}
