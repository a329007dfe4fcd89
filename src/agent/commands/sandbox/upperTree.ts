import { spawn } from 'node:child_process';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { TimeSlice } from '../../base/async.ts';
import { foldersAbove } from '../../preview/fileSteps.ts';
import type { FileContent } from '../../preview/workspace.ts';
import { messageWithoutPaths } from '../../base/errors.ts';
import { PlainTree } from '../agentView/plainTree.ts';
import { isMissing, PlainFolder, type Effects, type Found } from './effects.ts';
import { entriesOf, removeTree } from './entries.ts';
import { ignoredOf, textOfRules } from './ignored.ts';
import type { MountedFolder } from './bubblewrap.ts';
import { SYSTEM_FOLDERS, systemTool } from './namespace.ts';

/** How long ignored files are counted, in milliseconds. */
const COUNT_MS = 2_000;

/** A folder of the workspace, and a tree in which a part of it stands, changed. */
interface Tree {
  readonly root: string;
  readonly upper: string;
}

/** A folder of the workspace with the state of its overlay. */
export interface Layer extends MountedFolder, Tree {
  /** How its workspace paths begin. */
  readonly prefix: string;
}

/** What a command may have changed: where, as a path relative to the folder, and the parts of it that git ignores. */
interface Changed {
  readonly paths: readonly string[];
  readonly ignored: readonly string[];
  /** Parts of repositories in which something was written: `.git`, or what is in a git directory of another name. */
  readonly git: readonly string[];
}

/**
 * The folders of an upper tree or a copy that lead to a path in it. They have the permission bits of the real ones, and can be
 * written in any case. Follows no link.
 */
export async function makeFolders({ root, upper }: Tree, relative: string): Promise<void> {
  if (relative !== '.') await makeFolders({ root, upper }, path.dirname(relative));
  const folder = path.join(upper, relative);
  const there = await fs.lstat(folder).catch(() => undefined);
  if (there?.isDirectory()) return void (await openFolder(folder, there.mode));
  if (there) await removeTree(folder);
  // Another one may make it at the same time.
  await fs.mkdir(folder, { recursive: true });
  const real = await fs.lstat(path.join(root, relative)).catch(() => undefined);
  if (real?.isDirectory() && relative !== '.') await fs.chmod(folder, (real.mode & 0o777) | 0o700);
}

/** Lets a folder be read and written, also if it forbids that. @returns the permission bits that it had */
export async function openFolder(folder: string, mode: number): Promise<number> {
  if ((mode & 0o700) !== 0o700 && process.platform !== 'win32')
    await fs.chmod(folder, (mode & 0o777) | 0o700);
  return mode & 0o777;
}

/** Gives the folders above these paths of an upper tree the permission bits of the real ones, once all is in them. */
async function closeFolders({ root, upper }: Tree, paths: readonly string[]): Promise<void> {
  // Those that are in another one come before it.
  for (const folder of [...new Set(paths.flatMap(foldersAbove))].sort().toReversed()) {
    const real = await fs.lstat(path.join(root, folder)).catch(() => undefined);
    if (real?.isDirectory()) await fs.chmod(path.join(upper, folder), real.mode & 0o777);
  }
}

/** Puts what is pending into an upper tree. */
export async function putFiles(layer: Layer, files: ReadonlyMap<string, PutFile>): Promise<void> {
  for (const [relative, { left, mode, time }] of files) {
    await makeFolders(layer, path.dirname(relative));
    const to = path.join(layer.upper, relative);
    await removeTree(to);
    if ('link' in left) {
      await fs.symlink(left.link, to);
      continue;
    }
    await fs.writeFile(to, left, { flag: 'wx' });
    if (mode !== undefined) await fs.chmod(to, mode);
    if (time) await fs.utimes(to, time, time);
  }
  await closeFolders(layer, [...files.keys()]);
}

/** Lets what stands at these paths be removed in the view, also in folders that forbid it. */
export async function openAbove(layer: Tree, paths: readonly string[]): Promise<void> {
  const real = new PlainFolder(layer.root);
  for (const folder of new Set(paths.map(each => path.dirname(each)))) {
    const stat = await fs.lstat(path.join(layer.root, folder)).catch(() => undefined);
    const isOpen = !stat || (stat.mode & 0o700) === 0o700;
    if (!isOpen && (await real.isFolder(folder))) await makeFolders(layer, folder);
  }
}

