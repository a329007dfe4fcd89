import { constants } from 'node:fs';
import { lstat, open, readlink } from 'node:fs/promises';
import * as path from 'node:path';
import { forEachLimited, succeeds } from '../../base/async.ts';
import {
  hasCode,
  isSystemError,
  messageOf,
  messageWithoutPaths,
  PathError,
  ToolError,
} from '../../base/errors.ts';
import { realPath, isInside } from '../../base/system/realPath.ts';
import { MAX_FILE_BYTES, type FileContent } from '../preview/workspace.ts';
import type { ForeignFile } from './foreignChange.ts';
import { isNameable } from './fileNames.ts';
import { Allowance, type LeftOut, type LeftOutReason } from './gathered.ts';
import { filesToWrite, type ChangedPath, type CheckedOut, type Git, type GitEntry } from './git.ts';

/** Locates the files of a repository in the workspace. */
export interface Places {
  /**
   * The workspace path of a path of the repository.
   * @throws PathError if it is outside the workspace folders or one of git's own; LeftOutError if it is in a submodule.
   */
  resolve(path: string): Promise<string>;
  /** The same for a symbolic link, which is not followed. */
  resolveLink(path: string): Promise<string>;
  /** Whether a symbolic link stands at a workspace path. */
  isLink(path: string): Promise<boolean>;
}

/** The difference to bring into review: between a commit and another one, or a worktree as it is on disk. */
export interface Difference {
  readonly git: Git;
  /** Name of the commit that both come from. */
  readonly base: string;
  readonly theirs: { readonly commit: string } | { readonly worktree: Git };
}

export interface ReadForeignOptions extends Difference {
  readonly places: Places;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, all: number) => void;
}

/** How many files are read at once. */
const AT_ONCE = 4;

/** The reason why a change is left out. */
export class LeftOutError extends Error {
  readonly why: LeftOutReason;
  readonly detail: string | undefined;

  constructor(why: LeftOutReason, detail?: string) {
    super(why);
    this.why = why;
    this.detail = detail;
  }
}

/** Reads a file of one side. */
type Side = (path: string) => Promise<ReadFile>;

interface Sides {
  readonly base: Side;
  readonly theirs: Side;
}

/**
 * Reads both sides of each path that differs.
 * @throws TooMuchError past the limits; the abort error; ToolError with git's message if git cannot compute the difference.
 */
export async function readForeign(
  options: ReadForeignOptions,
): Promise<{ readonly files: readonly ForeignFile[]; readonly leftOut: readonly LeftOut[] }> {
  const { git, base, theirs, places, signal, onProgress } = options;
  signal?.throwIfAborted();
  const changed =
    'commit' in theirs
      ? await git.changesBetween(base, theirs.commit)
      : await theirs.worktree.changesOnDisk(base);
  const sparse = await git.sparse();
  const allowance = new Allowance(changed.length);
  for (const { old, now } of changed) allowance.add(storedSize(old) + storedSize(now));
  const written: CheckedOut[] = [];
  const checkOut = async (commit: string, paths: readonly string[]): Promise<Side> => {
    signal?.throwIfAborted();
    const files = await git.checkOut(commit, paths);
    written.push(files);
    return at => readCheckedOut(files, at);
  };
  try {
    const sides = {
      base: await checkOut(base, filesToWrite(changed.map(({ path: at, from = at, old }) => [from, old]))),
      theirs:
        'worktree' in theirs
          ? (at: string) => readBelow(theirs.worktree.root, at)
          : await checkOut(theirs.commit, filesToWrite(changed.map(({ path: at, now }) => [at, now]))),
    };
    const found: (readonly ForeignFile[])[] = changed.map(() => []);
    const leftOut: (readonly LeftOut[])[] = changed.map(() => []);
    let done = 0;
    const onDisk = new Allowance(changed.length);
    await forEachLimited(changed, AT_ONCE, async (each, n) => {
      signal?.throwIfAborted();
      const notes: LeftOut[] = [];
      const own: ForeignFile[] = [];
      for (const pair of await pairsOf(each, places)) {
        try {
          if (pair.old) await refuseSparse(pair, sparse, git.root);
          own.push(await readPair(pair, sides, places, onDisk, notes));
        } catch (error) {
          notes.push(leftOutOf(pair.path, error));
        }
      }
      found[n] = own;
      leftOut[n] = notes;
      onProgress?.(++done, changed.length);
    });
    return { files: found.flat(), leftOut: leftOut.flat() };
  } finally {
    await Promise.all(written.map(each => each.dispose()));
  }
}

function storedSize(entry: GitEntry | null): number {
  return entry?.kind === 'file' && entry.size <= MAX_FILE_BYTES ? entry.size : 0;
}

/** A rename counts only if both of its places are here; else each of its paths counts by itself. */
async function pairsOf(change: ChangedPath, places: Places): Promise<readonly ChangedPath[]> {
  const { path: at, from, old, now } = change;
  if (from === undefined) return [change];
  const isOfFiles = old?.kind === 'file' && now?.kind === 'file';
  if (isOfFiles && (await isHere(from, places)) && (await isHere(at, places))) return [change];
  return [
    { path: from, old, now: null },
    { path: at, old: null, now },
  ];
}

/** @throws LeftOutError for a file that is missing here because git leaves it out of the working tree: nobody has deleted it. */
async function refuseSparse(
  { path: at, from = at }: ChangedPath,
  sparse: ReadonlySet<string>,
  root: string,
): Promise<void> {
  if (sparse.has(from) && !(await succeeds(lstat(path.join(root, from))))) throw new LeftOutError('sparse');
}

