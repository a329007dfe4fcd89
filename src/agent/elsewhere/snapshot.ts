import { createHash } from 'node:crypto';
import { PathError, ToolError } from '../base/errors.ts';
import { forEachLimited } from '../base/pool.ts';
import { MAX_FILE_BYTES } from '../preview/workspace.ts';
import type { ForeignFile } from './foreignChange.ts';
import { Allowance, type LeftOut, type LeftOutReason } from './gathered.ts';

/** What stands at a path of a snapshot. */
export interface SnapshotEntry {
  readonly kind: 'file' | 'link' | 'submodule' | 'other';
  /** In bytes. */
  readonly size: number;
  readonly isExecutable: boolean;
  /** Git's name of the content, in hex, if it is known: what is read must have it. */
  readonly object?: string;
}

/** The files of a commit or of a folder on disk. Paths are relative to the root of the repository, with forward slashes. */
export interface Snapshot {
  /** `null` if there is nothing. */
  entry(path: string): Promise<SnapshotEntry | null>;
  /** The exact bytes of a file. */
  read(path: string): Promise<Uint8Array>;
}

/** A path that differs between two snapshots. */
export interface ChangedPath {
  readonly path: string;
  /** The path that it was renamed from. */
  readonly from?: string;
}

/** Where the files of a snapshot are here. */
export interface Places {
  /**
   * The workspace path of a path of the repository.
   * @throws PathError if it is outside the workspace folders or one of git's own.
   */
  resolve(path: string): Promise<string>;
  /** Whether a symbolic link stands at a workspace path. */
  isLink(path: string): Promise<boolean>;
}

export interface ReadForeignOptions {
  readonly changed: readonly ChangedPath[];
  readonly base: Snapshot;
  readonly theirs: Snapshot;
  readonly places: Places;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, all: number) => void;
}

/** How many files are read at once. */
const AT_ONCE = 4;

/** Something is left out, and why. */
export class LeftOutError extends Error {
  readonly why: LeftOutReason;
  readonly detail: string | undefined;

  constructor(why: LeftOutReason, detail?: string) {
    super(why);
    this.why = why;
    this.detail = detail;
  }
}

/**
 * Reads both sides of each changed path.
 * @throws TooMuchError past the limits; the abort error; whatever reading throws unexpectedly.
 */
export async function readForeign(
  options: ReadForeignOptions,
): Promise<{ readonly files: readonly ForeignFile[]; readonly leftOut: readonly LeftOut[] }> {
  const { changed, signal, onProgress } = options;
  const allowance = new Allowance(changed.length);
  const found: (readonly ForeignFile[])[] = changed.map(() => []);
  const leftOut: (readonly LeftOut[])[] = changed.map(() => []);
  let done = 0;
  await forEachLimited(changed, AT_ONCE, async (each, n) => {
    signal?.throwIfAborted();
    const notes: LeftOut[] = [];
    const own: ForeignFile[] = [];
    for (const pair of await pairsOf(each, options)) {
      try {
        const file = await readPair(pair, options, allowance, notes);
        if (file) own.push(file);
      } catch (error) {
        notes.push(leftOutOf(pair.path, error));
      }
    }
    found[n] = own;
    leftOut[n] = notes;
    onProgress?.(++done, changed.length);
  });
  return { files: found.flat(), leftOut: leftOut.flat() };
}

/** A rename counts only if both sides agree on it and both places are here; else each of its paths counts for itself. */
async function pairsOf(
  { path, from }: ChangedPath,
  { base, theirs, places }: ReadForeignOptions,
): Promise<readonly ChangedPath[]> {
  if (from === undefined || from === path) return [{ path }];
  const isRename =
    (await base.entry(from))?.kind === 'file' &&
    (await theirs.entry(path))?.kind === 'file' &&
    (await base.entry(path)) === null &&
    (await theirs.entry(from)) === null &&
    (await isHere(from, places)) &&
    (await isHere(path, places));
  return isRename ? [{ path, from }] : [{ path: from }, { path }];
}

async function isHere(path: string, places: Places): Promise<boolean> {
  return places.resolve(path).then(
    () => true,
    () => false,
  );
}

async function readPair(
  { path, from = path }: ChangedPath,
  { base, theirs, places }: ReadForeignOptions,
  allowance: Allowance,
  notes: LeftOut[],
): Promise<ForeignFile | undefined> {
  const [old, now] = [await base.entry(from), await theirs.entry(path)];
  if (!old && !now) return undefined;
  const here = await places.resolve(path);
  const hereFrom = from === path ? here : await places.resolve(from);
  for (const entry of [old, now]) refuseOther(entry);
  if ((await places.isLink(here)) || (await places.isLink(hereFrom))) throw new LeftOutError('link');
  const contents: (Uint8Array | null)[] = [];
  for (const [snapshot, entry, at] of [[base, old, from] as const, [theirs, now, path] as const]) {
    if (!entry) contents.push(null);
    else {
      allowance.add(entry.size);
      contents.push(await readExactly(snapshot, entry, at));
    }
  }
  const [before = null, after = null] = contents;
  if (old && now && old.isExecutable !== now.isExecutable) notes.push({ path, why: 'mode' });
  return {
    path: here,
    ...(hereFrom === here ? {} : { from: hereFrom }),
    base: before,
    theirs: after,
    ...(!old && now?.isExecutable ? { mode: 0o755 } : {}),
  };
}

/** @throws LeftOutError for what is not a file that can be shown. */
export function refuseOther(entry: SnapshotEntry | null): void {
  switch (entry?.kind) {
    case undefined:
      return;
    case 'file':
      if (entry.size > MAX_FILE_BYTES) throw new LeftOutError('tooLarge');
      return;
    case 'link':
    case 'submodule':
      throw new LeftOutError(entry.kind);
    case 'other':
      throw new LeftOutError('notAFile');
  }
}

const POINTER = Buffer.from('version https://git-lfs.github.com/spec/');

/**
 * Reads a file, and makes sure that these are its bytes as git stores them.
 * @throws LeftOutError if they are not.
 */
export async function readExactly(
  snapshot: Snapshot,
  { object }: SnapshotEntry,
  path: string,
): Promise<Uint8Array> {
  const bytes = await snapshot.read(path);
  if (object !== undefined && object !== objectNameOf(bytes, object.length))
    throw new LeftOutError('converted');
  if (object !== undefined && Buffer.from(bytes.subarray(0, POINTER.length)).equals(POINTER))
    throw new LeftOutError('converted');
  return bytes;
}

/** Git's name of a file's content. @param length 40 for SHA-1, 64 for SHA-256. */
export function objectNameOf(bytes: Uint8Array, length: number): string {
  const hash = createHash(length === 64 ? 'sha256' : 'sha1');
  return hash.update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

/**
 * What an error says about one file.
 * @throws the error itself, if it is not about this file.
 */
export function leftOutOf(path: string, error: unknown): LeftOut {
  if (error instanceof LeftOutError)
    return { path, why: error.why, ...(error.detail === undefined ? {} : { detail: error.detail }) };
  if (error instanceof PathError) return { path, why: error.code === 'outside' ? 'outside' : 'path' };
  if (error instanceof ToolError) return { path, why: 'unreadable', detail: error.message };
  throw error;
}
