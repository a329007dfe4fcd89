import { statSync } from 'node:fs';
import * as vscode from 'vscode';
import { PathError, ToolError } from '../../../agent/base/errors.ts';
import { withoutEditor, withVariables } from '../../../agent/base/system/environment.ts';
import { realPathSync } from '../../../agent/base/system/realPath.ts';
import {
  UNATTENDED,
  type CommandEnd,
  type CommandPlan,
  type Shell,
} from '../../../agent/sandbox/commands/commandPlan.ts';
import { treeState, type TreeState } from '../../../agent/hold/external/treeState.ts';
import type { ShellRunner } from '../../../agent/session/tools/command/commandRunner.ts';
import type { CommandRun } from '../../../agent/sandbox/commands/commandRuns.ts';
import { activeGit } from '../../workspace/gitApi.ts';
import type { VsCodeWorkspace } from '../../workspace/workspace.ts';
import { openFolderNamed } from '../../workspace/workspacePaths.ts';
import { runInTerminal } from './commandTerminal.ts';
import { osName, ownVariables, userShell, type ShellSettings } from './userShell.ts';

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
    return userShell(shellSettings(this.#workspace.folderRoots()[0]?.fsPath));
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

  run(plan: CommandPlan, run: CommandRun): Promise<CommandEnd> {
    return runInTerminal(plan, run);
  }

  filesOf({ folder }: CommandPlan): Promise<TreeState | undefined> {
    return treeState(folder, activeGit()?.git.path);
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

/**
 * The complete environment of a program in a terminal of the user: nothing in it comes from the workspace.
 * @param folder for settings that name the workspace folder
 */
export function ownEnvironment(folder: string): NodeJS.ProcessEnv {
  return withVariables(withoutEditor(process.env), ownVariables(shellSettings(folder)));
}

function shellSettings(folder: string | undefined): ShellSettings {
  const terminals = vscode.workspace.getConfiguration('terminal.integrated');
  const os = osName(process.platform);
  const brings = ['profiles', 'automationProfile'].some(
    name => terminals.inspect(`${name}.${os}`)?.workspaceValue !== undefined,
  );
  return {
    platform: process.platform,
    env: process.env,
    folder,
    // VS Code may have taken the shell from a profile in the workspace settings.
    told: brings ? '' : vscode.env.shell,
    setting: name => terminals.get(name),
    own: name => ownValue(terminals.inspect(name)),
  };
}

/** A setting's value without the workspace's. VS Code merges objects: the user's entries override the defaults. */
function ownValue(
  found: { readonly defaultValue?: unknown; readonly globalValue?: unknown } | undefined,
): unknown {
  const { defaultValue, globalValue } = found ?? {};
  if (globalValue === undefined) return defaultValue;
  const areObjects = [defaultValue, globalValue].every(each => typeof each === 'object' && each !== null);
  return areObjects ? { ...(defaultValue as object), ...(globalValue as object) } : globalValue;
}