function isHere(at: string, places: Places): Promise<boolean> {
  return succeeds(places.resolve(at));
}

async function readPair(
  { path: at, from = at, old, now }: ChangedPath,
  sides: Sides,
  places: Places,
  allowance: Allowance,
  notes: LeftOut[],
): Promise<ForeignFile> {
  for (const entry of [old, now]) refuseOther(entry);
  const isLinked = old?.kind === 'link' || now?.kind === 'link';
  let here = await (isLinked ? places.resolveLink(at) : places.resolve(at));
  const hereFrom = from === at ? here : await places.resolve(from);
  const base = old && asKind(old, await sides.base(from));
  const theirs = now && asKind(now, await sides.theirs(at));
  if ([base, theirs].some(side => side && 'link' in side.content)) {
    // Git does not say whether an untracked path is a link.
    if (!isLinked) here = await places.resolveLink(at);
  } else if ((await places.isLink(here)) || (await places.isLink(hereFrom))) throw new LeftOutError('link');
  allowance.add(sizeOf(base) + sizeOf(theirs));
  const isExecutable = now?.isExecutable === true || theirs?.isExecutable === true;
  if (old && now && old.isExecutable !== now.isExecutable) notes.push({ path: at, why: 'mode' });
  return {
    path: here,
    ...(from === at ? {} : { from: hereFrom }),
    base: base?.content ?? null,
    theirs: theirs?.content ?? null,
    ...(!old && isExecutable ? { mode: 0o755 } : {}),
  };
}

/** Where git has no symbolic links, it writes a file with the target as its content. */
function asKind({ kind }: GitEntry, read: ReadFile): ReadFile {
  if (kind !== 'link' || 'link' in read.content) return read;
  return { content: { link: Buffer.from(read.content).toString() }, isExecutable: false };
}

function sizeOf(read: ReadFile | null): number {
  return !read || 'link' in read.content ? 0 : read.content.length;
}

/** @throws LeftOutError unless it is a file or link that can be shown. */
export function refuseOther(entry: GitEntry | null): void {
  if (entry?.kind === 'submodule') throw new LeftOutError(entry.kind);
  if (entry?.isMissing) throw new LeftOutError('notFetched');
  if (entry && entry.size > MAX_FILE_BYTES) throw new LeftOutError('tooLarge');
}

const POINTER = Buffer.from('version https://git-lfs.github.com/spec/');

/** The content of a file or link on one side, and whether it is executable. */
export interface ReadFile {
  readonly content: FileContent;
  readonly isExecutable: boolean;
}

/**
 * Reads a file or a link of a folder, never through a link.
 * @throws LeftOutError if there is none that can be shown.
 */
export async function readBelow(folder: string, relative: string): Promise<ReadFile> {
  if (!isNameable(relative)) throw new LeftOutError('path');
  const file = path.join(folder, relative);
  try {
    const found = await lstat(file);
    const root = await realPath(folder);
    if (!isInside(await realPath(path.dirname(file)), root)) throw new LeftOutError('link');
    if (found.isSymbolicLink()) return { content: { link: await readlink(file) }, isExecutable: false };
    if (!found.isFile()) throw new LeftOutError('notAFile');
    const { bytes, mode } = await readOpened(file, root);
    // Without its filter, the file stays in git's stored form.
    if (bytes.subarray(0, POINTER.length).equals(POINTER)) throw new LeftOutError('converted');
    return { content: bytes, isExecutable: (mode & 0o111) !== 0 };
  } catch (error) {
    if (error instanceof LeftOutError) throw error;
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) throw new LeftOutError('missing');
    throw new LeftOutError('unreadable', messageOf(error));
  }
}

/** Checks the opened file itself: an agent that works there may put a link or a pipe in its place, or in that of a folder above. */
async function readOpened(file: string, root: string): Promise<{ bytes: Buffer; mode: number }> {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const handle = await open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const found = await handle.stat();
    if (!found.isFile()) throw new LeftOutError('notAFile');
    if (found.size > MAX_FILE_BYTES) throw new LeftOutError('tooLarge');
    const opened =
      process.platform === 'linux' ? await readlink(`/proc/self/fd/${handle.fd}`) : await realPath(file);
    if (!isInside(opened, root)) throw new LeftOutError('link');
    return { bytes: await handle.readFile(), mode: found.mode };
  } finally {
    await handle.close();
  }
}

/**
 * Reads a file that git was asked to write.
 * @throws LeftOutError if it could not, or if it cannot be shown.
 */
export async function readCheckedOut({ folder }: CheckedOut, relative: string): Promise<ReadFile> {
  try {
    return await readBelow(folder, relative);
  } catch (error) {
    throw error instanceof LeftOutError && error.why === 'missing' ? new LeftOutError('converted') : error;
  }
}

/**
 * Turns an error into the reason why one file is left out.
 * @throws the error itself, if it is not about this file.
 */
export function leftOutOf(at: string, error: unknown): LeftOut {
  if (error instanceof LeftOutError)
    return { path: at, why: error.why, ...(error.detail === undefined ? {} : { detail: error.detail }) };
  if (error instanceof PathError) return { path: at, why: error.code === 'outside' ? 'outside' : 'path' };
  if (error instanceof ToolError || isSystemError(error))
    return { path: at, why: 'unreadable', detail: messageWithoutPaths(error) };
  throw error;
}
