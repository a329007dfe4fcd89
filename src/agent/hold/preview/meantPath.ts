import { fileURLToPath } from 'node:url';
import { quoted, quotedName } from '../../base/safeName.ts';
import { PathError, ToolError } from '../../base/errors.ts';
import type { ReadableFiles, Workspace } from './workspace.ts';

/** A line number after a path, as messages, links and compilers write it: `:3`, `:3:5`, `:3-5`, `#L3`, `(3,5)`. */
const PLACE = /(?<=.)(?::L?\d+(?:[:-]L?\d+)?|#L\d+(?:-L?\d+)?|\(\d+,\d+\)):?$/;
/** Scheme of an address, such as that of a document without a file. A single letter is a Windows drive. */
const SCHEME = /^[a-z][a-z0-9+.-]+:/i;
/** Text that a shell would replace by the home folder. */
const HOME = /^(?:~|\$HOME|\$\{HOME\}|%USERPROFILE%)\//;

/**
 * The workspace path that a model means: the text as written, if there is such a file. Otherwise it may be a URL, in quotes or
 * between spaces, with backslashes, with escapes as `safeName` shows it, or followed by a line number, as models copy paths from
 * messages and links. No new file gets such a name.
 * @throws PathError as `Workspace.resolvePath` does, and if there is nothing at a path that is written in such a way.
 */
export async function meantPath(workspace: Workspace, input: string): Promise<string> {
  const name = quotedName(input.trim());
  if (name !== undefined) {
    const named = await workspace.resolvePath(name);
    if (await exists(workspace, named)) return named;
  }
  const unquoted = input
    .trim()
    .replace(/^(["'`])(.*)\1$|^<(.*)>$|^[“‘](.*)[”’]$/, '$2$3$4')
    .trim();
  const url = pathOfUrl(unquoted);
  const plain = (url ?? unquoted.replaceAll('\\', '/')).replace(PLACE, '');
  const written = url ?? input;
  // Where several folders are open, a folder's name may look like a scheme, too: if the path exists, it is not an address.
  if (url === undefined && SCHEME.test(plain) && !(await isThere(workspace, plain)))
    throw new PathError(
      'empty',
      `${JSON.stringify(input)} is the address of something other than a file. Give the path of a file in the workspace. A new file whose name begins like an address is written with ./ before it.`,
    );
  if (plain === written && !HOME.test(plain)) return workspace.resolvePath(plain);
  const asWritten = await workspace.resolvePath(written).catch(undefinedIfRefused);
  if (asWritten !== undefined && (await exists(workspace, asWritten))) return asWritten;
  if (HOME.test(plain))
    throw new PathError('outside', `${quoted(input)} is outside the workspace. Use a path inside it.`);
  const meant = await workspace.resolvePath(plain);
  if (await exists(workspace, meant)) return meant;
  throw new PathError(
    'empty',
    `There is no file ${quoted(input)}, and none at ${meant}. Give the plain path alone: ${plain}.`,
  );
}

/** @throws PathError for a URL of anything but a file here; if a URL names a server, Windows would ask that server for the file. */
function pathOfUrl(text: string): string | undefined {
  if (!/^(?:file:|[a-z][a-z0-9+.-]+:\/\/)/i.test(text)) return undefined;
  try {
    const url = new URL(text);
    url.hash = '';
    if (url.host === '') return fileURLToPath(url);
  } catch {
    // It is not a URL.
  }
  throw new PathError(
    'empty',
    `${quoted(text)} is not the URL of a file here. Give a path inside the workspace.`,
  );
}

/** Whether there is something at a path, or at the folder that it begins with. */
async function isThere(workspace: Workspace, path: string): Promise<boolean> {
  const names = [path, ...(path.includes('/') ? [path.slice(0, path.indexOf('/'))] : [])];
  for (const name of names) {
    const at = await workspace.resolvePath(name).catch(undefinedIfRefused);
    if (at !== undefined && (await exists(workspace, at))) return true;
  }
  return false;
}

/** Whether there is a file or a folder at a workspace path. */
export async function exists(files: ReadableFiles, path: string): Promise<boolean> {
  return (await files.read(path).catch(trueIfRefused)) !== undefined;
}

/** A folder, or a file that is too large, cannot be read, but is there. */
function trueIfRefused(error: unknown): true {
  if (error instanceof ToolError) return true;
  throw error;
}

function undefinedIfRefused(error: unknown): undefined {
  if (!(error instanceof ToolError)) throw error;
}
