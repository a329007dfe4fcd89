import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { detailOf } from '../../agent/base/errors.ts';
import { replaceFile, syncFile } from '../../agent/base/system/replaceFile.ts';
import { McpHttpServer, type ServeView } from '../../agent/clients/mcp/httpServer.ts';
import type { ServerAddress } from '../../agent/clients/mcp/proof.ts';
import { realPathOf, windowsFolder, WindowWord } from '../../agent/clients/windowFiles.ts';
import type { ReviewComment } from '../../agent/hold/preview/reviewComments.ts';
import type { Agent } from '../agent.ts';

/** Dependencies of a window's server. */
export interface AgentServerParts extends Agent {
  readonly context: vscode.ExtensionContext;
  readonly sentComments: () => readonly ReviewComment[];
  readonly answerComment: (id: string, text: string) => void;
}

/** The running MCP server of this window, and the file through which the programs of agents find it. */
export class AgentServer {
  readonly #parts: AgentServerParts;
  readonly #server: McpHttpServer;
  readonly #startedAt = new Date().toISOString();
  readonly #following: vscode.Disposable;
  readonly #word: WindowWord;
  #isAnnounced = false;

  private constructor(parts: AgentServerParts, server: McpHttpServer) {
    this.#parts = parts;
    this.#server = server;
    this.#word = new WindowWord(windowsFolder(homedir()), parts.takingOver);
    this.#following = vscode.workspace.onDidChangeWorkspaceFolders(() => {
      if (this.#isAnnounced) void this.announce();
    });
  }

  /** @param views serves `redline-run`. @throws the error of the system if it cannot listen. */
  static async start(parts: AgentServerParts, views: ServeView): Promise<AgentServer> {
    const { settings, session } = parts;
    const host = {
      ...parts,
      folders: () => parts.workspace.folderRoots(),
      authority: () => settings.modelAuthority,
      isPlanning: () => session.planMode,
    };
    const server = await McpHttpServer.start(host, versionOf(parts), views);
    parts.logger.info(`Agents can connect at 127.0.0.1:${server.address.port}.`);
    return new AgentServer(parts, server);
  }

  get address(): ServerAddress {
    return this.#server.address;
  }

  /** Lets `redline-mcp` find this window. A failure is logged: agents of VS Code itself do not need it. */
  async announce(): Promise<void> {
    this.#isAnnounced = true;
    const { keepsPreviews, logger, context } = this.#parts;
    const storage = context.storageUri?.fsPath;
    try {
      await placePrograms(context);
      await this.#word.leave(async () => {
        const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
        return {
          ...this.#server.address,
          pid: process.pid,
          folders: await Promise.all(folders.map(({ uri }) => realPathOf(uri.fsPath))),
          keepsPreviews,
          storage,
          startedAt: this.#startedAt,
        };
      });
    } catch (error) {
      logger.error(`Agents of other programs cannot find this window: ${detailOf(error)}`);
    }
  }

  /** Closes all connections; proposals stay pending. Never rejects. */
  async close(): Promise<void> {
    this.#isAnnounced = false;
    this.#following.dispose();
    await this.#word.remove();
    await this.#server.close();
  }
}

/** The programs that agents start, to connect to a window and before each tool, and the one that starts agents. */
const PROGRAMS = ['redline-mcp', 'redline-gate', 'redline-run'] as const;

/**
 * Installs this version of the programs at the paths that agents start. A running one keeps the version that it loaded. No agent ever
 * finds a part of one: an empty gate would refuse nothing.
 */
export async function placePrograms({
  extensionPath,
  globalStorageUri,
}: vscode.ExtensionContext): Promise<void> {
  for (const name of PROGRAMS) {
    const file = programFile(globalStorageUri, name);
    const own = await readFile(path.join(extensionPath, 'dist', `${name}.cjs`));
    const placed = await readFile(file).catch(() => undefined);
    if (placed?.equals(own)) continue;
    await mkdir(path.dirname(file), { recursive: true });
    const draft = `${file}.${randomUUID()}`;
    try {
      await writeFile(draft, own);
      await syncFile(draft, () => undefined);
      await replaceFile(draft, file);
    } finally {
      await rm(draft, { force: true });
    }
  }
}

/** Path of a program for other programs to call: it stays the same when the extension is updated. */
export function programFile(globalStorage: vscode.Uri, name: (typeof PROGRAMS)[number]): string {
  return path.join(globalStorage.fsPath, `${name}.cjs`);
}

export function versionOf({ context }: AgentServerParts): string {
  return String((context.extension.packageJSON as { readonly version?: unknown }).version);
}
