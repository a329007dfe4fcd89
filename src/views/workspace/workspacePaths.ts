import { lstatSync } from 'node:fs';
import * as path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { shortened } from '../../agent/base/cutText.ts';
import { hasCode, PathError } from '../../agent/base/errors.ts';
import { isUsableName, quoted } from '../../agent/base/safeName.ts';
import { realPathSync, isInside } from '../../agent/base/system/realPath.ts';
import { foldCase, isGitName } from '../../agent/hold/preview/resolve/protectedPlaces.ts';
import type { FolderRoot } from '../../agent/hold/preview/workspace.ts';
import { escapeProse } from '../plainText.ts';
import { isNameOnWindows, isSameFile } from './namesOnDisk.ts';

/** A place inside a workspace folder. `relative` uses forward slashes and is never empty. */
export interface WorkspaceLocation<Root extends FolderRoot = FolderRoot> {
  readonly folder: Root;
  readonly relative: string;
}

/**
 * Gives each folder a unique name: folders of the same name get the name of their parent added, or the letter of its drive, and a
 * number if that is not enough.
 * @param paths those of the platform; for tests.
 */
export function withUniqueNames<Root extends FolderRoot>(
  folders: readonly Root[],
  paths: path.PlatformPath = path,
): readonly Root[] {
  const parentOf = (folder: string): string => {
    const parent = paths.dirname(folder);
    return paths.basename(parent) || parent.replace(/:?[\\]$/, '');
  };
  const taken = new Set<string>();
  return folders.map(folder => {
    const isShared = folders.some(other => other !== folder && other.name === folder.name);
    const base = isShared ? `${folder.name} (${parentOf(folder.fsPath)})` : folder.name;
    let name = base;
    for (let n = 2; taken.has(name); n++) name = `${base} ${n}`;
    taken.add(name);
    return name === folder.name ? folder : { ...folder, name };
  });
}

/** The longest name that a file system holds, in characters. Some also count bytes. */
const MAX_NAME_CHARS = 255;

/** Why a path that may well be on disk is refused. */
const UNUSABLE =
  ' A name with line breaks, control characters or three backticks cannot be used here: the user must rename it.';

/** The most names that a path has inside its folder. A longer path is a mistake, and each name costs a look at the disk. */
const MAX_NAMES = 100;

/**
 * The location that `input` means, judged by its text alone: an absolute path, a path relative to the first folder, or, if several
 * folders are open, one that begins with the name of a folder.
 * @param paths those of the platform; for tests.
 * @throws PathError for a path that leads outside the folders, is not a file path, or is protected.
 */
export function locate<Root extends FolderRoot>(
  input: string,
  folders: readonly Root[],
  paths: path.PlatformPath = path,
): WorkspaceLocation<Root> {
  const [first] = folders;
  if (!first) throw new PathError('noWorkspace', 'No folder is open, so there are no files to work on.');
  if (input === '' || !isUsableName(input))
    throw new PathError('empty', `${quoted(input)} is not a file path.${input === '' ? '' : UNUSABLE}`);
  const isWindows = paths.sep === '\\';
  const slashed = isWindows ? input.replaceAll('\\', '/') : input;
  const location = paths.isAbsolute(input)
    ? insideAbsolute(input, folders, paths)
    : insideRelative(slashed, first, folders);
  if (!location) throw new PathError('outside', `${input} is outside the workspace. Use a path inside it.`);
  if (location.relative === '' || location.relative.endsWith('/')) {
    throw new PathError('empty', `${input} is a folder, not a file.`);
  }
  const names = location.relative.split('/');
  if (names.length > MAX_NAMES)
    throw new PathError('empty', `${shortened(input, 100)} goes through more than ${MAX_NAMES - 1} folders.`);
  const long = names.find(name => name.length > MAX_NAME_CHARS);
  if (long !== undefined)
    throw new PathError(
      'empty',
      `${shortened(long, 100)} is not a file name: names have at most ${MAX_NAME_CHARS} characters.`,
    );
  if (names.some(isGitName)) {
    throw new PathError('protected', `${input} belongs to git itself and cannot be read or changed.`);
  }
  const impossible = isWindows ? names.find(name => !isNameOnWindows(name)) : undefined;
  if (impossible !== undefined)
    throw new PathError('empty', `${input} is not a file path: Windows has no files named ${impossible}.`);
  return location;
}

/**
 * The open folder that `input` names: by an absolute path or, if several are open, by its name; the first for `.` and an empty
 * text.
 * @param paths those of the platform; for tests.
 */
export function openFolderNamed<Root extends FolderRoot>(
  input: string,
  folders: readonly Root[],
  paths: path.PlatformPath = path,
): Root | undefined {
  if (paths.isAbsolute(input)) {
    const file = belowOpenFolder(input, folders, FOLDERS_ON_DISK, paths);
    return folders.find(({ fsPath }) => paths.relative(fsPath, file) === '');
  }
  const wanted = paths.join(input, '.');
  if (wanted === '.') return folders[0];
  return folders.length > 1 ? folders.find(({ name }) => paths.join(name, '.') === wanted) : undefined;
}

