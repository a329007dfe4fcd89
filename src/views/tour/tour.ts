import * as vscode from 'vscode';
import { execute } from '../commandRegistry.ts';

/** Where the project of the tour is copied to. */
export function tourFolder(globalStorage: vscode.Uri): vscode.Uri {
  return vscode.Uri.joinPath(globalStorage, 'tour');
}

/** Shows the chat in a window on the project of the tour, which the user asked for. */
export function showTour({ globalStorageUri }: Pick<vscode.ExtensionContext, 'globalStorageUri'>): void {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  if (folder?.uri.fsPath === tourFolder(globalStorageUri).fsPath) void execute('redline.chat.focus');
}
