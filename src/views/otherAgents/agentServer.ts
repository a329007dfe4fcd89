import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { detailOf } from '../../agent/base/errors.ts';
import { McpHttpServer, type ServerAddress } from '../../agent/clients/mcp/httpServer.ts';
import { announceWindow, realPathOf, windowsFolder } from '../../agent/clients/windowFiles.ts';
import type { Agent } from '../agent.ts';

/** What the server of a window needs. */
export interface AgentServerParts extends Pick<
  Agent,
  | 'store'
  | 'invoker'
  | 'overlay'
  | 'l10n'
  | 'tools'
  | 'workspace'
  | 'logger'
  | 'settings'
  | 'session'
  | 'ownsStorage'
> {
  readonly context: Pick<vscode.ExtensionContext, 'extension' | 'extensionPath' | 'globalStorageUri'>;
}

/** The running MCP server of this window, and the word that it leaves for the programs of agents. */
export class AgentServer {
  readonly #parts: AgentServerParts;
  readonly #server: McpHttpServer;
  readonly #startedAt = new Date().toISOString();
  readonly #following: vscode.Disposable;
  #withdraw: (() => Promise<void>) | undefined;
  #isAnnounced = false;

  private constructor(parts: AgentServerParts, server: McpHttpServer) {
    this.#parts = parts;
    this.#server = server;
    this.#following = vscode.workspace.onDidChangeWorkspaceFolders(() => {
      if (this.#isAnnounced) void this.announce();
    });
  }

  /** @throws the error of the system if it cannot listen. */
  static async start(parts: AgentServerParts): Promise<AgentServer> {
    const { settings, session } = parts;
    const host = {
      ...parts,
      authority: () => settings.modelAuthority,
      isPlanning: () => session.planMode,
    };
    const server = await McpHttpServer.start(host, versionOf(parts));
    parts.logger.info(`Agents can connect at 127.0.0.1:${server.address.port}.`);
    return new AgentServer(parts, server);
  }

  get address(): ServerAddress {
    return this.#server.address;
  }

  /** Lets `redline-mcp` find this window. A failure is logged: agents of VS Code itself do not need it. */
  async announce(): Promise<void> {
    this.#isAnnounced = true;
    const { ownsStorage, logger } = this.#parts;
    try {
      await placeBridge(this.#parts);
      const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
      this.#withdraw = await announceWindow(windowsFolder(homedir()), {
        ...this.#server.address,
        pid: process.pid,
        folders: await Promise.all(folders.map(({ uri }) => realPathOf(uri.fsPath))),
        keepsPreviews: ownsStorage,
        startedAt: this.#startedAt,
      });
    } catch (error) {
      logger.error(`Agents of other programs cannot find this window: ${detailOf(error)}`);
    }
  }

  /** Ends all connections; what was proposed stays pending. Never rejects. */
  async close(): Promise<void> {
    this.#isAnnounced = false;
    this.#following.dispose();
    await this.#withdraw?.();
    await this.#server.close();
  }
}

/** Where `redline-mcp` is for agents: a place that stays when the extension is updated. */
export function bridgeFile(globalStorage: vscode.Uri): string {
  return path.join(globalStorage.fsPath, 'redline-mcp.cjs');
}

/** Puts this version of `redline-mcp` where agents start it. One that runs keeps the version that it has loaded. */
async function placeBridge({ context }: Pick<AgentServerParts, 'context'>): Promise<void> {
  const source = path.join(context.extensionPath, 'dist', 'redline-mcp.cjs');
  const file = bridgeFile(context.globalStorageUri);
  const [own, placed] = await Promise.all([readFile(source), readFile(file).catch(() => undefined)]);
  if (placed?.equals(own)) return;
  await mkdir(path.dirname(file), { recursive: true });
  await copyFile(source, file);
}

export function versionOf({ context }: Pick<AgentServerParts, 'context'>): string {
  return String((context.extension.packageJSON as { readonly version?: unknown }).version);
}
