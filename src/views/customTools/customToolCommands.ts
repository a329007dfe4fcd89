import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { ToolRegistry } from '../../agent/session/tools/registry.ts';
import { TOOLS_FOLDER } from './toolFolders.ts';
import type { Agent } from '../agent.ts';
import type { Ctx } from '../ctx.ts';

/** The name of the packaged example. */
const EXAMPLE = 'sort_lines';

/** Writes a working example tool and its types to a folder that the user chooses, and opens it. */
export async function newCustomTool(ctx: Ctx): Promise<void> {
  const folder = await chooseFolder();
  if (folder === undefined) return;
  const name = await askName(folder, ctx.tools);
  if (name === undefined) return;
  const packaged = (file: string): Promise<string> =>
    readFile(path.join(ctx.extensionPath, 'dist', 'customTool', file), 'utf8');
  const file = fileOf(folder, name);
  await mkdir(folder, { recursive: true });
  // Write the types first, so that they exist when the editor opens the tool.
  await writeFile(path.join(folder, 'redline.d.ts'), await packaged('redline.d.ts'));
  await writeFile(file, (await packaged(`${EXAMPLE}.ts`)).replaceAll(EXAMPLE, name), { flag: 'wx' });
  await vscode.window.showTextDocument(vscode.Uri.file(file));
  await ctx.customTools.refresh();
}

/** Loads all custom tools again and reports in the status bar. */
export async function reloadCustomTools({ customTools }: Agent): Promise<void> {
  await customTools.reload();
  const problems = customTools.problems.length;
  const text =
    problems === 0
      ? vscode.l10n.t('Custom tools are loaded.')
      : vscode.l10n.t('Custom tools are loaded. Problems: {0}.', problems);
  vscode.window.setStatusBarMessage(text, 5_000);
}

async function chooseFolder(): Promise<string | undefined> {
  const { isTrusted, workspaceFolders = [] } = vscode.workspace;
  const inWorkspace = workspaceFolders
    .filter(({ uri }) => isTrusted && uri.scheme === 'file')
    .map(({ name, uri }) => ({ label: name, folder: path.join(uri.fsPath, TOOLS_FOLDER) }));
  const own = { label: vscode.l10n.t('All my workspaces'), folder: path.join(homedir(), TOOLS_FOLDER) };
  const items = [...inWorkspace, own].map(item => ({ ...item, description: item.folder }));
  const chosen = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t('Where should the tool be saved?'),
  });
  return chosen?.folder;
}

async function askName(folder: string, tools: ToolRegistry): Promise<string | undefined> {
  return vscode.window.showInputBox({
    title: vscode.l10n.t('What should the model call it?'),
    value: 'my_tool',
    validateInput: name => {
      if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) return vscode.l10n.t('Use 1 to 64 letters, digits, _ and -.');
      if (tools.has(name) || existsSync(fileOf(folder, name)))
        return vscode.l10n.t('There is already a tool named {0}.', name);
      return undefined;
    },
  });
}

function fileOf(folder: string, name: string): string {
  return path.join(folder, `${name}.ts`);
}
