import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir } from 'node:os';
import * as path from 'node:path';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { detailOf } from '../../../base/errors.ts';
import { newToken, refusalOf } from '../../mcp/access.ts';
import { MAX_BODY_BYTES } from '../../mcp/requestBody.ts';
import type { CompanionHost, RunningCompanion } from '../companionHost.ts';
import { leaveWord, removeLeftWord } from '../discoveryFiles.ts';
import { ClaudeSession } from './claudeSession.ts';

/** The header with the token. */
const TOKEN_HEADER = 'x-claude-code-ide-authorization';
/** The most connections at once. More are refused: each is a terminal with an agent. */
const MAX_CONNECTIONS = 50;

/** The companion of Claude Code: MCP over a WebSocket. */
export class ClaudeCompanion implements RunningCompanion {
  readonly #host: CompanionHost;
  readonly #token = newToken();
  readonly #server = http.createServer((_, response) => response.writeHead(426).end());
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_BODY_BYTES,
    perMessageDeflate: false,
    handleProtocols: protocols => (protocols.has('mcp') ? 'mcp' : false),
  });
  readonly #sessions = new Set<ClaudeSession>();
  #withdraw: () => Promise<void> = () => Promise.resolve();

  private constructor(host: CompanionHost) {
    this.#host = host;
    this.#server.on('upgrade', (request: http.IncomingMessage, socket: Duplex, head: Buffer) =>
      this.#upgrade(request, socket, head),
    );
  }

  static async start(host: CompanionHost): Promise<ClaudeCompanion> {
    const companion = new ClaudeCompanion(host);
    await new Promise<void>((resolve, reject) => {
      companion.#server.once('error', reject);
      companion.#server.listen(0, '127.0.0.1', resolve);
    });
    return companion;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  environment(): Readonly<Record<string, string>> {
    return { CLAUDE_CODE_SSE_PORT: String(this.port), ENABLE_IDE_INTEGRATION: 'true' };
  }

  async announce(): Promise<void> {
    const folder = lockFolder();
    await removeLeftWord(folder);
    this.#withdraw = await leaveWord({
      file: path.join(folder, `${this.port}.lock`),
      content: {
        workspaceFolders: this.#host.folders(),
        ideName: 'VS Code (Redline)',
        transport: 'ws',
        authToken: this.#token,
      },
    });
  }

  async close(): Promise<void> {
    await this.#withdraw();
    const closed = new Promise<void>(resolve => this.#server.close(() => resolve()));
    await Promise.allSettled([...this.#sessions].map(session => session.close()));
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#server.closeAllConnections();
    await closed;
  }

  #upgrade(request: http.IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const { [TOKEN_HEADER]: token, ...headers } = request.headers;
    const authorization = typeof token === 'string' ? `Bearer ${token}` : undefined;
    const refusal =
      refusalOf({ ...headers, ...(authorization ? { authorization } : {}) }, this.port, this.#token) ??
      (this.#sessions.size >= MAX_CONNECTIONS
        ? { status: 503, reason: 'Too many agents are connected.' }
        : undefined);
    if (refusal) {
      socket.end(`HTTP/1.1 ${refusal.status} Refused\r\nConnection: close\r\n\r\n${refusal.reason}`);
      return;
    }
    this.#sockets.handleUpgrade(request, socket, head, client => void this.#begin(client));
  }

  async #begin(client: WebSocket): Promise<void> {
    try {
      const session = await ClaudeSession.start(this.#host, client);
      this.#sessions.add(session);
      client.once('close', () => this.#sessions.delete(session));
    } catch (error) {
      this.#host.logger.error(`A connection of Claude Code failed: ${detailOf(error)}`);
      client.terminate();
    }
  }
}

/** Where Claude Code looks for editors. */
function lockFolder(): string {
  return path.join(process.env['CLAUDE_CONFIG_DIR'] ?? path.join(homedir(), '.claude'), 'ide');
}
