import { forEachLimited, TimeSlice } from '../../agent/base/async.ts';
import { PathError } from '../../agent/base/errors.ts';
import { foldCase, isProtectedFolded } from '../../agent/hold/preview/resolve/protectedPlaces.ts';
import type { FolderRoot } from '../../agent/hold/preview/workspace.ts';
import { excludeMatcher } from '../../agent/hold/text/glob.ts';
import {
  AT_ONCE,
  foldedOf,
  follow,
  search,
  type Findings,
  type Judge,
  type Links,
  type RecentFindings,
} from './findings.ts';
import { FilesOfGit } from './repositoryPlaces.ts';
import { diskPathOf, locate } from './workspacePaths.ts';

/** Protections in addition to the built-in places. */
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

/** A file with more names than this counts as protected. */
const MAX_NAMES = 500;
/** Like `ResolvingFiles.isProtected`, on disk. A path that cannot be located is protected. */
export async function isProtectedOnDisk(
  paths: readonly string[],
  roots: readonly FolderRoot[],
  own: OwnProtections,
  recent?: RecentFindings,
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
 * workspace or in the places of custom tools. If a protected name is a link, its target is protected. So are git's own files in a
 * repository of any name, and the files that its configuration names. The files need not exist.
 * @param files absolute paths.
 * @param folders absolute paths of the workspace folders.
 * @param recent spares the search of the workspace if one has just ended.
 */
async function isAnyProtected(
  files: readonly string[],
  folders: readonly string[],
  { alwaysAsk, toolPlaces, readOnly }: OwnProtections,
  recent?: RecentFindings,
): Promise<boolean> {
  const roots = await bothNames(folders);
  const places = await bothNames(toolPlaces);
  const judge = await judgeOf(roots, places, alwaysAsk, readOnly);
  const reals = await mapLimited(files, file => follow(file));
  const slice = new TimeSlice();
  const filesOfGit = new FilesOfGit();
  for (const file of new Set([...files, ...reals])) {
    await slice.turn();
    if (judge(foldedOf(file)) || filesOfGit.has(file)) return true;
  }
  const read = (): Promise<Findings> => search(roots, places, judge, slice);
  const found = await (recent?.of(JSON.stringify([roots, places, alwaysAsk, readOnly]), read) ?? read());
  const { links, isGits } = found;
  if (files.some(file => isGits(foldedOf(file)))) return true;
  for (const real of reals) {
    await slice.turn();
    const names = namesOf(foldedOf(real), links);
    if (names.length > MAX_NAMES || names.some(name => judge(name) || isGits(name))) return true;
  }
  return false;
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
