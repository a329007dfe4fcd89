import * as path from 'node:path';
import type { CompanionHost, RunningCompanion } from '../companionHost.ts';
import { McpHttpServer } from '../../mcp/httpServer.ts';
import { leaveWord, removeLeftWord } from '../discoveryFiles.ts';
import { flavours, type Flavour, type Listening } from './flavours.ts';
import { GeminiSession } from './geminiSession.ts';

/** The companion of Gemini CLI or Qwen Code: MCP over streamable HTTP. */
export class GeminiCompanion implements RunningCompanion {
  readonly #host: CompanionHost;
  readonly #flavour: Flavour;
  readonly #server: McpHttpServer;
  #withdraw: () => Promise<void> = () => Promise.resolve();

  private constructor(host: CompanionHost, flavour: Flavour, server: McpHttpServer) {
    this.#host = host;
    this.#flavour = flavour;
    this.#server = server;
  }

  static async start(id: 'gemini' | 'qwen', host: CompanionHost): Promise<GeminiCompanion> {
    const flavour = flavours[id];
    const server = await McpHttpServer.listen(host.logger, () => GeminiSession.start(host, flavour.agent));
    return new GeminiCompanion(host, flavour, server);
  }

  get port(): number {
    return this.#server.address.port;
  }

  environment(): Readonly<Record<string, string>> {
    return this.#flavour.environment(this.#listening);
  }

  async announce(): Promise<void> {
    const { port, token, workspacePath } = this.#listening;
    await removeLeftWord(this.#flavour.folder());
    this.#withdraw = await leaveWord({
      file: this.#flavour.file(this.#listening),
      content: {
        port,
        workspacePath,
        authToken: token,
        ideInfo: { name: 'vscode', displayName: 'VS Code' },
      },
    });
  }

  async close(): Promise<void> {
    await this.#withdraw();
    await this.#server.close();
  }

  get #listening(): Listening {
    return { ...this.#server.address, workspacePath: this.#host.folders().join(path.delimiter) };
  }
}
