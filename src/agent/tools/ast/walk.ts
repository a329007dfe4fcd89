import * as fs from 'node:fs';
import { globBase, globToRegExp, isGlob } from './glob.ts';
import { IgnoreRules } from './ignoreRules.ts';

/** A folder of the workspace and what of it is searched. */
export interface SearchRoot {
  /** Absolute, with forward slashes, without one at its end. */
  readonly folder: string;
  /** What makes a path relative to the folder a workspace path: empty, or the folder's name and a slash. */
  readonly prefix: string;
  /** Files, folders (the empty text is the root itself) and globs, relative to the folder. */
  readonly paths: readonly string[];
  /** Globs of files and folders that are left out unless they are named. */
  readonly exclude: readonly string[];
}

export interface FoundFile {
  /** The workspace path. */
  readonly path: string;
  /** The absolute path. */
  readonly file: string;
}

/**
 * Finds the files that roots select, one folder after the other. Ignored and excluded files are left out unless a path
 * names them; `.git` and symbolic links always are, unless a link is named.
 */
export async function* findFiles(roots: readonly SearchRoot[]): AsyncGenerator<FoundFile[], void, undefined> {
  for (const root of roots) {
    const seen = new Set<string>();
    const excluded = root.exclude.map(globToRegExp);
    for (const selected of root.paths) {
      for await (const batch of select(root, selected, excluded)) {
        const fresh = batch.filter(relative => !seen.has(relative));
        for (const relative of fresh) seen.add(relative);
        if (fresh.length > 0) yield fresh.map(relative => located(root, relative));
      }
    }
  }
}

/** Whether a root selects a file that is not on disk; ignore files are not asked. */
export function selects(root: SearchRoot, relative: string): boolean {
  return root.paths.some(selected =>
    isGlob(selected)
      ? globToRegExp(selected).test(relative)
      : selected === '' || relative === selected || relative.startsWith(`${selected}/`),
  );
}

function located(root: SearchRoot, relative: string): FoundFile {
  return { path: root.prefix + relative, file: `${root.folder}/${relative}` };
}

async function* select(
  root: SearchRoot,
  selected: string,
  excluded: readonly RegExp[],
): AsyncGenerator<string[], void, undefined> {
  // A file may have brackets in its name: what exists is meant as it is.
  const found = fs.statSync(`${root.folder}/${selected}`, { throwIfNoEntry: false });
  if (found?.isFile()) yield [selected];
  else if (found?.isDirectory()) yield* walk(root.folder, selected, excluded, undefined);
  else if (isGlob(selected)) yield* walk(root.folder, globBase(selected), excluded, globToRegExp(selected));
}

async function* walk(
  folder: string,
  base: string,
  excluded: readonly RegExp[],
  only: RegExp | undefined,
): AsyncGenerator<string[], void, undefined> {
  const start = base === '' ? folder : `${folder}/${base}`;
  const pending = [{ relative: base, rules: await IgnoreRules.of(start) }];
  for (let at = pending.pop(); at; at = pending.pop()) {
    const absolute = at.relative === '' ? folder : `${folder}/${at.relative}`;
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
      if (!isFolder && only && !only.test(relative)) continue;
      if (excluded.some(glob => glob.test(relative)) || rules.hides(`${folder}/${relative}`, isFolder))
        continue;
      if (isFolder) pending.push({ relative, rules });
      else files.push(relative);
    }
    if (files.length > 0) yield files;
  }
}

/** A folder that cannot be read, or went away, has no entries. */
function readFolder(folder: string): fs.Dirent[] {
  try {
    return fs.readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
