import { existsSync } from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { Owner } from '../../agent/base/disposable.ts';
import { detailOf, messageOf } from '../../agent/base/errors.ts';
import type { AgentViews } from '../../agent/clients/view/agentViews.ts';
import type { LedgerEntry } from '../../agent/hold/preview/ledger.ts';
import { titleOf } from '../../agent/hold/preview/preview.ts';
import {
  contextKeys,
  MCP_LABEL,
  MCP_PROVIDER,
  languageModelTools,
  type LanguageModelToolName,
} from '../contributions.ts';
import type { AgentServer, AgentServerParts } from './agentServer.ts';
import { showError, showInfo } from '../toast.ts';
import type { ProposalParts } from './proposal.ts';
import { ServerLife } from './serverLife.ts';

/**
 * Lets other agents propose changes: agents in VS Code through language model tools or MCP, agents in other programs through MCP.
 * Nothing listens until one of them asks for the server, or a setting says that agents may connect.
 */
export class OtherAgents extends Owner {
  readonly parts: AgentServerParts;
  readonly #life = new ServerLife<AgentServer, AgentViews>({
    server: async () => {
      const { AgentServer } = await import('./agentServer.ts');
      return AgentServer.start(
        this.parts,
        (socket, id) => void this.views().then(views => views.serve(socket, id)),
      );
    },
    views: async () => (await import('./windowViews.ts')).windowViews(this.parts),
  });
  /** Whether agents of other programs may connect. */
  #isAllowed = false;

  constructor(parts: AgentServerParts) {
    super();
    this.parts = parts;
    parts.closing.add(() => this.#life.close());
    this.own(registerLanguageModelTools(parts));
    this.own(vscode.lm.registerMcpServerDefinitionProvider(MCP_PROVIDER, this.#definitions()));
    this.own(parts.settings.onDidChange(() => this.#follow()));
    this.own(parts.store.onDidResolve(entries => entries.forEach(entry => void this.#followSetUp(entry))));
    this.#follow();
    void this.#recover();
  }

  /** Starts the server, if it does not run. */
  start(): Promise<AgentServer> {
    return this.#life.server();
  }

  /** The views in which agents work. */
  views(): Promise<AgentViews> {
    return this.#life.views();
  }

  /** Lets new terminals of this window find its views. No server is started for them. @returns the file that tells them */
  async terminalFile(): Promise<string> {
    const { placePrograms } = await import('./agentServer.ts');
    await placePrograms(this.parts.context);
    return (await this.views()).terminalFile();
  }

  /** Recovers changes that agents left in views, and reconnects agents still at work in terminals. Never rejects. */
  async #recover(): Promise<void> {
    const { context, ownsStorage, logger } = this.parts;
    const folder = path.join((context.storageUri ?? context.globalStorageUri).fsPath, 'views');
    if (!existsSync(folder)) return;
    try {
      const { recoverViews } = await import('./windowViews.ts');
      await recoverViews(await this.views(), folder, ownsStorage);
    } catch (error) {
      logger.error(`What agents have written could not be taken: ${detailOf(error)}`);
    }
  }

  #follow(): void {
    const isAllowed = this.parts.settings.agentsEnabled;
    // VS Code's own agents may have asked for the server without the setting: then a change of settings does not stop it.
    if (isAllowed !== this.#isAllowed) {
      this.#isAllowed = isAllowed;
      const change = isAllowed ? this.start().then(server => server.announce()) : this.#stopServer();
      change.catch((error: unknown) => {
        this.parts.logger.error(`The server for other agents does not run: ${detailOf(error)}`);
      });
    }
  }

  /** Lets agents connect once the user has applied a change that connects one, or a part of it. Never rejects. */
  async #followSetUp({ previewId, actor, outcome }: LedgerEntry): Promise<void> {
    const { store, settings, logger } = this.parts;
    const preview = store.get(previewId);
    if (preview?.purpose !== 'setUp' || preview.undoes || actor !== 'human' || outcome !== 'applied') return;
    try {
      await settings.setAgentsEnabled(true);
    } catch (error) {
      logger.error(`Agents cannot connect: ${detailOf(error)}`);
      return void showError(
        vscode.l10n.t(
          'Applied: {0}. Agents still cannot connect: turn on redline.agents.enabled. VS Code says: {1}',
          titleOf(preview),
          messageOf(error),
        ),
      );
    }
    if (preview.part) return;
    void showInfo(
      vscode.l10n.t(
        'Applied: {0}. Start the agent in its folder, or restart it; approve the server “redline” and trust the folder if it asks.',
        titleOf(preview),
      ),
    );
  }

  async #stopServer(): Promise<void> {
    if (this.#life.hasServer) showLanguageModelTools(true);
    await this.#life.stopServer();
  }

  #definitions(): vscode.McpServerDefinitionProvider<vscode.McpHttpServerDefinition> {
    const definition = (port?: number, headers?: Record<string, string>): vscode.McpHttpServerDefinition => {
      const authority = port === undefined ? '127.0.0.1' : `127.0.0.1:${port}`;
      return new vscode.McpHttpServerDefinition(
        MCP_LABEL,
        vscode.Uri.from({ scheme: 'http', authority, path: '/mcp' }),
        headers,
      );
    };
    return {
      provideMcpServerDefinitions: () => [definition()],
      resolveMcpServerDefinition: async () => {
        const { port, token } = (await this.start()).address;
        // These tools would duplicate those of the server.
        showLanguageModelTools(false);
        return definition(port, { Authorization: `Bearer ${token}` });
      },
    };
  }
}

function showLanguageModelTools(shown: boolean): void {
  void vscode.commands.executeCommand('setContext', contextKeys.usesMcp, !shown);
}

/**
 * Registers tools for the agents of VS Code and of other extensions. A call stages a preview, waits until the user resolves it in
 * Redline, and returns the outcome. Redline's own session is not involved.
 */
export function registerLanguageModelTools(parts: ProposalParts): vscode.Disposable {
  const names = Object.keys(languageModelTools) as LanguageModelToolName[];
  return vscode.Disposable.from(
    ...names.map(name =>
      vscode.lm.registerTool(name, {
        prepareInvocation: () => ({
          invocationMessage: vscode.l10n.t('Waiting for your Apply or Discard in Redline'),
        }),
        invoke: async ({ input }, token) => {
          const { propose } = await import('./proposal.ts');
          const text = await propose(name, input, token, parts);
          return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(text)]);
        },
      }),
    ),
  );
}
