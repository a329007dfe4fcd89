import * as fs from 'node:fs';
import * as path from 'node:path';
import { settingsIn } from './gitConfig.ts';
import { realPlaceSync } from './realPath.ts';

/**
 * Whether git takes a folder of any name for a git directory: the one that a file `.git` names, a bare repository, or
 * the part of one that belongs to a worktree. Git then runs programs that its configuration and its hooks name.
 */
export function isGitDirectory(folder: string): boolean {
  if (!hasHead(folder)) return false;
  const common = commonDirectoryOf(folder);
  return ['objects', 'refs'].every(name => fs.existsSync(path.join(common, name)));
}

/** Whether a folder has the file that git requires of every git directory. */
export function hasHead(folder: string): boolean {
  return statOf(folder, 'HEAD')?.isDirectory() === false;
}

/** The folder with a git directory's configuration, hooks and objects: for a worktree, another git directory. */
export function commonDirectoryOf(gitDirectory: string): string {
  const named = readIfThere(path.join(gitDirectory, 'commondir'));
  return named === undefined ? gitDirectory : realPlaceSync(path.resolve(gitDirectory, named));
}

/**
 * The path that the `.git` of a folder is, links to or names, whether that is a git directory or not.
 * @returns `undefined` without `.git`
 */
export function gitDirectoryOf(folder: string): string | undefined {
  if (!isThere(folder, '.git')) return undefined;
  const own = path.join(folder, '.git');
  const named = readIfThere(own)?.match(/^gitdir: (.*)$/s)?.[1];
  return realPlaceSync(named === undefined ? own : path.resolve(folder, named));
}

/**
 * The nearest git directory that a file is a part of: none for files of a working tree inside one, such as `project.git/main/src`.
 * @param file absolute, with links followed; it need not exist
 */
export function gitDirectoryAround(file: string): string | undefined {
  return foldersAround(file).find(isGitDirectory);
}

/** The folders around a file, the innermost first, up to the nearest working tree; all of them if there is none. */
function foldersAround(file: string): readonly string[] {
  const folder = path.dirname(file);
  return isOutermost(folder) ? [folder] : [folder, ...foldersAround(folder)];
}

/** Whether a folder is the last of {@link foldersAround}. */
export function isOutermost(folder: string): boolean {
  // Hooks may be a repository of their own, and git runs them nevertheless.
  return folder === path.dirname(folder) || (isThere(folder, '.git') && path.basename(folder) !== 'hooks');
}

/**
 * Whether a git directory belongs to a working tree. If not, it is a bare repository, such as one that tests use, which concerns
 * git only if someone works inside it.
 * @param top the outermost folder that may be its working tree
 */
export function hasWorkingTree(gitDirectory: string, top: string): boolean {
  if (!isBare(readIfThere(path.join(gitDirectory, 'config')) ?? '')) return true;
  if (isThere(gitDirectory, 'worktrees')) return true;
  for (let at = path.dirname(gitDirectory); ; at = path.dirname(at)) {
    if (gitDirectoryOf(at) === gitDirectory) return true;
    if (at === top || at === path.dirname(at)) return false;
  }
}

function isThere(folder: string, name: string): boolean {
  return statOf(folder, name) !== undefined;
}

function statOf(folder: string, name: string): fs.Stats | undefined {
  try {
    return fs.lstatSync(path.join(folder, name), { throwIfNoEntry: false });
  } catch {
    return undefined; // in a folder that the user may not read
  }
}

/** The text of one of git's files, without line breaks at the end; `undefined` if there is none, or it is too large to be one. */
function readIfThere(file: string): string | undefined {
  try {
    const stat = fs.statSync(file);
    const isOwn = stat.isFile() && stat.size < 1_000_000;
    return isOwn ? withoutLastLineEnds(fs.readFileSync(file, 'utf8')) : undefined;
  } catch {
    return undefined;
  }
}

function withoutLastLineEnds(text: string): string {
  let end = text.length;
  while (end > 0 && '\r\n'.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** @param config the text of a repository's configuration */
function isBare(config: string): boolean {
  return [...settingsIn(config)].some(({ key, value }) => key === 'core.bare' && /^true$/i.test(value));
}
