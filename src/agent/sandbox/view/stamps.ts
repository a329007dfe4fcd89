import { constants } from 'node:fs';
import { forEachLimited, TimeSlice } from '../../base/async.ts';
import { clearIn } from './entries.ts';
import { inTrees, type PlainTree } from './plainTree.ts';

/** How many files are looked at concurrently. */
const AT_ONCE = 16;

/**
 * Tells whether a file is as it was. It has the time of the inode's last change, since the file's own time and size may be set
 * back.
 */
export type Stamp = string;

interface Stat {
  readonly dev: number;
  readonly ino: number;
  readonly size: number;
  readonly mode: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
}

export function stampOf({ size, mode, mtimeMs, ctimeMs }: Omit<Stat, 'dev' | 'ino'>): Stamp {
  return `${mode} ${size} ${mtimeMs} ${ctimeMs}`;
}

/** Limits of a copy. */
export interface CopyLimits {
  readonly bytes: number;
  readonly files: number;
}

/**
 * Measures how much there is to copy.
 * @returns `undefined` if it exceeds the limits
 */
export async function measure(
  roots: readonly string[],
  limits: CopyLimits,
): Promise<{ readonly bytes: number; readonly files: number } | undefined> {
  let bytes = 0;
  let files = 0;
  for (const root of roots) {
    const isSmall = await inTrees([root], tree =>
      walk(tree, '', (_, stat) => {
        bytes += stat.size;
        files++;
        return bytes <= limits.bytes && files <= limits.files;
      }),
    );
    if (!isSmall) return undefined;
  }
  return { bytes, files };
}

/** How large a file was. */
export function sizeIn(stamp: Stamp): number {
  return Number(stamp.split(' ')[1]);
}

/** Whether the stamp is that of a pipe, a socket or a device. */
export function isSpecial(stamp: Stamp | undefined): boolean {
  const kind = Number(stamp?.split(' ')[0] ?? constants.S_IFREG) & constants.S_IFMT;
  return kind !== constants.S_IFREG && kind !== constants.S_IFLNK;
}

/** The paths whose stamps differ. Lets other work run in between. */
export async function changedBetween(
  before: ReadonlyMap<string, Stamp>,
  now: ReadonlyMap<string, Stamp>,
): Promise<string[]> {
  const slice = new TimeSlice();
  const changed: string[] = [];
  for (const at of before.keys()) {
    await slice.turn();
    if (before.get(at) !== now.get(at)) changed.push(at);
  }
  for (const at of now.keys()) {
    await slice.turn();
    if (!before.has(at)) changed.push(at);
  }
  return changed;
}

/** An entry of a folder whose name is not UTF-8, so that no path can be made of it. */
export interface Odd {
  readonly folder: string;
  readonly bytes: Buffer;
}

/** Removes an entry whose name is not UTF-8, with everything in it. */
export async function clearOdd(tree: PlainTree, { folder, bytes }: Odd): Promise<void> {
  await tree.in(folder, at => clearIn(at, bytes));
}

/** The contents of a copy. */
export interface Stamps {
  /** Of all files and links. */
  readonly put: Map<string, Stamp>;
  readonly folders: ReadonlySet<string>;
  /** By the path as it is shown. */
  readonly odd: ReadonlyMap<string, Odd>;
}

/** Lists a copy, and makes every folder in it readable and writable. */
export async function stamps(copy: PlainTree): Promise<Stamps> {
  const put = new Map<string, Stamp>();
  const folders = new Set<string>();
  const odd = new Map<string, Odd>();
  const visit = (at: string, stat: Stat): boolean => put.set(at, stampOf(stat)) !== undefined;
  await walk(copy, '', visit, {
    odd: (at, found) => odd.set(at, found),
    folder: at => folders.add(at),
    isOpened: true,
  });
  return { put, folders, odd };
}

/**
 * Visits the files, links and devices below a folder of a tree; folders that cannot be read are left out.
 * @param on `odd`: called with each entry whose name is not UTF-8, `folder` with each folder; `isOpened`: folders are made readable
 * and writable
 * @returns false once the visitor does
 */
export async function walk(
  tree: PlainTree,
  below: string,
  visit: (at: string, stat: Stat) => boolean,
  on: {
    readonly odd?: (at: string, found: Odd) => void;
    readonly folder?: (at: string) => void;
    readonly isOpened?: boolean;
  } = {},
): Promise<boolean> {
  const folders: string[] = [];
  let goesOn = true;
  try {
    for await (const part of tree.parts(below, on.isOpened)) {
      const files: string[] = [];
      for (const { name, bytes, isUtf8, kind } of part) {
        const at = below === '' ? name : `${below}/${name}`;
        if (!isUtf8) on.odd?.(at, { folder: below, bytes });
        else (kind === 'folder' ? folders : files).push(at);
      }
      await forEachLimited(files, AT_ONCE, async at => {
        const stat = goesOn ? await tree.stat(at).catch(() => undefined) : undefined;
        if (stat && !visit(at, stat)) goesOn = false;
      });
    }
  } catch (error) {
    if (below === '') throw error;
  }
  for (const folder of folders) {
    on.folder?.(folder);
    goesOn &&= await walk(tree, folder, visit, on);
  }
  return goesOn;
}
