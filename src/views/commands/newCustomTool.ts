import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { ToolRegistry } from '../../agent/tools/registry.ts';
import { TOOLS_FOLDER } from '../tools/toolPlaces.ts';

export interface NewCustomToolOptions {
  readonly tools: Pick<ToolRegistry, 'has'>;
  /** Where the extension is installed. */
  readonly extensionPath: string;
}

/** The name that the packaged example has. */
const EXAMPLE = 'sort_lines';

/** Writes a working tool, with its types beside it, where the person wants it, and opens it. */
export async function newCustomTool(options: NewCustomToolOptions): Promise<void> {
  const folder = await chooseFolder();
  if (folder === undefined) return;
  const name = await askName(folder, options.tools);
  if (name === undefined) return;
  const packaged = (file: string): Promise<string> =>
    readFile(path.join(options.extensionPath, 'dist', 'customTool', file), 'utf8');
  const file = fileOf(folder, name);
  await mkdir(folder, { recursive: true });
  // The types are written first: the file is opened with them.
  await writeFile(path.join(folder, 'redline.d.ts'), await packaged('redline.d.ts'));
  await writeFile(file, (await packaged(`${EXAMPLE}.ts`)).replaceAll(EXAMPLE, name), { flag: 'wx' });
  await vscode.window.showTextDocument(vscode.Uri.file(file));
}

async function chooseFolder(): Promise<string | undefined> {
  const { isTrusted, workspaceFolders = [] } = vscode.workspace;
  const inWorkspace = workspaceFolders
    .filter(({ uri }) => isTrusted && uri.scheme === 'file')
    .map(({ name, uri }) => ({ label: name, folder: path.join(uri.fsPath, TOOLS_FOLDER) }));
  const own = { label: vscode.l10n.t('All my workspaces'), folder: path.join(homedir(), TOOLS_FOLDER) };
  const items = [...inWorkspace, own].map(item => ({ ...item, description: item.folder }));
  const chosen = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t('Where is the tool to be?'),
  });
  return chosen?.folder;
}

async function askName(folder: string, tools: Pick<ToolRegistry, 'has'>): Promise<string | undefined> {
  return vscode.window.showInputBox({
    title: vscode.l10n.t('What is the model to call it?'),
    value: 'my_tool',
    validateInput: name => {
      if (!/^[A-Za-z0-9_-]{1,64}$/.test(name))
        return vscode.l10n.t('A name has up to 64 letters, digits, _ and -.');
      if (tools.has(name) || existsSync(fileOf(folder, name)))
        return vscode.l10n.t('There is already a tool named {0}.', name);
      return undefined;
    },
  });
}

function fileOf(folder: string, name: string): string {
  return path.join(folder, `${name}.ts`);
}
