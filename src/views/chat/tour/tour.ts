import * as vscode from 'vscode';
import { execute } from '../../commandRegistry.ts';
import type { Ctx } from '../../ctx.ts';

/** Folder that the tour's project is copied to. */
function tourFolder(globalStorage: vscode.Uri): vscode.Uri {
  return vscode.Uri.joinPath(globalStorage, 'tour');
}

/** Shows the chat in a window on the project of the tour, which the user asked for. */
export function showTour({ globalStorageUri }: Pick<vscode.ExtensionContext, 'globalStorageUri'>): void {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  if (folder?.uri.fsPath === tourFolder(globalStorageUri).fsPath) void execute('redline.chat.focus');
}

/**
 * Opens a fresh copy of the tour's project in a window of its own. In a window that shows it already, it begins again there.
 */
export async function openTour({ extensionPath, globalStorage, session }: Ctx): Promise<void> {
  const folder = tourFolder(globalStorage);
  await vscode.workspace.fs.createDirectory(globalStorage);
  await vscode.workspace.fs.copy(
    vscode.Uri.joinPath(vscode.Uri.file(extensionPath), 'media', 'tour'),
    folder,
    { overwrite: true },
  );
  const [open] = vscode.workspace.workspaceFolders ?? [];
  if (open?.uri.fsPath !== folder.fsPath)
    return void (await vscode.commands.executeCommand('vscode.openFolder', folder, { forceNewWindow: true }));
  await session.new();
  await execute('redline.chat.focus');
}
