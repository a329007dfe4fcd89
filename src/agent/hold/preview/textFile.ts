import { ToolError } from '../../base/errors.ts';
import { oneFileText } from './commit/rollbackInfo.ts';
import {
  bytesOfSide,
  isLink,
  sideOfBytes,
  sideOfText,
  type FileChange,
  type TextSide,
} from './fileChange.ts';
import { foldersAbove, stepsOf } from './fileSteps.ts';
import type { PendingContents } from './overlay.ts';
import { MAX_FILE_BYTES, type ReadableFiles, type Workspace } from './workspace.ts';
import type { TextEncoding } from '../text/encodings.ts';

/**
 * Reads a text file; `null` when there is no such file.
 * @throws ToolError when its content is not text.
 */
export async function readText(workspace: ReadableFiles, path: string): Promise<TextSide | null> {
  const bytes = await workspace.read(path);
  if (!bytes) return null;
  const encoding = await workspace.encodingOf(path);
  const side = sideOfBytes(bytes, encoding);
  if (!side)
    throw new ToolError(
      encoding.name === 'utf8'
        ? `${path} is not a text file in UTF-8 or UTF-16, so it cannot be read or edited here.`
        : `${path} is not a text file in ${encoding.name}, the encoding that the workspace sets for it, so it cannot be read or edited here.`,
    );
  return side;
}

/**
 * A proposed text as the file would store it.
 * @param before the file as it is, whose encoding is kept; `null` for a new file, which gets the encoding and the line ending
 *   that the workspace sets for it.
 * @throws ToolError as {@link sideToStore} does.
 */
export async function proposedSide(
  workspace: Workspace,
  path: string,
  before: TextSide | null,
  text: string,
): Promise<TextSide> {
  const stored = before ? text : await asNewFile(workspace, path, text);
  return sideToStore(path, stored, before?.encoding ?? (await workspace.encodingOf(path)));
}

/** A text that already has carriage returns is taken exactly, and so is a script, whose interpreter is read from the first line. */
async function asNewFile(workspace: Workspace, path: string, text: string): Promise<string> {
  if (!text.includes('\n') || text.includes('\r') || text.startsWith('#!')) return text;
  return (await workspace.lineEndingAt(path)) === '\n' ? text : text.replaceAll('\n', '\r\n');
}

/**
 * A text as a file in this encoding stores it.
 * @throws ToolError when the encoding lacks a character of the text, or the file would be too large.
 */
export function sideToStore(path: string, text: string, encoding?: TextEncoding): TextSide {
  // Encoding a text that is far too long would block for a long time.
  const leastBytes = text.length * (encoding?.name.startsWith('utf16') === true ? 2 : 1);
  if (leastBytes > MAX_FILE_BYTES) throw tooLarge(path);
  const side = sideOfText(text, encoding);
  // No encoding needs more than three bytes for a UTF-16 unit, so only long texts need to be measured.
  if (text.length > MAX_FILE_BYTES / 3 && bytesOfSide(side).length > MAX_FILE_BYTES) throw tooLarge(path);
  // A byte order mark at the start of the text is stored as the file's mark and is no longer part of its text.
  const unmarked = side.encoding.bom && text.startsWith('\uFEFF') ? text.slice(1) : text;
  if (side.text === text || side.text === unmarked) return side;
  const missing = firstDifference(text, side.text);
  throw new ToolError(
    `${path} is stored in ${side.encoding.name}, which cannot represent ${JSON.stringify(missing)}. Use other characters.`,
  );
}

function tooLarge(path: string): ToolError {
  return new ToolError(
    `${path} would be larger than 5 MB, the limit for files here. Split it into several files.`,
  );
}

/** First character of `text` that differs in `stored`. */
function firstDifference(text: string, stored: string): string {
  const other = stored[Symbol.iterator]();
  for (const char of text) if (char !== other.next().value) return char;
  return '';
}

/**
 * Reads a text file that must exist.
 * @param pending contents that the workspace shows instead of files on disk, if any.
 * @throws ToolError when it does not exist or is not text.
 */
export async function readExistingText(
  workspace: ReadableFiles,
  path: string,
  pending?: PendingContents,
): Promise<TextSide> {
  const side = await readText(workspace, path);
  if (side) return side;
  const asIf = pending ? asIfApplied(pending, path) : '';
  throw new ToolError(`There is no file ${path}${asIf}. Use list_files to find the right path.`);
}

/** ` with the pending preview p1 applied`, if one changes this path; else nothing. */
export function asIfApplied(pending: PendingContents, path: string): string {
  const changed = pending.at(path);
  return changed ? ` with the pending preview ${changed.previewId} applied` : '';
}

/**
 * Refuses a new file whose folder would have to stand where a file is.
 * @param moved a file that makes room, since it is renamed to the new path.
 * @throws ToolError that names the file in the way.
 */
export async function assertCanHoldFile(
  workspace: ReadableFiles,
  path: string,
  moved?: string,
): Promise<void> {
  for (const folder of foldersAbove(path)) {
    if (folder === moved) continue;
    if (await isFile(workspace, folder))
      throw new ToolError(`${folder} is a file, so there can be no ${path}. Choose another path.`);
  }
}

async function isFile(workspace: ReadableFiles, path: string): Promise<boolean> {
  try {
    return (await workspace.read(path)) !== undefined;
  } catch (error) {
    if (error instanceof ToolError) return false; // a folder
    throw error;
  }
}

/**
 * Refuses changes that could not be applied.
 * @throws ToolError if a file that the changes write is read-only, one that they remove is a symbolic link, or two of them are
 *   names of one file.
 */
export async function assertApplicable(
  workspace: ReadableFiles,
  changes: readonly FileChange[],
): Promise<void> {
  const pathOfFile = new Map<string, string>();
  for (const { path, before, after } of changes.flatMap(stepsOf)) {
    if (!before || isLink(before)) continue;
    const { isReadOnly, link, id } = await workspace.placeOf(path);
    if (isReadOnly) throw new ToolError(`${path} is read-only. Nothing was staged.`);
    if (link !== undefined && !after)
      throw new ToolError(
        `${path} is a symbolic link, which Redline cannot remove or rename. Nothing was staged.`,
      );
    const other = id === undefined ? undefined : pathOfFile.get(id);
    if (other !== undefined) throw new ToolError(`${oneFileText(other, path)} Nothing was staged.`);
    if (id !== undefined) pathOfFile.set(id, path);
  }
}
