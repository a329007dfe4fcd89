import { lstatSync, realpathSync } from 'node:fs';
import * as path from 'node:path';
import { PathError } from '../../agent/base/errors.ts';
import { foldName, isProtectedPath } from '../../agent/preview/resolve/protectedPlaces.ts';
import { escapeProse } from '../plainText.ts';
import { namesOnDisk } from './namesOnDisk.ts';
import { isInside } from '../../agent/text/isInside.ts';

/** The parts of a workspace folder that paths depend on. */
export interface FolderRoot {
  readonly name: string;
  /** Absolute path in the file system of the extension host. */
  readonly fsPath: string;
}

/** A place inside a workspace folder. `relative` uses forward slashes and is never empty. */
export interface WorkspaceLocation<Root extends FolderRoot = FolderRoot> {
  readonly folder: Root;
  readonly relative: string;
}

/**
 * Gives each folder a unique name: folders of the same name get the name of their parent added, and a number if that is not
 * enough.
 */
export function withUniqueNames<Root extends FolderRoot>(folders: readonly Root[]): readonly Root[] {
  const taken = new Set<string>();
  return folders.map(folder => {
    const isShared = folders.some(other => other !== folder && other.name === folder.name);
    const base = isShared
      ? `${folder.name} (${path.basename(path.dirname(folder.fsPath)) || '/'})`
      : folder.name;
    let name = base;
    for (let n = 2; taken.has(name); n++) name = `${base} ${n}`;
    taken.add(name);
    return name === folder.name ? folder : { ...folder, name };
  });
}

/** The most names that a path has inside its folder. Whoever needs more made a mistake, and each costs a look at the disk. */
const MAX_NAMES = 100;

/**
 * The location that `input` means, judged by its text alone: an absolute path, a path relative to the first folder, or, if several
 * folders are open, one that begins with the name of a folder.
 * @throws PathError for a path that leads outside the folders, is not a file path, or is protected.
 */
export function locate<Root extends FolderRoot>(
  input: string,
  folders: readonly Root[],
): WorkspaceLocation<Root> {
  const [first] = folders;
  if (!first) throw new PathError('noWorkspace', 'No folder is open, so there are no files to work on.');
  // eslint-disable-next-line no-control-regex -- control characters are exactly what is refused
  if (input === '' || /[\0-\x1f]/.test(input) || !input.isWellFormed())
    throw new PathError('empty', `${JSON.stringify(input)} is not a file path.`);
  const slashed = path.sep === '\\' ? input.replaceAll('\\', '/') : input;
  const location = path.isAbsolute(input)
    ? insideAbsolute(input, folders)
    : insideRelative(slashed, first, folders);
  if (!location) throw new PathError('outside', `${input} is outside the workspace. Use a path inside it.`);
  if (location.relative === '' || location.relative.endsWith('/')) {
    throw new PathError('empty', `${input} is a folder, not a file.`);
  }
  const names = location.relative.split('/');
  if (names.length > MAX_NAMES)
    throw new PathError('empty', `${input.slice(0, 100)}… goes through more than ${MAX_NAMES - 1} folders.`);
  if (names.some(name => foldName(name) === '.git')) {
    throw new PathError('protected', `${input} belongs to git itself and cannot be read or changed.`);
  }
  return location;
}

/** The workspace path of a location: relative to its folder, and starting with the folder's name if several are open. */
export function workspacePathOf(
  { folder, relative }: WorkspaceLocation,
  folders: readonly FolderRoot[],
): string {
  return folders.length > 1 ? `${folder.name}/${relative}` : relative;
}

/**
 * Refuses new names with characters that cannot be seen. What exists under such a name can still be read and changed.
 * @throws PathError that shows the name with escapes.
 */
