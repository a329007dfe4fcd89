import * as vscode from 'vscode';
import { hunksOfChange, textOf } from '../../../agent/hold/preview/fileChange.ts';
import type { Agent } from '../../agent.ts';
import { changeUri } from '../../workspace/previewUri.ts';
import { isSameText } from '../shownRevisions.ts';

/** How long a diff may take to show a new revision, in milliseconds. Afterwards its cursor stays where it is. */
const PATIENCE = 5_000;

/**
 * Moves the cursor and the view of a file's diff to the hunk that now has this number, or to the first one if there is
 * none. Both sides of the diff move, since a key acts on the hunk at the cursor of the side that has the focus. Does
 * nothing if the preview no longer changes the file.
 * @param hunk counted from 0
 */
export async function showHunk(
  { store, files }: Agent,
  { id, path, hunk }: { readonly id: string; readonly path: string; readonly hunk: number },
): Promise<void> {
  const change = store.get(id)?.changes?.find(each => each.path === path);
  if (!change) return;
  const hunks = await hunksOfChange(change);
  const next = hunks[hunk] ?? hunks[0];
  if (!next) return;
  await Promise.all([
    moveCursor(changeUri(id, change, 'base', files), textOf(change.before), next.beforeStart),
    moveCursor(changeUri(id, change, 'proposal', files), textOf(change.after), next.afterStart),
  ]);
}

/** Moves the cursor and the view of a file's diff to a line of the proposal, counted from 0, in any state of the preview. */
export async function showLine(
  { store, files }: Agent,
  { id, path, line }: { readonly id: string; readonly path: string; readonly line: number },
): Promise<void> {
  const change = store.get(id)?.changes?.find(each => each.path === path);
  if (change) await moveCursor(changeUri(id, change, 'proposal', files), textOf(change.after), line);
}

/** Waits until the visible document holds the text, then moves the cursor of its editors to the start of the line. */
async function moveCursor(uri: vscode.Uri, text: string | undefined, line: number): Promise<void> {
  const isShown = ({ document }: vscode.TextEditor): boolean => document.uri.toString() === uri.toString();
  const document = vscode.window.visibleTextEditors.find(isShown)?.document;
  if (!document || text === undefined || !(await holds(document, text))) return;
  const position = new vscode.Position(line, 0);
  for (const editor of vscode.window.visibleTextEditors.filter(isShown)) {
    editor.selection = new vscode.Selection(position, position);
    const { InCenterIfOutsideViewport } = vscode.TextEditorRevealType;
    editor.revealRange(new vscode.Range(position, position), InCenterIfOutsideViewport);
  }
}

async function holds(document: vscode.TextDocument, text: string): Promise<boolean> {
  const isThere = (): boolean => isSameText(document.getText(), text);
  if (isThere()) return true;
  return new Promise(resolve => {
    const end = (result: boolean): void => {
      clearTimeout(timer);
      changing.dispose();
      resolve(result);
    };
    const timer = setTimeout(end, PATIENCE, false);
    const changing = vscode.workspace.onDidChangeTextDocument(event => {
      if (event.document === document && isThere()) end(true);
    });
  });
}
