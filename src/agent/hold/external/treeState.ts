import { lstat } from 'node:fs/promises';
import * as path from 'node:path';
import { Git } from './git.ts';

/** How long git may take, in milliseconds. */
const PATIENCE = 10_000;
/** The most files that are looked at. */
const MAX_FILES = 2_000;

/** Identifies the state of a working tree, except for the files that git ignores. */
export interface TreeState {
  /** The last commit. */
  readonly head: string;
  /** State, size and times of each file that differs from it, by its path below the folder. */
  readonly files: ReadonlyMap<string, string>;
}

/**
 * @returns undefined if there is no repository, or it has too many such files or takes too long.
 */
export async function treeState(folder: string, program = 'git'): Promise<TreeState | undefined> {
  const signal = AbortSignal.timeout(PATIENCE);
  try {
    const git = await Git.around(folder, program, signal);
    const changed = await git.uncommitted(signal);
    if (changed.length > MAX_FILES) return undefined;
    const files = new Map<string, string>();
    for (const { path: at, ...state } of changed) {
      const file = path.join(git.root, at);
      const found = await lstat(file).catch(() => undefined);
      files.set(
        path.relative(folder, file).split(path.sep).join('/'),
        JSON.stringify([state, found?.size, found?.mtimeMs, found?.ctimeMs]),
      );
    }
    return { head: (await git.head()) ?? '', files };
  } catch {
    return undefined;
  }
}
