import * as vscode from 'vscode';
import { DisposableStore } from '../../agent/base/disposable.ts';
import { detailOf } from '../../agent/base/errors.ts';
import type { Preview } from '../../agent/preview/preview.ts';
import { contextKeys, MCP_LABEL, MCP_PROVIDER } from '../contributions.ts';
import type { Agent } from '../agent.ts';
import type { AgentServer, AgentServerParts } from './agentServer.ts';
import { registerLanguageModelTools } from './languageModelTools.ts';

export interface OtherAgentsParts extends AgentServerParts, Pick<Agent, 'closing' | 'workspace'> {
  readonly context: AgentServerParts['context'] & Pick<vscode.ExtensionContext, 'globalState'>;
}

/**
 * Lets other agents propose changes: those of VS Code with tools of its own or over MCP, those of other programs over MCP.
 * Nothing listens until one of them asks for the server, or a setting says that agents may connect.
 */
export class OtherAgents implements vscode.Disposable {
  readonly #parts: OtherAgentsParts;
  readonly #owned = new DisposableStore();
  #server: Promise<AgentServer> | undefined;
  /** Whether agents of other programs may connect. */
  #isAllowed = false;
  /** The previews of agents' configuration that were applied. */
  readonly #setUps = new Set<string>();
  #settingUp: Promise<void> = Promise.resolve();

  constructor(parts: OtherAgentsParts) {
    this.#parts = parts;
    parts.closing.add(() => this.#stop());
    this.#owned.add(registerLanguageModelTools(parts));
    this.#owned.add(vscode.lm.registerMcpServerDefinitionProvider(MCP_PROVIDER, this.#definitions()));
    this.#owned.add(parts.settings.onDidChange(() => this.#follow()));
    this.#owned.add(parts.store.onDidChange(preview => this.#followSetUp(preview)));
    this.#follow();
  }

  dispose(): void {
    this.#owned.dispose();
  }

  /** Settles when every preview of agents' configuration that was applied is followed. Never rejects. */
  get followed(): Promise<void> {
    return this.#settingUp;
  }

  /** Starts the server, if it does not run. */
  start(): Promise<AgentServer> {
    this.#server ??= import('./agentServer.ts').then(({ AgentServer }) => AgentServer.start(this.#parts));
    this.#server.catch(() => (this.#server = undefined));
    return this.#server;
  }

  #follow(): void {
    const isAllowed = this.#parts.settings.agentsEnabled;
    // VS Code's own agents may have asked for the server without the setting: then other settings do not end it.
    if (isAllowed !== this.#isAllowed) {
      this.#isAllowed = isAllowed;
      const change = isAllowed ? this.start().then(server => server.announce()) : this.#stop();
      change.catch((error: unknown) => {
        this.#parts.logger.error(`The server for other agents does not run: ${detailOf(error)}`);
      });
    }
  }

  /** One after the other: each reads what the one before has recorded. */
  #followSetUp(preview: Preview): void {
    const { id, purpose, state } = preview;
    if (purpose !== 'setUp' || state.kind !== 'applied' || state.by.actor !== 'human') return;
    if (this.#setUps.has(id)) return;
    this.#setUps.add(id);
    const { context, logger } = this.#parts;
    this.#settingUp = this.#settingUp
      .then(() => import('./setUpApplied.ts'))
      .then(({ setUpApplied }) => setUpApplied({ ...this.#parts, globalState: context.globalState }, preview))
      .catch((error: unknown) => logger.error(`Following ${id} failed: ${detailOf(error)}`));
  }

  async #stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server) return;
    showLanguageModelTools(true);
    await server.then(running => running.close());
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
        // Its tools would do the same as those of the server.
        showLanguageModelTools(false);
        return definition(port, { Authorization: `Bearer ${token}` });
      },
    };
  }
}

function showLanguageModelTools(shown: boolean): void {
  void vscode.commands.executeCommand('setContext', contextKeys.usesMcp, !shown);
}
