import { ToolError } from '../base/errors.ts';
import type { TextEncoding } from '../base/textCodec.ts';
import { bytesOfSide, sideOfBytes, sideOfText, type FileSide } from '../preview/fileChange.ts';
import { MAX_FILE_BYTES, type Workspace } from '../preview/workspace.ts';

type TextFiles = Pick<Workspace, 'read' | 'encodingOf'>;

/**
 * The text of a file, or `null` when there is none.
 * @throws ToolError when it is not text.
 */
export async function readText(workspace: TextFiles, path: string): Promise<FileSide | null> {
  const bytes = await workspace.read(path);
  if (!bytes) return null;
  const encoding = await workspace.encodingOf(path);
  const side = sideOfBytes(bytes, encoding);
  if (!side)
    throw new ToolError(
      encoding.name === 'utf8'
        ? `${path} is not a text file in UTF-8 or UTF-16, so it cannot be read or edited here.`
        : `${path} is not a text file in ${encoding.name}, as the workspace has it, so it cannot be read or edited here.`,
    );
  return side;
}

/**
 * What the file holds after `text` is put into it.
 * @param before the file as it is, whose encoding is kept; `null` for a new file, which gets the workspace's.
 * @throws ToolError as `storedText` does.
 */
export async function proposedText(
  workspace: TextFiles,
  path: string,
  before: FileSide | null,
  text: string,
): Promise<FileSide> {
  return storedText(path, text, before?.encoding ?? (await workspace.encodingOf(path)));
}

/**
 * What a file holds that is to have exactly this text.
 * @throws ToolError when the encoding lacks a character of the text, or the file would be too large.
 */
export function storedText(path: string, text: string, encoding?: TextEncoding): FileSide {
  const side = sideOfText(text, encoding);
  // No encoding needs more than three bytes for a UTF-16 unit, and few texts are long enough to look.
  if (text.length > MAX_FILE_BYTES / 3 && bytesOfSide(side).length > MAX_FILE_BYTES) {
    throw new ToolError(`${path} would be larger than 5 MB, which cannot be written here.`);
  }
  // A byte order mark that is written in the text is stored, and no part of the text any more.
  const unmarked = side.encoding.bom && text.startsWith('\uFEFF') ? text.slice(1) : text;
  if (side.text === text || side.text === unmarked) return side;
  const missing = [...text].find((char, i) => char !== [...side.text][i]) ?? '';
  throw new ToolError(
    `${path} is stored in ${side.encoding.name}, which has no ${JSON.stringify(missing)}. Use other characters.`,
  );
}

/** @throws ToolError when the file does not exist or is not text. */
export async function readExistingText(workspace: TextFiles, path: string): Promise<FileSide> {
  const side = await readText(workspace, path);
  if (!side) throw new ToolError(`There is no file ${path}. Use list_files to find the right path.`);
  return side;
}
