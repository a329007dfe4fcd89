import * as assert from 'node:assert/strict';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { fileInWorkspace, until } from './redline.ts';

const FOLDER = '.redline/tools';

/** The absolute path of a custom tool of the workspace. */
export function toolFile(name: string): string {
  return fileInWorkspace(path.join(FOLDER, name));
}

/** Writes a custom tool into the workspace. */
export async function givenTool(name: string, source: string): Promise<vscode.Uri> {
  const file = toolFile(name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, source);
  return vscode.Uri.file(file);
}

/** Copies a file of the repository to the custom tools of the workspace. */
export async function givenToolFile(relative: string): Promise<void> {
  const repo = process.env['REDLINE_REPO'] ?? assert.fail('REDLINE_REPO is set');
  await mkdir(fileInWorkspace(FOLDER), { recursive: true });
  await cp(path.join(repo, relative), toolFile(path.basename(relative)));
}

/** Deletes all custom tools of the workspace. */
export async function removeTools(): Promise<void> {
  await rm(fileInWorkspace('.redline'), { recursive: true, force: true });
  await vscode.commands.executeCommand('redline.customTools.reload');
}

/** The problems of a file, as soon as there are any. */
export function problemsOf(uri: vscode.Uri, timeout?: number): Promise<vscode.Diagnostic[]> {
  const read = (): vscode.Diagnostic[] | undefined => {
    const found = vscode.languages.getDiagnostics(uri).filter(({ source }) => source === 'Redline');
    return found.length > 0 ? found : undefined;
  };
  return until(vscode.languages.onDidChangeDiagnostics, read, `a problem in ${uri.fsPath}`, timeout);
}
