import * as vscode from 'vscode';
import type { RedlineApi } from '../../src/views/api.ts';
import { EXTENSION_ID, views } from '../../src/views/contributions.ts';

/** Redline with chat and tree visible, as they are while a user works with them. */
export async function shownRedline(): Promise<RedlineApi> {
  const extension = vscode.extensions.getExtension<RedlineApi>(EXTENSION_ID);
  if (!extension) throw new Error(`${EXTENSION_ID} is not installed`);
  const api = await extension.activate();
  for (const view of [views.pending, views.chat]) await vscode.commands.executeCommand(`${view}.focus`);
  return api;
}
