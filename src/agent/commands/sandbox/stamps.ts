import { forEachLimited } from '../../base/async.ts';
import { inTrees, type PlainTree } from './plainTree.ts';

/** How many files are looked at concurrently. */
const AT_ONCE = 16;

/** What tells whether a file is as it was: its inode counts, since its time and size may be set to what they were. */
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

/** The stamps of all files and links of a copy, in which every folder can be read and written from now on. */
export async function stamps(copy: PlainTree): Promise<{ put: Map<string, Stamp>; odd: Set<string> }> {
  const put = new Map<string, Stamp>();
  const odd = new Set<string>();
  const visit = (at: string, stat: Stat): boolean => put.set(at, stampOf(stat)) !== undefined;
  await walk(copy, '', visit, { odd: at => odd.add(at), isOpened: true });
  return { put, odd };
}

/**
 * Visits the files, links and devices below a folder of a tree; folders that cannot be read are left out.
 * @param on `odd`: called with a path that is not UTF-8; `isOpened`: folders are made readable and writable
 * @returns false once the visitor does
 */
export async function walk(
  tree: PlainTree,
  below: string,
  visit: (at: string, stat: Stat) => boolean,
  on: { readonly odd?: (at: string) => void; readonly isOpened?: boolean } = {},
): Promise<boolean> {
  const folders: string[] = [];
  let goesOn = true;
  try {
    for await (const part of tree.parts(below, on.isOpened)) {
      const files: string[] = [];
      for (const { name, isUtf8, kind } of part) {
        const at = below === '' ? name : `${below}/${name}`;
        if (!isUtf8) on.odd?.(at);
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
  for (const folder of folders) goesOn &&= await walk(tree, folder, visit, on);
  return goesOn;
}
