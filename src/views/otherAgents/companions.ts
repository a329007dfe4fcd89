import * as vscode from 'vscode';
import { detailOf } from '../../agent/base/errors.ts';
import type {
  CompanionHost,
  CompanionId,
  RunningCompanion,
} from '../../agent/clients/companions/companionHost.ts';
import { startCompanion } from '../../agent/clients/companions/startCompanion.ts';
import { realPathOf } from '../../agent/clients/windowFiles.ts';
import { showError, showInfo } from '../toast.ts';
import { versionOf, type AgentServerParts } from './agentServer.ts';
import { VsCodeEditorPort } from './editorPort.ts';

/** How a person knows these agents, and the extension of VS Code that each may talk to instead. */
const AGENTS: Readonly<Record<CompanionId, { readonly name: string; readonly extension: string }>> = {
  gemini: { name: 'Gemini CLI', extension: 'google.gemini-cli-vscode-ide-companion' },
  qwen: { name: 'Qwen Code', extension: 'qwenlm.qwen-code-vscode-ide-companion' },
  claude: { name: 'Claude Code', extension: 'anthropic.claude-code' },
};

/** The companions of agents in terminals: those that the user has switched on listen, and terminals are told how to find them. */
export class Companions {
  readonly #parts: AgentServerParts;
  readonly #editor = new VsCodeEditorPort();
  readonly #running = new Map<CompanionId, RunningCompanion>();
  readonly #following: vscode.Disposable;
  /** The real paths of the open folders. */
  #folders: readonly string[] = [];
  #last: Promise<void> = Promise.resolve();

  constructor(parts: AgentServerParts) {
    this.#parts = parts;
    parts.context.environmentVariableCollection.persistent = false;
    this.#following = vscode.workspace.onDidChangeWorkspaceFolders(
      () => void this.#inTurn(() => this.#announce()),
    );
  }

  /** Has exactly these listen. Failures are shown and logged. Never rejects. */
  follow(wanted: readonly CompanionId[]): Promise<void> {
    return this.#inTurn(async () => {
      for (const [id, companion] of this.#running) {
        if (wanted.includes(id)) continue;
        this.#running.delete(id);
        await companion.close();
      }
      const added = wanted.filter(id => !this.#running.has(id));
      for (const id of added) await this.#start(id);
      await this.#announce();
      this.#tellOfOthers(added);
    });
  }

  /** Ends all connections, and removes what was left for agents to find. Never rejects. */
  async close(): Promise<void> {
    this.#following.dispose();
    await this.follow([]);
    this.#editor.dispose();
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(work).catch((error: unknown) => {
      this.#parts.logger.error(`The companions of terminals' agents: ${detailOf(error)}`);
    });
    return this.#last;
  }

  async #start(id: CompanionId): Promise<void> {
    const { store, invoker, overlay, l10n, workspace, logger } = this.#parts;
    const host: CompanionHost = {
      ...{ store, invoker, overlay, l10n, workspace, logger },
      editor: this.#editor,
      version: versionOf(this.#parts),
      folders: () => this.#folders,
    };
    try {
      const companion = await startCompanion(id, host);
      this.#running.set(id, companion);
      logger.info(`${AGENTS[id].name} can show its diffs here, at 127.0.0.1:${companion.port}.`);
    } catch (error) {
      this.#tellFailure(id, error);
    }
  }

  async #announce(): Promise<void> {
    const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
    this.#folders = await Promise.all(folders.map(({ uri }) => realPathOf(uri.fsPath)));
    const { environmentVariableCollection: environment } = this.#parts.context;
    environment.clear();
    for (const [id, companion] of this.#running) {
      for (const [name, value] of Object.entries(companion.environment())) environment.replace(name, value);
      await companion.announce().catch((error: unknown) => this.#tellFailure(id, error));
    }
  }

  #tellFailure(id: CompanionId, error: unknown): void {
    const { name } = AGENTS[id];
    this.#parts.logger.error(`${name} cannot show its diffs here: ${detailOf(error)}`);
    void showError(
      vscode.l10n.t("{0} cannot show its diffs in Redline. Redline's log has the reason.", name),
    );
  }

  /** Says which agents may talk to an extension of their own instead. */
  #tellOfOthers(ids: readonly CompanionId[]): void {
    for (const { name, extension } of ids.map(id => AGENTS[id])) {
      const other = vscode.extensions.getExtension(extension);
      if (!other) continue;
      const { displayName = extension } = other.packageJSON as { readonly displayName?: string };
      void showInfo(
        vscode.l10n.t(
          'The extension “{1}” is installed too. {0} may show its diffs there instead of in Redline; disable that extension to review all of them here.',
          name,
          displayName,
        ),
      );
    }
  }
}
