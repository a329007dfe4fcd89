import { lstatSync, realpathSync } from 'node:fs';
import * as path from 'node:path';
import { PathError } from '../../agent/base/errors.ts';
import { isHumanOnlyPath } from '../../agent/preview/authority.ts';

/** A workspace folder, reduced to what paths need. */
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
 * The folders with names that tell them apart: those of the same name get that of the folder that they are in, too, and a
 * number where that is not enough.
 */
export function withOwnNames<Root extends FolderRoot>(folders: readonly Root[]): readonly Root[] {
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

/**
 * Where `input` leads, judged by its text alone: a path relative to the first folder, one that begins with a folder's
 * name where several are open, or an absolute one.
 * @throws PathError for whatever leads outside, is no file path, or is protected.
 */
export function locate<Root extends FolderRoot>(
  input: string,
  folders: readonly Root[],
): WorkspaceLocation<Root> {
  const [first] = folders;
  if (!first) throw new PathError('noWorkspace', 'No folder is open, so there are no files to work on.');
  // eslint-disable-next-line no-control-regex -- control characters are exactly what is refused
  if (input === '' || /[\0-\x1f]/.test(input))
    throw new PathError('empty', `${JSON.stringify(input)} is not a file path.`);
  const slashed = path.sep === '\\' ? input.replaceAll('\\', '/') : input;
  const location = path.isAbsolute(input)
    ? insideAbsolute(input, folders)
    : insideRelative(slashed, first, folders);
  if (!location) throw new PathError('outside', `${input} is outside the workspace. Use a path inside it.`);
  if (location.relative === '' || location.relative.endsWith('/')) {
    throw new PathError('empty', `${input} is a folder, not a file.`);
  }
  if (location.relative.split('/').some(part => part.toLowerCase() === '.git')) {
    throw new PathError('protected', `${input} belongs to git itself and cannot be read or changed here.`);
  }
  return location;
}

/** The one text for a location: relative to its folder, with the folder's name in front where several are open. */
export function workspacePathOf(
  { folder, relative }: WorkspaceLocation,
  folders: readonly FolderRoot[],
): string {
  return folders.length > 1 ? `${folder.name}/${relative}` : relative;
}

/**
 * Follows symlinks: the deepest part of the location that exists must still be inside its folder, and no link may lead
 * to what only a human applies, under a name that does not tell. A link to what does not exist is refused: something
 * could be made there later.
 * @throws PathError when it is not.
 */
export function assertReallyInside(input: string, { folder, relative }: WorkspaceLocation): void {
  const root = realpathSync.native(folder.fsPath);
  for (let at = path.join(folder.fsPath, relative); ; at = path.dirname(at)) {
    const real = realPathOf(at);
    if (real === undefined && isLink(at))
      throw new PathError('outside', `${input} goes through a symbolic link that leads nowhere.`);
    if (real === undefined && at !== folder.fsPath) continue;
    if (real !== undefined && isInside(real, root)) {
      const target = path.relative(
        root,
        path.join(real, path.relative(at, path.join(folder.fsPath, relative))),
      );
      if (target.split(path.sep).includes('.git'))
        throw new PathError('protected', `${input} leads into git's own files.`);
      const shown = target.replaceAll(path.sep, '/');
      if (isHumanOnlyPath(shown) && !isHumanOnlyPath(relative))
        throw new PathError(
          'protected',
          `${input} leads to ${shown} through a symbolic link. Use that path.`,
        );
      return;
    }
    throw new PathError('outside', `${input} leads outside the workspace through a symbolic link.`);
  }
}

function insideAbsolute<Root extends FolderRoot>(
  input: string,
  folders: readonly Root[],
): WorkspaceLocation<Root> | undefined {
  // A folder may be open beside one that it is in: then the inner one, as VS Code has it.
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

function isInside(file: string, root: string): boolean {
  const relative = path.relative(root, file);
  return (
    relative === '' ||
    (relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative))
  );
}

function isLink(file: string): boolean {
  try {
    return lstatSync(file).isSymbolicLink();
  } catch {
    return false;
  }
}

/** `undefined` for what is missing, below a file, or at the end of links that lead in circles. */
function realPathOf(file: string): string | undefined {
  try {
    return realpathSync.native(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return undefined;
    throw error;
  }
}
