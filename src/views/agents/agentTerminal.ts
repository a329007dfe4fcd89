import { mkdir } from 'node:fs/promises';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { programOnPath } from '../../agent/base/system/searchPath.ts';
import { terminalAgents, type TerminalAgent } from '../../agent/clients/view/terminalAgents.ts';
import type { Ctx } from '../ctx.ts';
import { confirm, showError, showInfo } from '../toast.ts';
import { programFile } from './agentServer.ts';
import { ownEnvironment } from './terminal/commandRunner.ts';
import { viewsFolder } from './windowViews.ts';

/**
 * Opens a terminal in which an agent or a shell works in a view of the workspace: its writes become previews. If no view can be
 * made, it says why and starts nothing.
 * @param args the program, and the URI of a workspace folder; it asks for missing ones.
 */
export async function openAgentTerminal(ctx: Ctx, [given, uri]: readonly unknown[]): Promise<void> {
  const { l10n } = vscode;
  const folders = vscode.workspace.workspaceFolders ?? [];
  const views = await ctx.otherAgents.views();
  await mkdir(viewsFolder(ctx.otherAgents.parts), { recursive: true, mode: 0o700 });
  const obstacle = vscode.workspace.isTrusted
    ? await views.obstacle()
    : l10n.t('Agents run in trusted workspaces only.');
  if (obstacle !== undefined)
    return void showError(l10n.t('No agent terminal can be opened here: {0}', obstacle));
  const program = typeof given === 'string' ? given : await pickProgram(ctx);
  if (program === undefined) return;
  const folder =
    folders.find(each => each.uri.toString() === uri) ??
    (folders.length > 1 ? await vscode.window.showWorkspaceFolderPick() : folders[0]);
  if (!folder) return;
  const file = await ctx.otherAgents.terminalFile();
  const base = path.basename(program);
  const name = terminalAgents.find(each => each.program === base)?.name ?? base;
  vscode.window
    .createTerminal({
      name: `Redline: ${name}`,
      iconPath: new vscode.ThemeIcon('terminal'),
      cwd: folder.uri,
      shellPath: process.execPath,
      shellArgs: [programFile(ctx.globalStorage, 'redline-run'), '--window', file, '--', program],
      // Workspace settings could set variables that make the host run something else.
      strictEnv: true,
      env: {
        COLORTERM: 'truecolor',
        TERM_PROGRAM: 'vscode',
        ...ownEnvironment(folder.uri.fsPath),
        ELECTRON_RUN_AS_NODE: '1',
      },
    })
    .show();
}

/** Asks for an installed agent, or the user's shell. */
async function pickProgram(ctx: Ctx): Promise<string | undefined> {
  const { l10n } = vscode;
  const found = await installedAgents();
  const copy = { label: l10n.t('Copy the Command for Another Terminal'), program: undefined };
  const items = [
    ...found.map(({ name, program }) => ({ label: name, description: program, program })),
    {
      label: l10n.t('A shell'),
      description: vscode.env.shell,
      detail: found.length === 0 ? l10n.t('No agent was found on the path. Start one from the shell.') : '',
      program: vscode.env.shell,
    },
    copy,
  ];
  const picked = await vscode.window.showQuickPick(items, {
    title: l10n.t('Open an agent terminal'),
    placeHolder: l10n.t('Changes made there, by edit tools or in the shell, become previews.'),
  });
  if (picked === copy) await copyCommand(ctx);
  return picked?.program;
}

/** Lets any terminal of this machine start an agent in a view. */
async function copyCommand({ settings, globalStorage }: Ctx): Promise<void> {
  if (!settings.agentsEnabled) {
    const { l10n } = vscode;
    const isAgreed = await confirm(
      l10n.t('Let agents in other terminals connect to this window?'),
      l10n.t(
        'This turns on redline.agents.enabled. Windows of VS Code then listen on a port of this machine.',
      ),
      l10n.t('Turn On'),
    );
    if (!isAgreed) return;
    await settings.setAgentsEnabled(true);
  }
  const file = programFile(globalStorage, 'redline-run').replaceAll("'", `'\\''`);
  await vscode.env.clipboard.writeText(`node '${file}' -- `);
  void showInfo(
    vscode.l10n.t(
      'The command is on the clipboard: add the agent to it, and run it in a folder of this window.',
    ),
  );
}

/** The known agents that are on the path. */
export async function installedAgents(): Promise<readonly TerminalAgent[]> {
  const found = await Promise.all(terminalAgents.map(({ program }) => programOnPath(program)));
  return terminalAgents.filter((_, n) => found[n] !== undefined);
}
