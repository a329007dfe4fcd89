import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { succeeds, TimeSlice } from '../../base/async.ts';
import { foldersAbove } from '../../hold/preview/fileSteps.ts';
import type { FileContent } from '../../hold/preview/workspace.ts';
import { messageWithoutPaths } from '../../base/errors.ts';
import { isMissing, type Effects, type Found } from './effects.ts';
import { removeTree } from './entries.ts';
import { ignoredOf, textOfRules } from './ignored.ts';
import type { MountedFolder } from './bubblewrap.ts';
import { inTrees, type PlainTree } from './plainTree.ts';

/** A folder of the workspace with the state of its overlay. */
export interface Layer extends MountedFolder {
  /** The tree with its changed part. */
  readonly upper: string;
  /** The prefix of its workspace paths. */
  readonly prefix: string;
}

/** Paths that a command may have changed, relative to the folder; those that git ignores are apart. */
interface Changed {
  readonly paths: readonly string[];
  readonly ignored: readonly string[];
  /** Parts of repositories in which something was written: `.git`, or entries of a git directory of another name. */
  readonly git: readonly string[];
}

/** Gives the folders above these paths of a tree the permission bits of the real ones, once all is in them. */
export async function closeFolders(
  tree: PlainTree,
  real: PlainTree,
  paths: readonly string[],
): Promise<void> {
  // Inner folders come first.
  for (const folder of [...new Set(paths.flatMap(foldersAbove))].sort().toReversed()) {
    const stat = await real.stat(folder);
    if (stat?.isDirectory()) await tree.setBits(folder, stat.mode & 0o777);
  }
}

/**
 * Puts the pending contents into an upper tree, or into a copy. It removes no file that a preview deletes.
 * @param targetOf maps the target of a link to that of its copy
 */
export async function putFiles(
  [tree, real]: readonly [tree: PlainTree, real: PlainTree],
  puts: ReadonlyMap<string, Put>,
  targetOf?: (target: string) => Promise<string>,
): Promise<void> {
  for (const [relative, { left, mode, time }] of puts) {
    if (!left) continue;
    await tree.makeFolders(path.posix.dirname(relative), real);
    await tree.clear(relative);
    const content = targetOf && 'link' in left ? { link: await targetOf(left.link) } : left;
    await tree.write(relative, content, mode, { time });
  }
  for (const [relative, { sameAs }] of puts) if (sameAs !== undefined) await tree.link(sameAs, relative);
}

/** Makes the entries at these paths removable in the view, even if their folders forbid it. */
export async function openAbove(tree: PlainTree, real: PlainTree, paths: readonly string[]): Promise<void> {
  for (const folder of new Set(paths.map(each => path.posix.dirname(each)))) {
    const stat = await real.stat(folder);
    if (stat?.isDirectory() && (stat.mode & 0o700) !== 0o700) await tree.makeFolders(folder, real);
  }
}

/** Entries that a volatile overlay leaves in its work folder, the outer ones first. */
const LEFT = ['work', 'work/incompat', 'work/incompat/volatile'];

/** Makes the empty work folder of an overlay. Only the kernel can write in it, so its leftovers are removed by name. */
export async function emptyWork(work: string): Promise<void> {
  const left = LEFT.map(each => path.join(work, each));
  const clear = async (): Promise<void> => {
    for (const each of left) await fs.chmod(each, 0o700);
    await fs.unlink(path.join(work, 'work/incompat/volatile/dirty'));
    for (const each of left.toReversed()) await fs.rmdir(each);
  };
  await succeeds(clear());
  await removeTree(work);
  await fs.mkdir(work);
}

/** A file, or a deletion, that is put into the view. */
export interface Put {
  /** Its workspace path. */
  readonly name: string;
  /** `null`: no file. */
  readonly left: FileContent | null;
  /** The permission bits that a file gets; `undefined`: those of a new one. */
  readonly mode: number | undefined;
  /** The time of its last change; by default now. */
  readonly time?: Date;
  /** The path of the file of which this is another name. */
  readonly sameAs?: string;
}

/**
 * Walks an upper tree, level by level, so that git is asked once for each. Ignored folders are not entered. The entries of folders
 * show the kind of each path: to ask for each file would take ten times as long.
 * @param lower the tree that the overlay covers, if that is not the folder itself
 */
export function changedPaths(
  layer: Layer,
  merged: string,
  effects: Effects,
  lower = layer.root,
): Promise<Changed> {
  return inTrees([layer.upper, merged, lower], (...trees) => changedIn(layer, trees, effects));
}

