import * as vscode from 'vscode';
import { hunksOfChange, type FileChange } from '../../../agent/hold/preview/fileChange.ts';
import type { Ctx } from '../../ctx.ts';
import { changeUri } from '../../workspace/previewUri.ts';

/** How long a diff may take to show a new revision, in milliseconds. Afterwards keys that wait for it find no hunk. */
const PATIENCE = 30_000;

type Shown = Pick<Ctx, 'store' | 'files' | 'shown'>;

/**
 * Moves the cursor and the view of a file's diff to the hunk that now has this number, or to the first one if there is
 * none. Both sides of the diff move, since a key acts on the hunk at the cursor of the side that has the focus. Does
 * nothing if the preview no longer changes the file.
 * @param hunk counted from 0
 */
export async function showHunk(
  ctx: Shown,
  { id, path, hunk }: { readonly id: string; readonly path: string; readonly hunk: number },
): Promise<void> {
  const change = await changeShown(ctx, id, path);
  if (!change) return;
  const hunks = await hunksOfChange(change);
  const next = hunks[hunk] ?? hunks[0];
  if (!next) return;
  moveCursor(changeUri(id, change, 'base', ctx.files), next.beforeStart);
  moveCursor(changeUri(id, change, 'proposal', ctx.files), next.afterStart);
}

/** Moves the cursor and the view of a file's diff to a line of the proposal, counted from 0, in any state of the preview. */
export async function showLine(
  ctx: Shown,
  { id, path, line }: { readonly id: string; readonly path: string; readonly line: number },
): Promise<void> {
  const change = await changeShown(ctx, id, path);
  if (change) moveCursor(changeUri(id, change, 'proposal', ctx.files), line);
}

/** Moves the cursor and the view of a document's visible editors to the start of the line. */
function moveCursor(uri: vscode.Uri, line: number): void {
  for (const editor of vscode.window.visibleTextEditors) {
    if (editor.document.uri.toString() !== uri.toString()) continue;
    const position = new vscode.Position(line, 0);
    const { InCenterIfOutsideViewport } = vscode.TextEditorRevealType;
    editor.selection = new vscode.Selection(position, position);
    editor.revealRange(new vscode.Range(position, position), InCenterIfOutsideViewport);
  }
}

/** The change of the file, once no visible document shows an older revision of the preview; `undefined` if that takes too long. */
async function changeShown(
  { store, shown }: Shown,
  id: string,
  path: string,
): Promise<FileChange | undefined> {
  const changeNow = (): FileChange | undefined => store.get(id)?.changes?.find(each => each.path === path);
  const isShown = (): boolean => (shown.of(id) ?? Infinity) >= (store.get(id)?.revision ?? 0);
  if (isShown()) return changeNow();
  return new Promise(resolve => {
    const end = (change: FileChange | undefined): void => {
      clearTimeout(timer);
      showing.dispose();
      resolve(change);
    };
    const timer = setTimeout(end, PATIENCE, undefined);
    const showing = shown.onDidShow(() => isShown() && end(changeNow()));
  });
}
