import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { forEachLimited } from '../../base/async.ts';
import { isMissing } from './effects.ts';
import { openFolder } from './upperTree.ts';
import { entriesOf } from './entries.ts';

/** How many files are looked at concurrently. */
const AT_ONCE = 16;

/** What tells whether a file is as it was: its modification time in nanoseconds, size, permission bits and kind. */
export type Stamp = string;

interface Stat {
  readonly size: number;
  readonly mode: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
}

/** The stamp of a file of the workspace. */
export function stampOf({ size, mode, mtimeMs }: Stat): Stamp {
  return `${mode} ${size} ${mtimeMs}`;
}

/** @returns `undefined` if there is nothing */
export async function stampAt(at: string): Promise<Stamp | undefined> {
  return fs.lstat(at).then(stampOf, () => undefined);
}

/** What tells whether a file of the copy is as it was: its inode counts, too. */
export function stampOfCopy(stat: Stat): Stamp {
  return `${stampOf(stat)} ${stat.ctimeMs}`;
}

/**
 * How much there is to copy.
 * @returns `undefined` once it is more than that
 */
export async function measure(
  roots: readonly string[],
  limits: { readonly bytes: number; readonly files: number },
): Promise<{ readonly bytes: number; readonly files: number } | undefined> {
  let bytes = 0;
  let files = 0;
  for (const root of roots) {
    const isSmall = await walk(root, '', (_, stat) => {
      bytes += stat.size;
      files++;
      return bytes <= limits.bytes && files <= limits.files;
    });
    if (!isSmall) return undefined;
  }
  return { bytes, files };
}

/** The stamps of all files and links of a copy, in which every folder can be read and written from now on. */
export async function stamps(copy: string): Promise<{ put: Map<string, Stamp>; odd: Set<string> }> {
  const put = new Map<string, Stamp>();
  const odd = new Set<string>();
  const visit = (at: string, stat: Stat): boolean => put.set(at, stampOfCopy(stat)) !== undefined;
  const open = async (folder: string): Promise<void> => {
    const stat = await fs.lstat(folder);
    if (stat.isDirectory()) await openFolder(folder, stat.mode);
  };
  await walk(copy, '', visit, { odd: at => odd.add(at), folder: open });
  return { put, odd };
}

/**
 * Visits the files, links and devices below a folder; folders that cannot be read are left out.
 * @param on `odd`: called with a path that is not UTF-8; `folder`: before a folder is read
 * @returns false once the visitor does
 */
export async function walk(
  root: string,
  below: string,
  visit: (at: string, stat: Stat) => boolean,
  on: { readonly odd?: (at: string) => void; readonly folder?: (folder: string) => Promise<void> } = {},
): Promise<boolean> {
  const folders: string[] = [];
  let goesOn = true;
  try {
    await on.folder?.(path.join(root, below));
    for await (const part of entriesOf(path.join(root, below)))
      await forEachLimited(part, AT_ONCE, async ({ name, isUtf8, kind }) => {
        const at = below === '' ? name : `${below}/${name}`;
        if (!isUtf8) return on.odd?.(at);
        if (kind === 'folder') return void folders.push(at);
        const stat = goesOn ? await fs.lstat(path.join(root, at)).catch(() => undefined) : undefined;
        if (stat && !visit(at, stat)) goesOn = false;
      });
  } catch (error) {
    if (!isMissing(error) && below === '') throw error;
  }
  for (const folder of folders) goesOn &&= await walk(root, folder, visit, on);
  return goesOn;
}