/** Lets other work run while trees of many files are listed and compared. */
const slice = new TimeSlice();

async function changedIn(
  layer: Layer,
  [written, view, real]: readonly [upper: PlainTree, merged: PlainTree, lower: PlainTree],
  effects: Effects,
): Promise<Changed> {
  const paths: string[] = [];
  const ignored: string[] = [];
  const git: string[] = [];
  const rules = new Map<string, string>();
  let level = [''];
  while (level.length > 0) {
    const found: Compared[] = [];
    for (const folder of level) {
      const upper = await entriesIn(written, folder, effects, layer.prefix + folder);
      const now = upper && (await entriesIn(view, folder));
      if (!now) continue;
      if (upper.get('.gitignore') === 'file')
        rules.set(
          folder,
          textOfRules(await view.read(path.posix.join(folder, '.gitignore')).catch(() => undefined)),
        );
      const was: Entries = (await entriesIn(real, folder)) ?? new Map();
      // If the folder was made anew, its former entries are gone without a trace.
      const gone = [...was.keys()].filter(name => !now.has(name) && !upper.has(name));
      const isInGit = [was, now].some(isGitDirectory);
      const fresh = [...upper.keys()].filter(name => !was.has(name));
      const former = await formerNames(view, folder, { gone, fresh });
      const kept = new Set(former.values());
      for (const name of [...upper.keys(), ...gone.filter(each => !kept.has(each))]) {
        await slice.turn();
        const old = former.get(name) ?? name;
        const at = folder === '' ? old : `${folder}/${old}`;
        const isTree = async (): Promise<boolean> =>
          name !== 'hooks' && (await entriesIn(view, at))?.has('.git') === true;
        if (name === '.git' || (isInGit && !(await isTree()))) {
          if (upper.has(name)) git.push(at);
          continue;
        }
        found.push({ path: at, upper: upper.get(name), now: now.get(name), was: was.get(old) });
      }
    }
    await slice.turn();
    const hidden = await ignoredOf(layer.root, found.map(asFound), rules);
    const next: string[] = [];
    for (const { path: at, upper, now, was } of found) {
      await slice.turn();
      if (hidden.has(asFound({ path: at, upper, now, was }))) {
        if (upper) ignored.push(at);
        continue;
      }
      // A folder that is gone or replaced has lost everything in it.
      if (was === 'folder' && now !== 'folder') {
        const lost = await filesBelow(layer.root, at, real);
        paths.push(...lost.files);
        if (lost.isGits) git.push(at);
      }
      if (now !== 'folder' || (was && was !== 'folder')) paths.push(at);
      if (upper === 'folder' && now === 'folder') next.push(at);
    }
    level = next;
  }
  return { paths, ignored, git };
}

/**
 * The names, by new one, of files and folders of which only the case was changed, on a disk that takes both names for one: such a
 * change is none in the workspace.
 */
async function formerNames(
  view: PlainTree,
  folder: string,
  { gone, fresh }: Readonly<Record<'gone' | 'fresh', readonly string[]>>,
): Promise<ReadonlyMap<string, string>> {
  const folded = (name: string): string => name.normalize().toLowerCase();
  const names = new Map(fresh.map(name => [folded(name), name]));
  const former = new Map<string, string>();
  for (const old of gone) {
    const name = names.get(folded(old));
    if (name !== undefined && (await view.find(path.posix.join(folder, old)))) former.set(name, old);
  }
  return former;
}

/** The kind of the entry at a path in the upper tree, in the view and in the real folder. */
interface Compared extends Readonly<Record<'upper' | 'now' | 'was', Found['kind'] | undefined>> {
  readonly path: string;
}

/**
 * The path in the form in which git is asked about it. A removed entry, which leaves a whiteout in the upper tree, counts as the
 * file or folder that it was.
 */
function asFound({ path: at, upper, now, was }: Compared): string {
  return asAsked(at, now === undefined ? was : (upper ?? was));
}

/** A slash at the end tells git that it is a folder, even if there is none on disk. */
function asAsked(at: string, kind: Found['kind'] | undefined): string {
  return kind === 'folder' ? `${at}/` : at;
}

/**
 * The files in a folder that is gone, without those that git ignores or has for itself.
 * @param root where git is asked
 * @returns also whether a repository is gone with it
 */