/**
 * The workspace path of a location: relative to the innermost of the open folders that has it, and starting with the folder's name
 * if several are open.
 */
export function workspacePathOf(location: WorkspaceLocation, folders: readonly FolderRoot[]): string {
  if (folders.length < 2) return location.relative;
  const place = diskPathOf(location);
  const [inner] = folders
    .filter(({ fsPath }) => fsPath.length > location.folder.fsPath.length && isBelow(place, fsPath))
    .sort((a, b) => b.fsPath.length - a.fsPath.length);
  if (!inner) return `${location.folder.name}/${location.relative}`;
  return `${inner.name}/${path.relative(inner.fsPath, place).replaceAll(path.sep, '/')}`;
}

function isBelow(place: string, folder: string): boolean {
  return place !== folder && isInside(place, folder);
}

/**
 * Refuses new names with invisible characters. Existing files under such a name can still be read and changed.
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
 * The workspace paths that led elsewhere while other folders were open, with the absolute paths of those places.
 * @param before the folders that were open then.
 * @param isSame as `isSameFile`; for tests.
 */
export function formerPlaces(
  workspacePaths: readonly string[],
  before: readonly FolderRoot[],
  now: readonly FolderRoot[],
  isSame = isSameFile,
): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  if (isDeepStrictEqual(before, now)) return places;
  for (const each of workspacePaths) {
    const place = formerPlace(each, before, now, isSame);
    if (place !== undefined) places.set(each, place);
  }
  return places;
}

function formerPlace(
  workspacePath: string,
  before: readonly FolderRoot[],
  now: readonly FolderRoot[],
  isSame: typeof isSameFile,
): string | undefined {
  const former = locatedIn(workspacePath, before);
  const current = locatedIn(workspacePath, now);
  const isThere =
    current?.relative === former?.relative &&
    isSame(current?.folder.fsPath ?? '', former?.folder.fsPath ?? '');
  return former && !isThere ? diskPathOf(former) : undefined;
}

function locatedIn(workspacePath: string, folders: readonly FolderRoot[]): WorkspaceLocation | undefined {
  try {
    return locate(workspacePath, folders);
  } catch {
    return undefined; // for example, if no folder is open
  }
}

/** The file system calls that {@link belowOpenFolder} needs. */
export interface FolderLookup {
  /** The path with links followed and spelled as on disk; the path itself if it does not exist. */
  readonly realOf: (folder: string) => string;
  /** Whether two paths that differ in case or normalisation at most are one folder. */
  readonly isSame: (a: string, b: string) => boolean;
}

const FOLDERS_ON_DISK: FolderLookup = {
  realOf: folder => realPathOf(folder) ?? folder,
  isSame: isSameFile,
};

/**
 * An absolute path to a file of an open folder, spelled with the folder as VS Code spells it. Others may give the folder's real
 * path, where it was opened by a link or, on Windows, by a short name; or its name in another case or normalisation. Any other
 * path stays as it is, and is not looked at on the disk: it may be on a server that waits for passwords.
 * @param paths those of the platform; for tests.
 */
export function belowOpenFolder(
  input: string,
  folders: readonly FolderRoot[],
  { realOf, isSame } = FOLDERS_ON_DISK,
  paths: path.PlatformPath = path,
): string {
  if (!paths.isAbsolute(input)) return input;
  const file = paths.normalize(input);
  if (folders.some(({ fsPath }) => isInside(file, fsPath, paths))) return input;
  for (const { fsPath } of folders) {
    for (const base of [fsPath, realOf(fsPath)]) {
      const names = file.split(paths.sep);
      const folder = names.slice(0, base.split(paths.sep).length).join(paths.sep);
      if (foldCase(folder) === foldCase(base) && isSame(folder, base))
        return paths.join(fsPath, paths.relative(folder, file));
    }
  }
  return input;
}

function insideAbsolute<Root extends FolderRoot>(
  input: string,
  folders: readonly Root[],
  paths: path.PlatformPath,
): WorkspaceLocation<Root> | undefined {
  // If one open folder contains another, the inner one counts, as in VS Code.
  const [folder] = folders
    .filter(candidate => isInside(paths.normalize(input), candidate.fsPath, paths))
    .sort((a, b) => b.fsPath.length - a.fsPath.length);
  return folder && { folder, relative: paths.relative(folder.fsPath, input).replaceAll(paths.sep, '/') };
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

/** Whether something exists at a path, even a dangling link. */
export function isThere(file: string): boolean {
  try {
    lstatSync(file);
    return true;
  } catch {
    return false;
  }
}

/**
 * The path with links followed; `undefined` if it does not exist, is below a file, or goes through a cycle of links.
 * @throws PathError if the path, or a name in it, is longer than the file system allows.
 */
export function realPathOf(file: string): string | undefined {
  try {
    return realPathSync(file);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return undefined;
    if (hasCode(error, 'ENAMETOOLONG'))
      throw new PathError('empty', `${shortened(file, 100)} is too long for a path.`);
    throw error;
  }
}
