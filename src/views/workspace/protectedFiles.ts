import { readdir, readlink } from 'node:fs/promises';
import type { Dirent } from 'node:fs';
import * as path from 'node:path';
import { forEachLimited, TimeSlice } from '../../agent/base/async.ts';
import { PathError } from '../../agent/base/errors.ts';
import { realPath } from '../../agent/base/system/realPath.ts';
import { foldCase, foldPath, isProtectedFolded } from '../../agent/preview/resolve/protectedPlaces.ts';
import type { FolderRoot } from '../../agent/preview/workspace.ts';
import { excludeMatcher } from '../../agent/tools/ast/scope/glob.ts';
import { diskPathOf, locate } from './workspacePaths.ts';

/** What is protected in addition to the built-in places. */
export interface OwnProtections {
  /**
   * Globs, relative to each workspace folder; a glob without a slash matches a name in any folder. If a folder matches,
   * everything inside it is protected, too.
   */
  readonly alwaysAsk: readonly string[];
  /** Globs of the same kind that VS Code's settings mark as read-only, and those that they except. */
  readonly readOnly?: { readonly include: readonly string[]; readonly exclude: readonly string[] };
  /** Absolute paths of the folders and files that custom tools are loaded from. */
  readonly toolPlaces: readonly string[];
}

/** Whether an absolute, folded path is protected, by its text alone. */
type Judge = (folded: string) => boolean;

/** Paths of links by their target; both are absolute and folded. */
type Links = ReadonlyMap<string, readonly string[]>;

/** How long links that were found are used again where that is allowed, in milliseconds. */
const RECENT_MS = 30_000;
/** How many folders are read, or paths followed, at the same time. */
const AT_ONCE = 16;
/** A file with more names than this counts as protected. */
const MAX_NAMES = 500;
/** A longer chain of links leads nowhere, as in the operating system. */
const MAX_CHAIN = 40;

/** As `ResolvingFiles.isProtected`, on disk. A path that cannot be located is protected. */
export async function isProtectedOnDisk(
  paths: readonly string[],
  roots: readonly FolderRoot[],
  own: OwnProtections,
  recent?: RecentLinks,
): Promise<boolean> {
  let files: readonly string[];
  try {
    files = paths.map(each => diskPathOf(locate(each, roots)));
  } catch (error) {
    if (error instanceof PathError) return true;
    throw error;
  }
  const folders = roots.map(({ fsPath }) => fsPath);
  return isAnyProtected(files, folders, own, recent);
}

/**
 * Whether one of the files is protected by any of its names: the given path, its real path, or a path through links in the
 * workspace or in the places of custom tools. If a protected name is a link, its target is protected. The files need not exist.
 * @param files absolute paths.
 * @param folders absolute paths of the workspace folders.
 * @param recent spares the search for links if one has just ended.
 */
async function isAnyProtected(
  files: readonly string[],
  folders: readonly string[],
  { alwaysAsk, toolPlaces, readOnly }: OwnProtections,
  recent?: RecentLinks,
): Promise<boolean> {
  const roots = await bothNames(folders);
  const places = await bothNames(toolPlaces);
  const judge = await judgeOf(roots, places, alwaysAsk, readOnly);
  const reals = await mapLimited(files, file => follow(file));
  if ([...files, ...reals].some(file => judge(foldedOf(file)))) return true;
  const slice = new TimeSlice();
  const read = (): Promise<Links> => readLinks(roots, places, judge, slice);
  const links = await (recent?.of(JSON.stringify([roots, places, alwaysAsk, readOnly]), read) ?? read());
  for (const real of reals) {
    await slice.turn();
    const names = namesOf(foldedOf(real), links);
    if (names.length > MAX_NAMES || names.some(judge)) return true;
  }
  return false;
}

/** The links that were found last. To find them, each folder of the workspace is read. */
export class RecentLinks {
  #last: { readonly place: string; readonly links: Promise<Links> } | undefined;
  /** While they are searched for, the time never comes. */
  #until = Infinity;

