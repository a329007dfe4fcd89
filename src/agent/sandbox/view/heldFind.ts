import { spawn } from 'node:child_process';
import type { BigIntStats } from 'node:fs';
import * as fs from 'node:fs/promises';
import { SYSTEM_FOLDERS, systemTool } from './namespace.ts';
import { openFolder, setBits, type OpenFolder } from './openFolders.ts';
import { inTrees } from './plainTree.ts';

/** How long files are counted, in milliseconds. */
const COUNT_MS = 2_000;
/** How many folders are searched at a time. */
const AT_ONCE = 64;
/** The set-user-ID and set-group-ID bits, which give a program the rights of its file's owner or group. */
const SET_ID = 0o6000n;

/** Counts files at and below paths of a tree that were changed later than another file, until the time is up. */
export async function countNewer(root: string, paths: readonly string[], than: string): Promise<number> {
  const since = (await fs.lstat(than, { bigint: true })).ctimeNs;
  const find = ['!', '-type', 'd', '-cnewer', than, '-printf', '.'];
  let files = 0;
  const look = (_: string, { ctimeNs }: BigIntStats): void => void (files += ctimeNs > since ? 1 : 0);
  const below = await foundIn(root, paths, { find, look, timeout: COUNT_MS });
  return files + below;
}

/** Clears the set-user-ID and set-group-ID bits of files at and below paths. */
export async function clearSetId(root: string, paths: readonly string[]): Promise<void> {
  const find = ['!', '-type', 'l', '-perm', '/6000', '-execdir', 'chmod', 'ug-s', '{}', '+'];
  const look = async (at: string, { mode }: BigIntStats): Promise<void> => {
    if ((mode & SET_ID) !== 0n) await setBits(at, Number(mode & 0o1777n));
  };
  await foundIn(root, paths, { find, look });
}

interface Search {
  /** Arguments of the program `find`, which searches folders: there may be very many files. */
  readonly find: readonly string[];
  /** Looks at a file. */
  readonly look: (at: string, stat: BigIntStats) => void | Promise<void>;
  readonly timeout?: number;
}

/**
 * Runs `look` on files at paths of a tree, and `find` in folders there. All folders are held meanwhile, and no link is followed.
 * @returns how many bytes `find` has printed
 */
function foundIn(root: string, paths: readonly string[], { find, look, timeout }: Search): Promise<number> {
  const until = Date.now() + (timeout ?? Infinity);
  return inTrees([root], async tree => {
    let printed = 0;
    for (let n = 0; n < paths.length && Date.now() < until; n += AT_ONCE) {
      const folders: OpenFolder[] = [];
      try {
        for (const path of paths.slice(n, n + AT_ONCE))
          await tree.at(path, async at => {
            const stat = await fs.lstat(at, { bigint: true });
            if (stat.isDirectory()) folders.push(await openFolder(at));
            else if (!stat.isSymbolicLink()) await look(at, stat);
          });
        if (folders.length > 0) printed += await printedIn(folders, find, until - Date.now());
      } finally {
        await Promise.all(folders.map(folder => folder.close()));
      }
    }
    return printed;
  });
}

function printedIn(
  folders: readonly OpenFolder[],
  find: readonly string[],
  timeout: number,
): Promise<number> {
  const begins = folders.map(({ at }) => `${at.replace('/self/', `/${process.pid}/`)}/`);
  return new Promise(resolve => {
    const child = spawn(systemTool('find') ?? 'find', [...begins, ...find], {
      env: { PATH: SYSTEM_FOLDERS.join(':') },
      stdio: ['ignore', 'pipe', 'ignore'],
      ...(Number.isFinite(timeout) ? { timeout: Math.max(timeout, 1) } : {}),
    });
    let bytes = 0;
    child.stdout.on('data', (chunk: Buffer) => (bytes += chunk.length));
    for (const event of ['error', 'close']) child.once(event, () => resolve(bytes));
  });
}
