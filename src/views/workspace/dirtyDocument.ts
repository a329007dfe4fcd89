import * as fs from 'node:fs';
import * as vscode from 'vscode';
import { StalePreviewError, ToolError } from '../../agent/base/errors.ts';
import { sha256, type Sha256 } from '../../agent/base/hash.ts';
import { decodeText, encodeText, type TextEncoding } from '../../agent/text/encodings.ts';
import { encodingNamed } from './fileEncoding.ts';
import { placeId } from './namesOnDisk.ts';

/** The open document of a file if it has unsaved changes, also where its editor knows the file by another name. */
export function dirtyDocument(uri: vscode.Uri): vscode.TextDocument | undefined {
  return dirtyDocuments()(uri);
}

/** As {@link dirtyDocument}, for many files: only once is it looked what identifies the files of the documents. */
export function dirtyDocuments(): (uri: vscode.Uri) => vscode.TextDocument | undefined {
  const dirty = vscode.workspace.textDocuments.filter(document => document.isDirty);
  if (dirty.length === 0) return () => undefined;
  const byName = new Map(dirty.map(document => [document.uri.toString(), document]));
  let byPlace: ReadonlyMap<string, vscode.TextDocument> | undefined;
  return uri => {
    const named = byName.get(uri.toString());
    if (named || uri.scheme !== 'file') return named;
    const onDisk = dirty.filter(document => document.uri.scheme === 'file').reverse();
    byPlace ??= new Map(onDisk.map(document => [placeId(document.uri.fsPath), document]));
    return byPlace.get(placeId(uri.fsPath));
  };
}

/** Whether a document with unsaved changes is that of a file with several names on disk: hard links, which only a list of files tells. */
export function areAnyHardLinked(): boolean {
  return vscode.workspace.textDocuments.some(
    ({ isDirty, uri }) => isDirty && uri.scheme === 'file' && namesOf(uri.fsPath) > 1,
  );
}

/** How many names a file has on its disk; none if it cannot be looked at. */
function namesOf(file: string): number {
  try {
    return fs.statSync(file).nlink;
  } catch {
    return 0;
  }
}

/** Whether a notebook or a custom editor without a text document has unsaved changes of a file. They cannot be read or edited as text. */
export function isDirtyInOtherEditor(uri: vscode.Uri): boolean {
  if (vscode.workspace.notebookDocuments.some(notebook => notebook.isDirty && isSame(notebook.uri, uri)))
    return true;
  const tabs = vscode.window.tabGroups.all.flatMap(group => group.tabs).filter(tab => tab.isDirty);
  return tabs.some(({ input }) => input instanceof vscode.TabInputCustom && isSame(input.uri, uri));
}

function isSame(a: vscode.Uri, b: vscode.Uri): boolean {
  if (a.toString() === b.toString()) return true;
  return a.scheme === 'file' && b.scheme === 'file' && placeId(a.fsPath) === placeId(b.fsPath);
}

/**
 * The bytes that saving the document would write, apart from what save participants change.
 * @throws ToolError if its encoding is not supported.
 */
export async function bytesOfDocument(document: vscode.TextDocument, shown: string): Promise<Uint8Array> {
  const encoding = await encodingOf(document, shown);
  return encodeText(document.getText(), encoding);
}

async function encodingOf(document: vscode.TextDocument, shown: string): Promise<TextEncoding> {
  const encoding = await encodingNamed(document.encoding);
  if (encoding) return encoding;
  throw new ToolError(`${shown} is open in the encoding ${document.encoding}, which Redline cannot edit.`);
}

/**
 * Changes the text of a document with unsaved changes in one minimal edit, which Undo in the editor reverts. The document stays
 * unsaved, so that users decide themselves when to save their own changes.
 * @throws StalePreviewError if the document no longer holds the expected bytes; ToolError if its editor cannot hold the new
 *   text as it is, or VS Code refuses the edit.
 */
export async function editDirtyDocument(
  document: vscode.TextDocument,
  shown: string,
  bytes: Uint8Array | null,
  expected: Sha256 | null,
): Promise<void> {
  const encoding = await encodingOf(document, shown);
  const target = bytes && decodeText(bytes, encoding);
  if (!target) throw new ToolError(`${shown} has unsaved changes. Save or revert it first.`);
  assertOneLineEnding(document, shown, target.text);
  const old = document.getText();
  if (sha256(encodeText(old, encoding)) !== expected) throw new StalePreviewError([shown]);
  const [start, endOld, endNew] = differingRange(old, target.text);
  const edit = new vscode.WorkspaceEdit();
  edit.replace(
    document.uri,
    new vscode.Range(document.positionAt(start), document.positionAt(endOld)),
    target.text.slice(start, endNew),
  );
  if (!(await vscode.workspace.applyEdit(edit))) throw new ToolError(`VS Code refused to change ${shown}`);
  if (document.getText() !== target.text) {
    throw new ToolError(`${shown} was changed by something else at the same moment. Check it in the editor`);
  }
}

/** An editor has one line ending for all lines, and would change any other without a word. */
function assertOneLineEnding({ eol }: vscode.TextDocument, shown: string, text: string): void {
  const [own, name] = eol === vscode.EndOfLine.CRLF ? ['\r\n', 'CRLF'] : ['\n', 'LF'];
  if (text.replace(/\r\n|\r|\n/g, own) === text) return;
  throw new ToolError(
    `${shown} has unsaved changes, and its editor holds only ${name} line endings. Save or revert it first`,
  );
}

/** The range in which two texts differ, as offsets. It never splits a CRLF or a surrogate pair. */
function differingRange(a: string, b: string): [start: number, endA: number, endB: number] {
  const limit = Math.min(a.length, b.length);
  let start = 0;
  while (start < limit && a[start] === b[start]) start++;
  while (start > 0 && isInsidePair(a, start)) start--;
  let tail = 0;
  while (tail < limit - start && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  while (tail > 0 && isInsidePair(a, a.length - tail)) tail--;
  return [start, a.length - tail, b.length - tail];
}

function isInsidePair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  return text.slice(at - 1, at + 1) === '\r\n' || (before >= 0xd800 && before <= 0xdbff);
}
