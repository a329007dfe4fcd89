import * as vscode from 'vscode';
import { StalePreviewError, ToolError } from '../../agent/base/errors.ts';
import { sha256, type Sha256 } from '../../agent/base/hash.ts';
import { decodeText, encodeText } from '../../agent/base/textCodec.ts';
import { encodingNamed } from './encodings.ts';

/** The open document of a file, if it holds changes that are not saved. */
export function dirtyDocument(uri: vscode.Uri): vscode.TextDocument | undefined {
  const key = uri.toString();
  return vscode.workspace.textDocuments.find(document => document.isDirty && document.uri.toString() === key);
}

/**
 * The bytes that saving the document would write, save participants aside.
 * @throws ToolError for encodings that are not known here.
 */
export function bytesOfDocument(document: vscode.TextDocument, shown: string): Uint8Array {
  const encoding = encodingNamed(document.encoding);
  if (!encoding)
    throw new ToolError(
      `${shown} is open in the encoding ${document.encoding}, which cannot be edited here.`,
    );
  return encodeText(document.getText(), encoding);
}

/**
 * Changes the text of a document with unsaved changes by one minimal edit. It stays unsaved, so that the person
 * decides when their own changes are saved; undo takes the edit back.
 * @throws StalePreviewError when the document no longer holds what is expected; ToolError when VS Code refuses.
 */
export async function editDirtyDocument(
  document: vscode.TextDocument,
  shown: string,
  bytes: Uint8Array | null,
  expected: Sha256 | null,
): Promise<void> {
  const target = bytes && decodeText(bytes, encodingNamed(document.encoding));
  if (!target) throw new ToolError(`${shown} has unsaved changes. Save or revert it first.`);
  if (sha256(bytesOfDocument(document, shown)) !== expected) throw new StalePreviewError([shown]);
  const old = document.getText();
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

/** Start, old end and new end of the part in which two texts differ; never between the halves of a CRLF or a surrogate pair. */
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
