import { lstatSync } from 'node:fs';
import * as path from 'node:path';
import { PathError } from '../../agent/base/errors.ts';
import { gitDirectoryAround, hasWorkingTree } from '../../agent/base/system/gitDirectory.ts';
import { realPathSync, isInside } from '../../agent/base/system/realPath.ts';
import { isGitName, isProtectedPath } from '../../agent/hold/preview/resolve/protectedPlaces.ts';
import type { FolderRoot, ResolveOptions } from '../../agent/hold/preview/workspace.ts';
import { namesOnDisk, spelledAsPlanned } from './namesOnDisk.ts';
import {
  assertNewNamesVisible,
  belowOpenFolder,
  diskPathOf,
  isThere,
  locate,
  realPathOf,
  workspacePathOf,
  type WorkspaceLocation,
} from './workspacePaths.ts';

/**
 * The workspace path of `input`, spelled as on disk; see `Workspace.resolvePath`.
 * @throws PathError as {@link locate} and {@link assertRealPathInside} do.
 */
export function resolvePath(
  input: string,
  folders: readonly FolderRoot[],
  { planned, throughLink = false }: ResolveOptions = {},
): string {
  const given = locate(belowOpenFolder(input, folders), folders);
  assertRealPathInside(input, given);
  const location = innermost(input, given, folders, throughLink);
  assertNewNamesVisible(location);
  const { folder } = location;
  const relative = namesOnDisk(folder.fsPath, location.relative);
  const at = (each: string): string => workspacePathOf({ folder, relative: each }, folders);
  if (!planned || isThere(path.join(folder.fsPath, relative))) return at(relative);
  const prefix = at('');
  const own = planned().flatMap(each => (each.startsWith(prefix) ? [each.slice(prefix.length)] : []));
  return at(spelledAsPlanned(folder.fsPath, relative, own));
}

/**
 * The location with links followed, in the innermost open folder that holds it: so a file has one path, whichever folder or link
 * names it.
 * @param throughLink as in `ResolveOptions`.
 */
function innermost(
  input: string,
  location: WorkspaceLocation,
  folders: readonly FolderRoot[],
  throughLink: boolean,
): WorkspaceLocation {
  const { folder, relative } = location;
  const own = !throughLink && isLink(diskPathOf(location)) ? path.posix.basename(relative) : '';
  const named = own === '' ? relative : path.posix.dirname(relative);
  const { real, rest } = deepestExisting(input, folder.fsPath, named);
  const place = path.join(real, rest, own);
  const [inner] = folders
    .map(each => ({ each, root: realPathOf(each.fsPath) ?? each.fsPath }))
    .filter(({ root }) => isInside(place, root) && place !== root)
    .sort((a, b) => b.root.length - a.root.length);
  if (!inner) return location;
  return { folder: inner.each, relative: path.relative(inner.root, place).replaceAll(path.sep, '/') };
}

/**
 * Checks a location with symlinks followed: the deepest existing part of it must still be inside its folder. A link must not
 * hide a path whose changes only the user may apply, such as `.vscode/`. A dangling link is refused, because its target could be
 * created later.
 * @throws PathError if any of that fails.
 */
export function assertRealPathInside(input: string, location: WorkspaceLocation): void {
  const { rest, real } = deepestExisting(input, location.folder.fsPath, location.relative);
  assertInside(input, location, real, rest);
}

/**
 * Checks the place of a file or link that is replaced as a whole: like {@link assertRealPathInside}, but a link at the path itself is not
 * followed.
 * @throws PathError if that fails.
 */
export function assertRealFolderInside(input: string, location: WorkspaceLocation): void {
  const [above, name] = [path.posix.dirname(location.relative), path.posix.basename(location.relative)];
  const { rest, real } = deepestExisting(input, location.folder.fsPath, above);
  assertInside(input, location, real, path.join(rest, name));
}

/**
 * The same for a place whose links were followed already.
 * @param rest the names below `real`, which do not exist.
 */
export function assertInside(
  input: string,
  { folder, relative }: WorkspaceLocation,
  real: string,
  rest = '',
): void {
  const root = realPathSync(folder.fsPath);
  if (!isInside(real, root))
    throw new PathError('outside', `${input} leads outside the workspace through a symbolic link.`);
  const file = path.join(real, rest);
  const target = path.relative(root, file);
  if (target.split(path.sep).some(isGitName) || isInRepository(file, root))
    throw new PathError('protected', `${input} leads into git's own files.`);
  const shown = target.replaceAll(path.sep, '/');
  if (isProtectedPath(shown) && !isProtectedPath(relative))
    throw new PathError(
      'protected',
      `${input} leads to ${shown} through a symbolic link. Use ${shown} instead.`,
    );
}

/** Whether a file is a part of a repository that working trees use, also if that has another name than `.git`. */
function isInRepository(file: string, root: string): boolean {
  const repository = gitDirectoryAround(file);
  if (repository === undefined || repository === root || !isInside(repository, root)) return false;
  return hasWorkingTree(repository, root);
}

/**
 * The real path of the deepest part of a location that exists, and the rest of it. It is looked for from above, so that names below
 * one that does not exist cost nothing, however many there are.
 * @throws PathError for a link that leads nowhere.
 */
function deepestExisting(
  input: string,
  folder: string,
  relative: string,
): { readonly rest: string; readonly real: string } {
  const file = path.join(folder, relative);
  const whole = realPathOf(file);
  if (whole !== undefined) return { rest: '', real: whole };
  let at = folder;
  let real = realPathSync(folder);
  for (const name of path.relative(folder, file).split(path.sep)) {
    const next = path.join(at, name);
    const found = realPathOf(next);
    if (found === undefined && isLink(next))
      throw new PathError('outside', `${input} goes through a symbolic link that leads nowhere.`);
    if (found === undefined) break;
    at = next;
    real = found;
  }
  return { rest: path.relative(at, file), real };
}

function isLink(file: string): boolean {
  try {
    return lstatSync(file).isSymbolicLink();
  } catch {
    return false;
  }
}
