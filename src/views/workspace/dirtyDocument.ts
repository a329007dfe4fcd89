import * as fs from 'node:fs';
import * as vscode from 'vscode';
import { ToolError } from '../../agent/base/errors.ts';
import { encodeText, type TextEncoding } from '../../agent/hold/text/encodings.ts';
import { encodingNamed } from './fileEncoding.ts';
import { placeId } from './namesOnDisk.ts';

/** The open document of a file if it has unsaved changes, also where its editor knows the file by another name. */
export function dirtyDocument(uri: vscode.Uri): vscode.TextDocument | undefined {
  return dirtyDocuments()(uri);
}

/** Like {@link dirtyDocument}, for many files: the documents' files are identified only once. */
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

/**
 * Whether a document with unsaved changes belongs to a file with several hard links; only a list of files reveals its other names.
 */
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

/**
 * Whether a file has unsaved changes in a notebook or a custom editor, which cannot be read or edited as text, or an untitled
 * document is to be saved as this file.
 */
export function isDirtyInOtherEditor(uri: vscode.Uri): boolean {
  const untitled = vscode.workspace.textDocuments.filter(
    document => document.uri.scheme === 'untitled' && document.getText() !== '',
  );
  if (untitled.some(document => isSame(document.uri.with({ scheme: 'file' }), uri))) return true;
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
 * The bytes that saving the document would write, without the changes of save participants.
 * @throws ToolError if its encoding is not supported.
 */
export async function bytesOfDocument(document: vscode.TextDocument, shown: string): Promise<Uint8Array> {
  const encoding = await encodingOf(document, shown);
  return encodeText(document.getText(), encoding);
}

/** @throws ToolError if it is not supported. */
export async function encodingOf(document: vscode.TextDocument, shown: string): Promise<TextEncoding> {
  const encoding = await encodingNamed(document.encoding);
  if (encoding) return encoding;
  throw new ToolError(`${shown} is open in the encoding ${document.encoding}, which Redline cannot edit.`);
}
