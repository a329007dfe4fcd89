import { readdir, readlink } from 'node:fs/promises';
import type { Dirent } from 'node:fs';
import * as path from 'node:path';
import { forEachLimited, type TimeSlice } from '../../agent/base/async.ts';
import { isGitDirectory } from '../../agent/base/system/gitDirectory.ts';
import { isInside, realPath } from '../../agent/base/system/realPath.ts';
import { foldPath, isGitName } from '../../agent/hold/preview/resolve/protectedPlaces.ts';
import type { Look } from '../../agent/hold/preview/resolve/refusals.ts';
import { repositoryPlacesOf, type RepositoryPlaces } from './repositoryPlaces.ts';

/** Judges an absolute, folded path by its text alone. */
export type Judge = (folded: string) => boolean;

/** Paths of links by their target; both are absolute and folded. */
export type Links = ReadonlyMap<string, readonly string[]>;

/** Result of a search of the workspace. */
export interface Findings {
  readonly links: Links;
  /** Whether git reads or runs the file of an absolute, folded path. */
  readonly isGits: Judge;
}

/** How long callers that accept older findings may reuse them, in milliseconds. */
const RECENT_MS = 30_000;
/** How many folders are read, or paths followed, at the same time. */
export const AT_ONCE = 16;
/** A longer chain of links leads nowhere, as in the operating system. */
const MAX_CHAIN = 40;

/** Earlier findings, as far as a {@link Look} may use them. */
export class Looks {
  readonly #lately = new RecentFindings();
  readonly #own = new WeakMap<object, RecentFindings>();

  /** `undefined`: only fresh findings may be used. */
  of(look: Look | undefined): RecentFindings | undefined {
    if (look === undefined || look === 'lately') return look && this.#lately;
    const own = this.#own.get(look) ?? new RecentFindings();
    this.#own.set(look, own);
    return own;
  }
}

/** Findings of the last search. Each search reads all folders of the workspace. */
export class RecentFindings {
  #last: { readonly place: string; readonly findings: Promise<Findings> } | undefined;
  /** When the findings expire; `Infinity` while the search runs. */
  #until = Infinity;

  /** @param place the state that `read` depends on; findings of another state are not used */
  of(place: string, read: () => Promise<Findings>): Promise<Findings> {
    if (this.#last?.place === place && performance.now() < this.#until) return this.#last.findings;
    const findings = read();
    this.#last = { place, findings };
    this.#until = Infinity;
    const end = (lasting: number): void => {
      if (this.#last?.findings === findings) this.#until = performance.now() + lasting;
    };
    findings.then(
      () => end(RECENT_MS),
      () => end(0),
    );
    return findings;
  }
}

/**
 * Finds the links that give files other names, all of them inside the roots and places, and only protected ones in the folders
 * above; also the repositories in the roots and around them.
 */
export async function search(
  roots: readonly string[],
  places: readonly string[],
  judge: Judge,
  slice: TimeSlice,
): Promise<Findings> {
  const { links: found, tops } = await walk([...roots, ...places], slice);
  const above = new Set([...roots, ...places].flatMap(foldersAbove));
  await forEachLimited([...above], AT_ONCE, async folder => {
    for (const entry of await entriesOf(folder)) {
      await slice.turn();
      const name = path.join(folder, entry.name);
      // Other links may lead to disks that do not respond.
      if (entry.isSymbolicLink() && judge(foldedOf(name))) found.push(name);
      if (isRepository(entry)) tops.push(folder);
    }
  });
  const git = await repositoryPlacesOf(tops);
  const hooks = [...git.folders, ...git.directories.map(each => path.join(each, 'hooks'))];
  found.push(
    ...(
      await walk(
        hooks.filter(each => !roots.some(root => isInside(each, root))),
        slice,
      )
    ).links,
  );
  const links = new Map<string, string[]>();
  await forEachLimited(found, AT_ONCE, async name => {
    const target = foldedOf(await follow(name));
    await slice.turn();
    const others = links.get(target);
    if (others) others.push(foldedOf(name));
    else links.set(target, [foldedOf(name)]);
  });
  return { links, isGits: judgeOfGit(git) };
}

function judgeOfGit({ directories, tops, folders, files }: RepositoryPlaces): Judge {
  const folded = (paths: readonly string[]): ReadonlySet<string> => new Set(paths.map(foldedOf));
  const [ofGit, trees, run, named] = [folded(directories), folded(tops), folded(folders), folded(files)];
  return file => {
    if (named.has(file)) return true;
    let isInTree = false;
    for (let at = file; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) {
      if (run.has(at) || (!isInTree && ofGit.has(at))) return true;
      // Hooks may be a repository of their own.
      isInTree ||= trees.has(at) && !at.endsWith('/hooks');
    }
    return false;
  };
}

/** All links inside the folders, those folders that are links themselves, and the folders in which git finds a repository. */
async function walk(
  folders: readonly string[],
  slice: TimeSlice,
): Promise<{ readonly links: string[]; readonly tops: string[] }> {
  const links: string[] = [];
  const tops: string[] = [];
  const seen = new Set<string>();
  for (const folder of folders) {
    const real = await follow(folder);
    if (real !== folder) links.push(folder);
    let level = [real];
    while (level.length > 0) {
      const fresh = level.filter(each => !seen.has(each));
      const next: string[] = [];
      await forEachLimited(fresh, AT_ONCE, async each => {
        seen.add(each);
        const entries = await entriesOf(each);
        const isGits = entries.some(({ name }) => name === 'HEAD') && isGitDirectory(each);
        if (isGits || entries.some(isRepository)) tops.push(each);
        for (const entry of entries) {
          await slice.turn();
          const name = path.join(each, entry.name);
          if (entry.isSymbolicLink()) links.push(name);
          else if (entry.isDirectory() && isSearched(each, entry.name, isGits)) next.push(name);
        }
      });
      level = next;
    }
  }
  return { links, tops };
}

/** ASCII names that begin with neither `.` nor `g`, as most do, are not folded: folding takes longer than reading them. */
function isRepository({ name }: Dirent): boolean {
  return /^[.g]|[^ -~]/i.test(name) && isGitName(name);
}

/** Whether links are searched for in a folder: not in installed packages, and of git's own files only in the hooks. */
function isSearched(folder: string, name: string, isGits: boolean): boolean {
  if (path.basename(folder) === '.git') return name === 'hooks';
  return name !== 'node_modules' && !(isGits && /^(?:objects|refs|logs|lfs)$/.test(name));
}

/** The entries of a folder; empty if it cannot be read. */
async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch(() => []);
}

function foldersAbove(folder: string): readonly string[] {
  const parent = path.dirname(folder);
  return parent === folder ? [] : [parent, ...foldersAbove(parent)];
}

/** The path with all links followed. The file need not exist. */
export async function follow(file: string, chain = 0): Promise<string> {
  const real = await realPath(file).catch(() => undefined);
  const folder = path.dirname(file);
  if (real !== undefined || folder === file) return real ?? file;
  const inside = await follow(folder, chain);
  const target = chain < MAX_CHAIN ? await readlink(file).catch(() => undefined) : undefined;
  return target === undefined
    ? path.join(inside, path.basename(file))
    : follow(path.resolve(inside, target), chain + 1);
}

/** The path with forward slashes, folded. */
export function foldedOf(file: string): string {
  return foldPath(path.sep === '\\' ? file.replaceAll('\\', '/') : file);
}
