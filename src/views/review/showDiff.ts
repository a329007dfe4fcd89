import * as vscode from 'vscode';
import { isRecord, parsedJson } from '../../agent/base/json.ts';
import { isWhole, textOf, type FileChange } from '../../agent/hold/preview/fileChange.ts';
import { titleOf, type Preview } from '../../agent/hold/preview/preview.ts';
import { planOf } from '../../agent/hold/preview/plan.ts';
import { oneLine } from '../plainText.ts';
import { REHEARSAL } from '../commandRegistry.ts';
import type { CommandId } from '../contributions.ts';
import { isOfImages } from './documents/sideDocument.ts';
import type { PreviewTabs } from './previewTabs.ts';
import { changeUri, documentPath, imageUri, opaqueUri, type FileUris } from '../workspace/previewUri.ts';
import { imageMark, multiDiffTitle, overviewNotes, tabTitle, titleNotes } from './titleNotes.ts';

/**
 * Shows a preview in VS Code's editor for it: changes of files as diffs; new and deleted files, plans, commands and tool calls
 * as documents.
 * @param path the file to show of several; without it they are shown in one multi-file diff, which always takes
 * the focus.
 */
export async function showDiff(
  preview: Preview,
  files: FileUris,
  tabs: PreviewTabs,
  options: vscode.TextDocumentShowOptions,
  path?: string,
): Promise<void> {
  const { changes, id } = preview;
  const plan = planOf(preview);
  if (plan) {
    const title = tabTitle(vscode.l10n.t('Plan: {0}', oneLine(plan.title)));
    await vscode.commands.executeCommand('vscode.open', opaqueUri(preview, 'proposal'), options, title);
    return;
  }
  if (!changes) {
    const title = tabTitle(oneLine(titleOf(preview)));
    await vscode.commands.executeCommand('vscode.open', opaqueUri(preview, 'proposal'), options, title);
    return;
  }
  const only = changes.length === 1 ? changes[0] : changes.find(change => change.path === path);
  if (only && isOfImages(only)) return showImages(preview, only, files, tabs, options);
  if (only && !opensInItsEditor(only)) {
    const notes = [nameIn(changes, only), ...(await titleNotes(only))];
    const title = multiDiffTitle(tabs, preview, notes);
    await vscode.commands.executeCommand('vscode.changes', title, [shownFile(id, only, files)]);
    return;
  }
  if (only) {
    const title = tabTitle(nameIn(changes, only), await titleNotes(only));
    const whole = wholeFile(id, only, files);
    if (whole) return void (await vscode.commands.executeCommand('vscode.open', whole, options, title));
    const sides = [changeUri(id, only, 'base', files), changeUri(id, only, 'proposal', files)];
    await vscode.commands.executeCommand('vscode.diff', ...sides, title, options);
    return;
  }
  const notes = [...leftOutNote(changes.length), ...(await overviewNotes(changes.slice(0, MAX_FILES)))];
  const title = multiDiffTitle(tabs, preview, notes);
  await vscode.commands.executeCommand('vscode.changes', title, shownFiles(preview, files, MAX_FILES));
}

/** Commands that have keys in a preview. */
const KEYS: readonly CommandId[] = [
  ...(['redline.preview.apply', 'redline.preview.discard'] as const),
  ...(['redline.preview.applyHunk', 'redline.preview.discardHunk'] as const),
  ...(['redline.preview.next', 'redline.preview.previous'] as const),
];

/**
 * Calls the commands that have keys, without effect. The first time that a key calls one, VS Code asks the extension to activate
 * before it goes on, and the next key, if its command has been called before, overtakes it. Only a call on the window's side
 * counts: `runCommands` makes it.
 */
export function rehearseKeys(): void {
  const commands = KEYS.map(command => ({ command, args: REHEARSAL }));
  void vscode.commands.executeCommand('runCommands', { commands });
}

/** Shows an image as VS Code does, side by side with the one that it replaces. */
async function showImages(
  preview: Preview,
  change: FileChange,
  files: FileUris,
  tabs: PreviewTabs,
  options: vscode.TextDocumentShowOptions,
): Promise<void> {
  const { changes, id } = preview;
  const title = tabTitle(nameIn(changes ?? [], change), await titleNotes(change));
  const mark = imageMark(tabs, preview, change.path);
  const [base, proposal] = (['base', 'proposal'] as const).map(side =>
    imageUri(id, change, side, files, mark),
  );
  if (!change.before || !change.after) {
    await vscode.commands.executeCommand('vscode.open', change.after ? proposal : base, options, title);
    return;
  }
  await vscode.commands.executeCommand('vscode.diff', base, proposal, title, options);
}

/**
 * The most files of one multi-file diff: VS Code loads both texts of all of them before it shows the first, which takes seconds
 * for a thousand.
 */
export const MAX_FILES = 100;

/** How many of its files a multi-file diff shows, for its title; nothing if it shows all. */
export function leftOutNote(files: number): readonly string[] {
  return files > MAX_FILES ? [vscode.l10n.t('first {0} of {1} files', MAX_FILES, files)] : [];
}

/** The name of a file and, if it is one of several, its number: `cart.ts 1/12`. */
function nameIn(changes: readonly FileChange[], change: FileChange): string {
  const name = oneLine(change.path.split('/').at(-1) ?? change.path);
  return changes.length === 1 ? name : `${name} ${changes.indexOf(change) + 1}/${changes.length}`;
}

/**
 * The document that shows a new or deleted file on its own: in a diff with an empty side, a line that never existed would seem
 * changed. `undefined` for other changes of a file, and for notebooks, whose editor shows no lenses.
 */
function wholeFile(id: string, change: FileChange, files: FileUris): vscode.Uri | undefined {
  if (change.path.endsWith('.ipynb')) return undefined;
  if (change.kind === 'create') return changeUri(id, change, 'proposal', files);
  return change.kind === 'delete' ? changeUri(id, change, 'deleted', files) : undefined;
}

type ShownFile = [label: vscode.Uri, base: vscode.Uri | undefined, proposal: vscode.Uri | undefined];

/** The entries for `vscode.changes`: one for each of the first `most` files, or a single one for an opaque preview. */
export function shownFiles(preview: Preview, files: FileUris, most: number): readonly ShownFile[] {
  const { changes, id } = preview;
  if (!changes) {
    const proposal = opaqueUri(preview, 'proposal');
    return [[proposal, opaqueUri(preview, 'base'), proposal]];
  }
  return changes.slice(0, most).map(change => shownFile(id, change, files));
}

function shownFile(id: string, change: FileChange, files: FileUris): ShownFile {
  return [
    vscode.Uri.from({ scheme: 'file', path: documentPath(change.path, files) }),
    change.before ? changeUri(id, change, change.after ? 'base' : 'deleted', files) : undefined,
    change.after ? changeUri(id, change, 'proposal', files) : undefined,
  ];
}

/**
 * Whether the diff of a file works in the editor that VS Code has for it. VS Code's notebook diff fails on text that is not a
 * valid notebook, such as one with conflict markers; the multi-file diff shows that as text. It also shows the sentences about
 * links and binary files as text, whatever editors there are for their names.
 */
function opensInItsEditor(change: FileChange): boolean {
  const { path, before, after } = change;
  if (isWhole(change)) return false;
  if (!path.endsWith('.ipynb')) return true;
  return [before, after].every(side => side === null || isNotebook(textOf(side)));
}

function isNotebook(text: string): boolean {
  const value = parsedJson(text);
  return isRecord(value) && Array.isArray(value['cells']);
}
