import { ToolError } from '../base/errors.ts';
import { sideOfBytes, type FileSide } from '../preview/fileChange.ts';
import type { Workspace } from '../preview/workspace.ts';

/**
 * The text of a file, or `null` when there is none.
 * @throws ToolError when it is not text.
 */
export async function readText(workspace: Pick<Workspace, 'read'>, path: string): Promise<FileSide | null> {
  const bytes = await workspace.read(path);
  if (!bytes) return null;
  const side = sideOfBytes(bytes);
  if (!side)
    throw new ToolError(
      `${path} is not a text file in UTF-8 or UTF-16, so it cannot be read or edited here.`,
    );
  return side;
}

/** @throws ToolError when the file does not exist or is not text. */
export async function readExistingText(workspace: Pick<Workspace, 'read'>, path: string): Promise<FileSide> {
  const side = await readText(workspace, path);
  if (!side) throw new ToolError(`There is no file ${path}. Use list_files to find the right path.`);
  return side;
}