/** What is put into an upper tree. */
interface PutFile {
  readonly left: FileContent;
  /** The permission bits that a file gets; `undefined`: those of a new one. */
  readonly mode: number | undefined;
  readonly time?: Date;
}

/**
 * Walks an upper tree, level by level, so that git is asked once for each. Nothing below what is ignored is looked at. The entries
 * of folders tell what stands where: to ask for each file would take ten times as long.
 * @param lower what the overlay covers, if that is not the folder itself
 */
export async function changedPaths(
  layer: Layer,
  merged: string,
  effects: Effects,
  lower = layer.root,
): Promise<Changed> {
  const paths: string[] = [];
  const ignored: string[] = [];
  const git: string[] = [];
  const rules = new Map<string, string>();
  const [real, view] = [new PlainFolder(lower), new PlainTree(merged)];
  const slice = new TimeSlice();
  let level = [''];
  while (level.length > 0) {
    const found: Compared[] = [];
    for (const folder of level) {
      const upper = await entriesIn(path.join(layer.upper, folder), effects, layer.prefix + folder);
      const now = upper && (await entriesIn(path.join(merged, folder)));
      if (!now) continue;
      if (upper.get('.gitignore') === 'file')
        rules.set(
          folder,
          textOfRules(await view.read(path.posix.join(folder, '.gitignore')).catch(() => undefined)),
        );
      const was: Entries = (await real.isFolder(folder))
        ? ((await entriesIn(path.join(lower, folder))) ?? new Map())
        : new Map();
      // Where the folder was made anew, what was in it is gone without a trace.
      const gone = [...was.keys()].filter(name => !now.has(name) && !upper.has(name));
      const isInGit = [was, now].some(isGitDirectory);
      for (const name of [...upper.keys(), ...gone]) {
        await slice.turn();
        const at = folder === '' ? name : `${folder}/${name}`;
        const isTree = async (): Promise<boolean> =>
          name !== 'hooks' && (await entriesIn(path.join(merged, at)))?.has('.git') === true;
        if (name === '.git' || (isInGit && !(await isTree()))) {
          if (upper.has(name)) git.push(at);
          continue;
        }
        found.push({ path: at, upper: upper.get(name), now: now.get(name), was: was.get(name) });
      }
    }
    await slice.turn();
    const hidden = await ignoredOf(
      layer.root,
      found.map(({ path: at, upper, was }) => asAsked(at, upper ?? was)),
      rules,
    );
    const next: string[] = [];
    for (const { path: at, upper, now, was } of found) {
      await slice.turn();
      if (hidden.has(asAsked(at, upper ?? was))) {
        if (upper) ignored.push(at);
        continue;
      }
      // What was a folder and is none any more has lost all that was in it.
      if (was === 'folder' && now !== 'folder') {
        const lost = await filesBelow(layer.root, at, lower);
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

/** What stands at a path in the upper tree, in the view and in the real folder. */
interface Compared extends Readonly<Record<'upper' | 'now' | 'was', Found['kind'] | undefined>> {
  readonly path: string;
}

/** A slash at the end tells git that it is a folder, also if there is none on disk. */
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
  lower: string,
): Promise<{ readonly files: readonly string[]; readonly isGits: boolean }> {
  const files: string[] = [];
  let isGits = false;
  let level = [folder];
  while (level.length > 0) {
    const found: string[] = [];
    for (const at of level) {
      const entries = (await entriesIn(path.join(lower, at))) ?? new Map<string, never>();
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

/** Whether git takes a folder with these entries for a git directory, whatever its name is, as `base/system/gitDirectory.ts` tells. */
function isGitDirectory(entries: Entries): boolean {
  const head = entries.get('HEAD');
  if (head !== 'file' && head !== 'link') return false;
  return entries.has('commondir') || (entries.has('objects') && entries.has('refs'));
}

/**
 * What is in a folder, without what has a name that is not UTF-8, which is told to `effects`; nothing if there is no such folder.
 * @returns `undefined` if it may not be read, which is told, too
 */
async function entriesIn(folder: string, effects?: Effects, shown = ''): Promise<Entries | undefined> {
  const entries = new Map<string, Found['kind']>();
  try {
    for await (const part of entriesOf(folder))
      for (const { name, isUtf8, kind } of part)
        if (isUtf8) entries.set(name, kind);
        else effects?.leaveOut({ path: shown === '' ? name : `${shown}/${name}`, why: 'path' });
  } catch (error) {
    if (!isMissing(error)) {
      effects?.leaveOut({ path: shown, why: 'unreadable', detail: messageWithoutPaths(error) });
      return undefined;
    }
  }
  return entries;
}

/**
 * Removes what was kept in an upper tree but is not ignored any more, such as by a preview that was discarded: it would count as
 * written by the next command.
 * @param kept paths of all that is in the tree
 * @param pending what is put into it
 */
export async function keepIgnored(
  layer: Layer,
  kept: readonly string[],
  pending: ReadonlyMap<string, { readonly left: FileContent | null }>,
): Promise<void> {
  const rules = new Map<string, string>();
  const isRules = (at: string): boolean => path.posix.basename(at) === '.gitignore';
  for (const at of kept.filter(isRules))
    rules.set(
      path.posix.dirname(at),
      textOfRules(await new PlainTree(layer.upper).read(at).catch(() => undefined)),
    );
  for (const [at, { left }] of pending)
    if (isRules(at))
      rules.set(path.posix.dirname(at), textOfRules(left instanceof Uint8Array ? left : undefined));
  const asked = new Map<string, string>();
  for (const at of kept) {
    const stat = await fs.lstat(path.join(layer.upper, at));
    asked.set(at, asAsked(at, stat.isDirectory() ? 'folder' : 'file'));
  }
  const ignored = await ignoredOf(layer.root, [...asked.values()], rules);
  const left = kept.filter(at => ignored.has(asked.get(at) ?? at));
  if (left.length < kept.length) await keepOnly(layer, left);
}

/** Leaves nothing in an upper tree but these paths. */
export async function keepOnly(layer: Layer, paths: readonly string[]): Promise<void> {
  const kept = { ...layer, upper: `${layer.upper}.kept` };
  try {
    await removeTree(kept.upper);
    await fs.mkdir(kept.upper, { recursive: true });
    for (const folder of new Set(paths.map(each => path.dirname(each))))
      for (const tree of [kept, layer]) await makeFolders(tree, folder);
    for (const each of paths) {
      const [from, to] = [path.join(layer.upper, each), path.join(kept.upper, each)];
      const stat = await fs.lstat(from);
      // A folder that forbids writing cannot be moved into another one.
      const mode = stat.isDirectory() ? await openFolder(from, stat.mode) : undefined;
      await fs.rename(from, to);
      if (mode !== undefined) await fs.chmod(to, mode);
    }
    await closeFolders(kept, paths);
    await removeTree(layer.upper);
    await fs.rename(kept.upper, layer.upper);
  } finally {
    await removeTree(kept.upper);
  }
}

/** How many files at and below paths were changed later than another file. A program of its own looks: there may be very many. */
export async function countNewer(folder: string, paths: readonly string[], than: string): Promise<number> {
  const script = 'exec find "$@" ! -type d -cnewer "$0" -printf .';
  return (await printedAt(folder, paths, [script, than], COUNT_MS)).length;
}

/** Takes the bits from files at and below paths by which a program gets the rights of their owner or group. */
export async function clearSetId(folder: string, paths: readonly string[]): Promise<void> {
  await printedAt(folder, paths, ['exec find "$@" ! -type l -perm /6000 -exec chmod ug-s {} +', 'find']);
}

/** What a script of the shell prints that is given paths, as far as it came within a time. */
function printedAt(
  folder: string,
  paths: readonly string[],
  script: readonly string[],
  timeout?: number,
): Promise<string> {
  return new Promise(resolve => {
    const child = spawn(systemTool('xargs') ?? 'xargs', ['-0', '/bin/sh', '-c', ...script], {
      cwd: folder,
      env: { PATH: SYSTEM_FOLDERS.join(':') },
      stdio: ['pipe', 'pipe', 'ignore'],
      ...(timeout === undefined ? {} : { timeout }),
    });
    let printed = '';
    child.stdout.setEncoding('latin1').on('data', (chunk: string) => (printed += chunk));
    for (const event of ['error', 'close']) child.once(event, () => resolve(printed));
    child.stdin.on('error', () => undefined);
    child.stdin.end(paths.map(at => `./${at}\0`).join(''));
  });
}
