import { fileURLToPath } from 'node:url';
import { PathError, ToolError } from '../base/errors.ts';
import type { ReadableFiles, Workspace } from './workspace.ts';

/**
 * The workspace path that a model means: what is written, if there is such a file. Otherwise it may be a URL, in quotes or
 * between blanks, with backslashes, or with a line behind it, as models copy paths from messages and links. No new file gets
 * such a name.
 * @throws PathError as `Workspace.resolvePath` does, and if there is nothing at a path that is written in such a way.
 */
export async function meantPath(workspace: Workspace, input: string): Promise<string> {
  const unquoted = input
    .trim()
    .replace(/^(["'`])(.*)\1$|^<(.*)>$/, '$2$3')
    .trim();
  const url = pathOfUrl(unquoted);
  if (url !== undefined) return workspace.resolvePath(url);
  const plain = unquoted.replaceAll('\\', '/').replace(/(?<=.)(?::\d+(?:[:-]\d+)?|#L\d+(?:-L?\d+)?):?$/, '');
  if (plain === input) return workspace.resolvePath(input);
  const asWritten = await workspace.resolvePath(input).catch(undefinedIfRefused);
  if (asWritten !== undefined && (await exists(workspace, asWritten))) return asWritten;
  const meant = await workspace.resolvePath(plain);
  if (await exists(workspace, meant)) return meant;
  throw new PathError(
    'empty',
    `There is no file ${JSON.stringify(input)}, and none at ${meant}. Give the plain path alone: ${plain}.`,
  );
}

function pathOfUrl(text: string): string | undefined {
  if (!/^file:/i.test(text)) return undefined;
  try {
    const url = new URL(text);
    url.hash = '';
    return fileURLToPath(url);
  } catch {
    throw new PathError(
      'empty',
      `${JSON.stringify(text)} is no URL of a file here. Give a path inside the workspace.`,
    );
  }
}

async function exists({ read }: ReadableFiles, path: string): Promise<boolean> {
  return (await read(path).catch(trueIfRefused)) !== undefined;
}

/** A folder, or a file that is too large, cannot be read, but is there. */
function trueIfRefused(error: unknown): true {
  if (error instanceof ToolError) return true;
  throw error;
}

function undefinedIfRefused(error: unknown): undefined {
  if (!(error instanceof ToolError)) throw error;
}
