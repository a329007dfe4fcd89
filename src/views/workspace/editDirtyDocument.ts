import * as vscode from 'vscode';
import { ToolError } from '../../agent/base/errors.ts';
import { StalePreviewError } from '../../agent/hold/preview/errors.ts';
import { sha256, type Sha256 } from '../../agent/base/hash.ts';
import { decodeText, encodeText } from '../../agent/hold/text/encodings.ts';
import { encodingOf } from './dirtyDocument.ts';

/**
 * Changes the text of a document with unsaved changes in one minimal edit, which Undo in the editor reverts. The document stays
 * unsaved, so that users decide themselves when to save their own changes.
 * @param isModeKept whether the file keeps the permission bits that it has on disk.
 * @throws StalePreviewError if the document no longer holds the expected bytes; ToolError if its editor cannot hold the new
 *   text as it is, or VS Code refuses the edit.
 */
export async function editDirtyDocument(
  document: vscode.TextDocument,
  shown: string,
  bytes: Uint8Array | null,
  expected: Sha256 | null,
  isModeKept: boolean,
): Promise<void> {
  if (!isModeKept)
    throw new ToolError(
      `${shown} has unsaved changes, and its editor keeps its permissions. It must be saved or reverted first`,
    );
  const encoding = await encodingOf(document, shown);
  const target = bytes && decodeText(bytes, encoding);
  if (!target) throw new ToolError(`${shown} has unsaved changes. It must be saved or reverted first.`);
  if (target.encoding.name !== encoding.name || target.encoding.bom !== encoding.bom)
    throw new ToolError(
      `${shown} has unsaved changes, and its editor saves it as ${document.encoding}. It must be saved or reverted first`,
    );
  assertOneLineEnding(document, shown, target.text);
  const old = document.getText();
  if (sha256(encodeText(old, encoding)) !== expected) throw new StalePreviewError([shown]);
  // VS Code applies the edit to exactly the text that it was made for, or not at all; keys typed since come after it.
  if (await replaceText(document, target.text)) return;
  if (document.getText() !== old) throw new StalePreviewError([shown]);
  throw new ToolError(`VS Code refused to change ${shown}`);
}

/**
 * Replaces the text of a document in one minimal edit, which Undo in the editor reverts.
 * @returns false if VS Code refuses it, such as when the text has changed at the same moment.
 */
export async function replaceText(document: vscode.TextDocument, text: string): Promise<boolean> {
  const old = document.getText();
  const [start, endOld, endNew] = differingRange(old, text);
  const edit = new vscode.WorkspaceEdit();
  edit.replace(
    document.uri,
    new vscode.Range(document.positionAt(start), document.positionAt(endOld)),
    text.slice(start, endNew),
  );
  return vscode.workspace.applyEdit(edit);
}

/** An editor has one line ending for all lines, and would change any other without a word. */
function assertOneLineEnding({ eol }: vscode.TextDocument, shown: string, text: string): void {
  const [own, name] = eol === vscode.EndOfLine.CRLF ? ['\r\n', 'CRLF'] : ['\n', 'LF'];
  if (text.replace(/\r\n|\r|\n/g, own) === text) return;
  throw new ToolError(
    `${shown} has unsaved changes, and its editor holds only ${name} line endings. It must be saved or reverted first`,
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
