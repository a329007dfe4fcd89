import * as assert from 'node:assert/strict';
import { existsSync, realpathSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { limitMs } from '../../../scripts/lib/limits.mjs';
import type { RedlineApi } from '../../../src/views/api.ts';
import { EXTENSION_ID } from '../../../src/views/contributions.ts';

/** The exported API of the extension under test. */
export async function activateRedline(): Promise<RedlineApi> {
  const extension = vscode.extensions.getExtension<RedlineApi>(EXTENSION_ID);
  assert.ok(extension, `${EXTENSION_ID} is installed`);
  return extension.activate();
}

/** The absolute path of a file in the open folder. */
export function fileInWorkspace(relative: string): string {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  assert.ok(folder, 'a folder is open');
  return path.join(folder.uri.fsPath, relative);
}

/** The bytes of a file on disk. */
export function bytesOf(relative: string): Promise<Buffer> {
  return readFile(fileInWorkspace(relative));
}

/** Writes a file of the workspace to disk; {@link cleanUp} deletes it. */
export async function givenFile(relative: string, content: string | Uint8Array): Promise<void> {
  await writeFile(fileInWorkspace(relative), content);
  written.add(relative);
}

const written = new Set<string>();

/** Cleans up after a test: starts a new session, discards previews, resets settings, closes editors, deletes files. */
export async function cleanUp(api: RedlineApi): Promise<void> {
  await api.session.new();
  for (const preview of api.previews.list()) {
    await api.previews.resolve({ id: preview.id, action: 'discard', reason: 'end of the test' });
  }
  for (const key of changedSettings) await update(key, undefined);
  changedSettings.clear();
  await saveApplied(api);
  await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  for (const relative of written) await rm(fileInWorkspace(relative), { force: true });
  written.clear();
}

/** Saves what was applied to an editor: if it were closed without that, its preview would be pending again in the next test. */
async function saveApplied(api: RedlineApi): Promise<void> {
  const unsaved = new Set<string | undefined>(
    api.previews.ledger().flatMap(entry => entry.unsaved?.map(fileInWorkspace) ?? []),
  );
  for (const document of vscode.workspace.textDocuments)
    if (document.isDirty && unsaved.has(realPath(document.uri))) await document.save();
}

function realPath({ fsPath }: vscode.Uri): string | undefined {
  return existsSync(fsPath) ? realpathSync(fsPath) : undefined;
}

const changedSettings = new Set<string>();

/** Changes a setting of Redline; {@link cleanUp} resets it. */
export async function setting(key: string, value: unknown): Promise<void> {
  changedSettings.add(key);
  await update(key, value);
}

async function update(key: string, value: unknown): Promise<void> {
  await vscode.workspace.getConfiguration('redline').update(key, value, vscode.ConfigurationTarget.Global);
}

/** Opens a proposal. */
export async function opened(id: string): Promise<vscode.TextEditor> {
  await vscode.commands.executeCommand('redline.preview.open', id);
  return until(
    vscode.window.onDidChangeActiveTextEditor,
    () => {
      const { activeTextEditor: editor } = vscode.window;
      return editor?.document.uri.authority === id && editor.document.uri.query === '' ? editor : undefined;
    },
    'the diff to open',
  );
}

/** Resolves with the first value of `read` that is not undefined. Reads again at each event. */
export function until<T>(
  event: vscode.Event<unknown>,
  read: () => T | undefined,
  what: string,
  timeout = limitMs(20_000),
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => finish(() => reject(new Error(`Timed out waiting for ${what}`))), timeout);
    const subscription = event(() => check());
    const finish = (end: () => void): void => {
      clearTimeout(timer);
      subscription.dispose();
      end();
    };
    const check = (): void => {
      const value = read();
      if (value !== undefined) finish(() => resolve(value));
    };
    check();
  });
}
