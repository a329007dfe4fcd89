import * as fs from 'node:fs';
import {
  excludeMatcher,
  globBase,
  globMatcher,
  isGlob,
  type PathMatcher,
} from '../../../../hold/text/glob.ts';
import { IgnoreRules } from './ignoreRules.ts';
import * as path from 'node:path';
import { realPathSync, isInside } from '../../../../base/system/realPath.ts';
import { isGitName } from '../../../../hold/preview/resolve/protectedPlaces.ts';

/** A workspace folder and the part of it that is searched. */
export interface SearchRoot {
  /** Absolute, with forward slashes but none at the end. */
  readonly folder: string;
  /** The prefix that turns a path relative to the folder into a workspace path: empty, or the folder's name and a slash. */
  readonly prefix: string;
  /** Files, folders and globs, relative to the folder; empty text is the folder itself. */
  readonly paths: readonly string[];
  /** Globs of files and folders that are excluded unless they are named. */
  readonly exclude: readonly string[];
}

export interface FoundFile {
  /** The workspace path. */
  readonly path: string;
  /** The absolute path. */
  readonly file: string;
}

/**
 * Finds the files on disk that roots select, in batches of one folder. Ignored and excluded files are left out unless a
 * path names them. `.git` is always left out, and so are symbolic links unless a path names them.
 */
export async function* findFiles(roots: readonly SearchRoot[]): AsyncGenerator<FoundFile[], void, undefined> {
  for (const root of roots) {
    const seen = new Set<string>();
    const isExcluded = await globMatcher(root.exclude);
    for (const selected of root.paths) {
      for await (const batch of select(root, selected, isExcluded)) {
        const fresh = batch.filter(relative => !seen.has(relative));
        for (const relative of fresh) seen.add(relative);
        if (fresh.length > 0) yield fresh.map(relative => located(root, relative));
      }
    }
  }
}

/** Returns a function that tells whether roots select a workspace path, which need not exist on disk. */
export async function selectorOf(roots: readonly SearchRoot[]): Promise<PathMatcher> {
  const selectors = await Promise.all(
    roots.map(async root => {
      const selects = await selectorIn(root);
      return (path: string) => path.startsWith(root.prefix) && selects(path.slice(root.prefix.length));
    }),
  );
  return path => selectors.some(selects => selects(path));
}

/** Like {@link selectorOf}, for paths relative to the root's folder. */
async function selectorIn(root: SearchRoot): Promise<PathMatcher> {
  const isExcluded = await excludeMatcher(root.exclude);
  const selectors = root.paths.map(async (selected): Promise<PathMatcher> => {
    const base = isGlob(selected) ? globBase(selected) : selected;
    const isMatch = isGlob(selected) ? await globMatcher([selected]) : () => true;
    // A name may contain brackets.
    const matches: PathMatcher = relative => relative.startsWith(`${selected}/`) || isMatch(relative);
    const prefix = base === '' ? '' : `${base}/`;
    const isHidden = (await IgnoreRules.of(absoluteOf(root.folder, base))).hidesBelow();
    return relative =>
      relative === selected ||
      (relative.startsWith(prefix) &&
        !/(^|\/)\.git\//.test(relative) &&
        matches(relative) &&
        !isExcluded(relative, base) &&
        !isHidden(relative.slice(prefix.length)));
  });
  const all = await Promise.all(selectors);
  return relative => all.some(selects => selects(relative));
}

function absoluteOf(folder: string, relative: string): string {
  return relative === '' ? folder : `${folder}/${relative}`;
}

function located(root: SearchRoot, relative: string): FoundFile {
  return { path: root.prefix + relative, file: `${root.folder}/${relative}` };
}

async function* select(
  root: SearchRoot,
  selected: string,
  isExcluded: PathMatcher,
): AsyncGenerator<string[], void, undefined> {
  // A name may contain brackets: if such a path exists, it is not a glob. Other paths were checked when they were resolved.
  const isPath = !isGlob(selected) || leadsInside(root.folder, selected);
  const found = isPath ? fs.statSync(`${root.folder}/${selected}`, { throwIfNoEntry: false }) : undefined;
  if (found?.isFile()) yield [selected];
  else if (found?.isDirectory()) yield* walk(root.folder, selected, isExcluded);
  else if (isGlob(selected))
    yield* walk(root.folder, globBase(selected), isExcluded, await globMatcher([selected]));
}

async function* walk(
  folder: string,
  base: string,
  isExcluded: PathMatcher,
  isSelected: PathMatcher = () => true,
): AsyncGenerator<string[], void, undefined> {
  const pending = [{ relative: base, rules: await IgnoreRules.of(absoluteOf(folder, base)) }];
  for (let at = pending.pop(); at; at = pending.pop()) {
    const absolute = absoluteOf(folder, at.relative);
    const entries = readFolder(absolute);
    const rules =
      at.relative === base
        ? at.rules
        : at.rules.into(
            absolute,
            entries.map(entry => entry.name),
          );
    const files: string[] = [];
    for (const entry of entries) {
      const isFolder = entry.isDirectory();
      if ((!isFolder && !entry.isFile()) || entry.name === '.git') continue;
      const relative = at.relative === '' ? entry.name : `${at.relative}/${entry.name}`;
      if (!isFolder && !isSelected(relative)) continue;
      if (isExcluded(relative) || rules.hides(`${folder}/${relative}`, isFolder ? 'folder' : 'file'))
        continue;
      if (isFolder) pending.push({ relative, rules });
      else files.push(relative);
    }
    if (files.length > 0) yield files;
  }
}

/** The entries of a folder; none if it cannot be read or no longer exists. */
function readFolder(folder: string): fs.Dirent[] {
  try {
    return fs.readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/**
 * Whether something is there, with links followed, that is inside the folder and not one of git's own files.
 * @param folder absolute
 * @param relative to the folder
 */
export function leadsInside(folder: string, relative: string): boolean {
  try {
    const root = realPathSync(folder);
    const real = realPathSync(path.join(folder, relative));
    const names = path.relative(root, real).split(path.sep);
    return isInside(real, root) && !names.some(isGitName);
  } catch {
    return false;
  }
}