async function filesBelow(
  root: string,
  folder: string,
  lower: PlainTree,
): Promise<{ readonly files: readonly string[]; readonly isGits: boolean }> {
  const files: string[] = [];
  let isGits = false;
  let level = [folder];
  while (level.length > 0) {
    const found: string[] = [];
    for (const at of level) {
      const entries = (await entriesIn(lower, at)) ?? new Map<string, never>();
      if (isGitDirectory(entries)) isGits = true;
      else
        for (const [name, kind] of entries)
          if (name === '.git') isGits = true;
          else found.push(asAsked(`${at}/${name}`, kind));
    }
    const hidden = await ignoredOf(root, found);
    level = [];
    for (const at of found)
      if (hidden.has(at)) continue;
      else if (at.endsWith('/')) level.push(at.slice(0, -1));
      else files.push(at);
  }
  return { files, isGits };
}

type Entries = ReadonlyMap<string, Found['kind']>;

/** Whether git takes a folder with these entries, of any name, for a git directory, see `base/system/gitDirectory.ts`. */
export function isGitDirectory(entries: Entries): boolean {
  const head = entries.get('HEAD');
  if (head !== 'file' && head !== 'link') return false;
  return entries.has('commondir') || (entries.has('objects') && entries.has('refs'));
}

/**
 * Lists a folder; empty if there is none. Entries whose names are not UTF-8 are reported to `effects` instead.
 * @returns `undefined` if it cannot be read, which is reported, too
 */
export async function entriesIn(
  tree: PlainTree,
  folder: string,
  effects?: Effects,
  shown = '',
): Promise<Entries | undefined> {
  const entries = new Map<string, Found['kind']>();
  try {
    for await (const part of tree.parts(folder)) {
      await slice.turn();
      for (const { name, isUtf8, kind } of part)
        if (isUtf8) entries.set(name, kind);
        else effects?.leaveOut({ path: shown === '' ? name : `${shown}/${name}`, why: 'path' });
    }
  } catch (error) {
    if (!isMissing(error)) {
      effects?.leaveOut({ path: shown, why: 'unreadable', detail: messageWithoutPaths(error) });
      return undefined;
    }
  }
  return entries;
}

/**
 * Removes kept files of an upper tree that git no longer ignores, such as after a discard: they would count as writes of the
 * next command.
 * @param kept paths of all that is in the tree
 * @param pending the contents that are put into it
 * @param not paths of `kept` that are removed in any case
 */
export async function keepIgnored(
  layer: Layer,
  kept: readonly string[],
  pending: ReadonlyMap<string, { readonly left: FileContent | null }>,
  not: ReadonlySet<string>,
): Promise<void> {
  const rules = new Map<string, string>();
  const asked = new Map<string, string>();
  const isRules = (at: string): boolean => path.posix.basename(at) === '.gitignore';
  await inTrees([layer.upper], async tree => {
    for (const at of kept) {
      if (isRules(at))
        rules.set(path.posix.dirname(at), textOfRules(await tree.read(at).catch(() => undefined)));
      asked.set(at, asAsked(at, (await tree.stat(at))?.isDirectory() ? 'folder' : 'file'));
    }
  });
  for (const [at, { left }] of pending)
    if (isRules(at))
      rules.set(path.posix.dirname(at), textOfRules(left instanceof Uint8Array ? left : undefined));
  const ignored = await ignoredOf(layer.root, [...asked.values()], rules);
  const left = kept.filter(at => !not.has(at) && ignored.has(asked.get(at) ?? at));
  if (left.length < kept.length) await keepOnly(layer, left);
}

/** Removes everything but these paths from an upper tree. */
export async function keepOnly({ root, upper }: Layer, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) {
    await removeTree(upper);
    return fs.mkdir(upper);
  }
  const kept = `${upper}.kept`;
  try {
    await removeTree(kept);
    await fs.mkdir(kept);
    await inTrees([kept, upper, root], async (to, from, real) => {
      for (const folder of new Set(paths.map(each => path.posix.dirname(each))))
        for (const tree of [to, from]) await tree.makeFolders(folder, real);
      for (const each of paths) {
        // A folder that forbids writing cannot be moved into another one.
        const bits = await from.openUp(each);
        await from.move(each, to);
        if (bits !== undefined) await to.setBits(each, bits);
      }
      await closeFolders(to, real, paths);
    });
    await removeTree(upper);
    await fs.rename(kept, upper);
  } finally {
    await removeTree(kept);
  }
}

/** Whether the entry at a path may have changed on disk since a time. If there is none, the time of its folder counts. */
export async function changedAfter(real: PlainTree, relative: string, since: number): Promise<boolean> {
  for (let at = relative; ; at = path.posix.dirname(at)) {
    const stat = await real.stat(at);
    if (stat) return stat.ctimeMs >= since;
    if (at === '.') return true;
  }
}