export function assertNewNamesVisible({ folder, relative }: WorkspaceLocation): void {
  const shown = escapeProse(relative);
  if (shown === relative) return;
  let at = folder.fsPath;
  for (const name of relative.split('/')) {
    at = path.join(at, name);
    if (escapeProse(name) === name || isThere(at)) continue;
    throw new PathError(
      'empty',
      `${shown} does not exist, and a new name must not have characters that cannot be seen.`,
    );
  }
}

/** The location as an absolute path in the file system of the extension host. */
export function diskPathOf({ folder, relative }: WorkspaceLocation): string {
  return path.join(folder.fsPath, relative);
}

/**
 * The workspace path of `input`, spelled as on disk.
 * @throws PathError as {@link locate} and {@link assertRealPathInside} do.
 */
export function resolvePath(input: string, folders: readonly FolderRoot[]): string {
  const location = locate(input, folders);
  assertRealPathInside(input, location);
  assertNewNamesVisible(location);
  const relative = namesOnDisk(location.folder.fsPath, location.relative);
  return workspacePathOf({ ...location, relative }, folders);
}

/**
 * Checks a location with symlinks followed: the deepest existing part of it must still be inside its folder. A link must not
 * hide a path whose changes only the user may apply, such as `.vscode/`. A dangling link is refused, because its target could be
 * created later.
 * @throws PathError if any of that fails.
 */
export function assertRealPathInside(input: string, { folder, relative }: WorkspaceLocation): void {
  const root = realpathSync.native(folder.fsPath);
  const { rest, real } = deepestExisting(input, folder.fsPath, relative);
  if (!isInside(real, root))
    throw new PathError('outside', `${input} leads outside the workspace through a symbolic link.`);
  const target = path.relative(root, path.join(real, rest));
  if (target.split(path.sep).some(part => foldName(part) === '.git'))
    throw new PathError('protected', `${input} leads into git's own files.`);
  const shown = target.replaceAll(path.sep, '/');
  if (isProtectedPath(shown) && !isProtectedPath(relative))
    throw new PathError(
      'protected',
      `${input} leads to ${shown} through a symbolic link. Use ${shown} instead.`,
    );
}

/**
 * The real path of the deepest part of a location that exists, and the rest of it. It is looked for from above, so that names
 * below one that does not exist cost nothing, however many they are.
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
  let real = realpathSync.native(folder);
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

function insideAbsolute<Root extends FolderRoot>(
  input: string,
  folders: readonly Root[],
): WorkspaceLocation<Root> | undefined {
  // If one open folder contains another, the inner one counts, as in VS Code.
  const [folder] = folders
    .filter(candidate => isInside(path.normalize(input), candidate.fsPath))
    .sort((a, b) => b.fsPath.length - a.fsPath.length);
  return folder && { folder, relative: path.relative(folder.fsPath, input).replaceAll(path.sep, '/') };
}

function insideRelative<Root extends FolderRoot>(
  input: string,
  first: Root,
  folders: readonly Root[],
): WorkspaceLocation<Root> | undefined {
  const relative = path.posix.normalize(input);
  if (relative === '..' || relative.startsWith('../')) return undefined;
  if (relative === '.') return { folder: first, relative: '' };
  const named =
    folders.length > 1 ? folders.find(folder => relative.startsWith(`${folder.name}/`)) : undefined;
  return named
    ? { folder: named, relative: relative.slice(named.name.length + 1) }
    : { folder: first, relative };
}

function isThere(file: string): boolean {
  try {
    lstatSync(file);
    return true;
  } catch {
    return false;
  }
}

function isLink(file: string): boolean {
  try {
    return lstatSync(file).isSymbolicLink();
  } catch {
    return false;
  }
}

/**
 * `undefined` if it does not exist, is below a file, or goes through a cycle of links.
 * @throws PathError if the path, or a name in it, is longer than the file system allows.
 */
function realPathOf(file: string): string | undefined {
  try {
    return realpathSync.native(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return undefined;
    if (code === 'ENAMETOOLONG')
      throw new PathError('empty', `${file.slice(0, 100)}… is too long for a path.`);
    throw error;
  }
}