  /** @param place what `read` depends on; links of another one are not used */
  of(place: string, read: () => Promise<Links>): Promise<Links> {
    if (this.#last?.place === place && performance.now() < this.#until) return this.#last.links;
    const links = read();
    this.#last = { place, links };
    this.#until = Infinity;
    const end = (lasting: number): void => {
      if (this.#last?.links === links) this.#until = performance.now() + lasting;
    };
    links.then(
      () => end(RECENT_MS),
      () => end(0),
    );
    return links;
  }
}

/** The paths, and their real paths where those differ. */
async function bothNames(paths: readonly string[]): Promise<readonly string[]> {
  return [...new Set([...paths, ...(await mapLimited(paths, each => follow(each)))])];
}

async function judgeOf(
  roots: readonly string[],
  places: readonly string[],
  alwaysAsk: readonly string[],
  { include, exclude }: NonNullable<OwnProtections['readOnly']> = { include: [], exclude: [] },
): Promise<Judge> {
  const matcher = async (settings: readonly string[]): Promise<(path: string) => boolean> => {
    const globs = settings.map(globOf).filter(glob => glob !== '');
    return globs.length > 0 ? excludeMatcher(globs) : () => false;
  };
  const [isNamed, isReadOnly, isExcepted] = [
    await matcher(alwaysAsk),
    await matcher(include),
    await matcher(exclude),
  ];
  const isAsked = (path: string): boolean => isNamed(path) || (isReadOnly(path) && !isExcepted(path));
  const within = (folder: string): string => `${foldedOf(folder)}/`;
  const ownRoots = roots.map(within);
  const ownPlaces = places.map(within);
  return folded =>
    isProtectedFolded(folded) ||
    ownPlaces.some(place => `${folded}/`.startsWith(place)) ||
    ownRoots.some(root => folded.startsWith(root) && isAsked(folded.slice(root.length)));
}

/** The glob of the setting for folded paths that are relative to a workspace folder. */
function globOf(setting: string): string {
  const glob = foldCase(setting.trim()).replace(/(?<!\/)\/+$/, '');
  return glob.includes('/') ? glob.replace(/^\.?\/+/, '') : glob && `**/${glob}`;
}

/**
 * The names of a file through links, its real path first. Stops after more than {@link MAX_NAMES}. Each target is used only
 * once, so that circular links end.
 */
function namesOf(real: string, links: Links): readonly string[] {
  const names = [real];
  const used = new Set<string>();
  for (const name of names) {
    if (names.length > MAX_NAMES) break;
    let target = name;
    for (;;) {
      if (!used.has(target)) {
        const found = links.get(target) ?? [];
        if (found.length > 0) used.add(target);
        for (const link of found) names.push(link + name.slice(target.length));
      }
      if (target === '') break;
      target = target.slice(0, Math.max(0, target.lastIndexOf('/')));
    }
  }
  return names;
}

/** The links that give files other names: all inside the roots and places, and protected ones in the folders above them. */
async function readLinks(
  roots: readonly string[],
  places: readonly string[],
  judge: Judge,
  slice: TimeSlice,
): Promise<Links> {
  const found = await linksBelow([...roots, ...places], slice);
  const above = new Set([...roots, ...places].flatMap(foldersAbove));
  await forEachLimited([...above], AT_ONCE, async folder => {
    for (const entry of await entriesOf(folder)) {
      await slice.turn();
      const name = path.join(folder, entry.name);
      // Other links may lead to disks that do not respond.
      if (entry.isSymbolicLink() && judge(foldedOf(name))) found.push(name);
    }
  });
  const links = new Map<string, string[]>();
  await forEachLimited(found, AT_ONCE, async name => {
    const target = foldedOf(await follow(name));
    await slice.turn();
    const others = links.get(target);
    if (others) others.push(foldedOf(name));
    else links.set(target, [foldedOf(name)]);
  });
  return links;
}

/** All links inside the folders, and those folders that are links themselves. */
async function linksBelow(folders: readonly string[], slice: TimeSlice): Promise<string[]> {
  const links: string[] = [];
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
        for (const entry of await entriesOf(each)) {
          await slice.turn();
          const name = path.join(each, entry.name);
          if (entry.isSymbolicLink()) links.push(name);
          else if (entry.isDirectory() && isSearched(each, entry.name)) next.push(name);
        }
      });
      level = next;
    }
  }
  return links;
}

/** Whether links are searched for in a folder: not in installed packages, and of git's own files only in the hooks. */
function isSearched(folder: string, name: string): boolean {
  if (path.basename(folder) === '.git') return name === 'hooks';
  return name !== 'node_modules';
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
async function follow(file: string, chain = 0): Promise<string> {
  const real = await realPath(file).catch(() => undefined);
  const folder = path.dirname(file);
  if (real !== undefined || folder === file) return real ?? file;
  const inside = await follow(folder, chain);
  const target = chain < MAX_CHAIN ? await readlink(file).catch(() => undefined) : undefined;
  return target === undefined
    ? path.join(inside, path.basename(file))
    : follow(path.resolve(inside, target), chain + 1);
}

function foldedOf(file: string): string {
  return foldPath(path.sep === '\\' ? file.replaceAll('\\', '/') : file);
}

async function mapLimited(
  items: readonly string[],
  map: (item: string) => Promise<string>,
): Promise<readonly string[]> {
  const mapped: string[] = [];
  await forEachLimited(items, AT_ONCE, async (item, index) => {
    mapped[index] = await map(item);
  });
  return mapped;
}
