import { statSync } from 'node:fs';
import * as vscode from 'vscode';
import { PathError, ToolError } from '../../agent/base/errors.ts';
import { realPathSync } from '../../agent/base/system/realPath.ts';
import {
  UNATTENDED,
  type CommandEnd,
  type CommandPlan,
  type Shell,
} from '../../agent/commands/commandPlan.ts';
import type { ShellRunner } from '../../agent/tools/command/runCommand.ts';
import type { CommandRun } from '../../agent/commands/commandRuns.ts';
import type { VsCodeWorkspace } from '../workspace/workspace.ts';
import { openFolderNamed } from '../workspace/workspacePaths.ts';
import { userShell } from './userShell.ts';

/** Runs commands with the user's shell, in a terminal that the user sees. */
export class VsCodeCommandRunner implements ShellRunner {
  readonly #workspace: VsCodeWorkspace;
  readonly #settings: { readonly commandTimeLimit: number };

  constructor(workspace: VsCodeWorkspace, settings: { readonly commandTimeLimit: number }) {
    this.#workspace = workspace;
    this.#settings = settings;
  }

  /** The shell that would run a command now. */
  shell(): Shell {
    const terminals = vscode.workspace.getConfiguration('terminal.integrated');
    return userShell({
      platform: process.platform,
      env: process.env,
      told: vscode.env.shell,
      folder: this.#workspace.folderRoots()[0]?.fsPath,
      setting: name => terminals.get(name),
    });
  }

  async plan(command: string, folder = '.'): Promise<CommandPlan> {
    const shell = this.shell();
    return {
      command,
      folder: await this.#folder(folder),
      ...shell,
      environment: { ...shell.environment, ...UNATTENDED },
      timeLimit: this.#settings.commandTimeLimit,
    };
  }

  async run(plan: CommandPlan, run: CommandRun): Promise<CommandEnd> {
    const { runInTerminal } = await import('./commandTerminal.ts');
    return runInTerminal(plan, run);
  }

  /** The real path of a folder of the workspace. */
  async #folder(input: string): Promise<string> {
    const folders = this.#workspace.folderRoots();
    if (folders.length === 0)
      throw new PathError('noWorkspace', 'No folder is open, so there is nowhere to run a command.');
    const wanted = input.replace(/(?<=[^/\\])[/\\]+$/, '');
    const root = openFolderNamed(input, folders);
    const path = root ? root.fsPath : this.#workspace.uriOf(await this.#workspace.resolvePath(wanted)).fsPath;
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory())
      throw new ToolError(`${input} is not a folder. Choose an existing folder of the workspace.`);
    return realPathSync(path);
  }
}
