import { lstat } from 'node:fs/promises';
import * as path from 'node:path';
import { fields, GitProgram } from './gitProgram.ts';

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
  const git = new GitProgram(folder, program);
  const signal = AbortSignal.timeout(PATIENCE);
  try {
    const [top = ''] = (await git.run(['rev-parse', '--show-toplevel'], { signal })).split('\n');
    const head = await git.run(['rev-parse', '-q', '--verify', 'HEAD'], { signal }).catch(() => '');
    const args = ['status', '-z', '--no-renames', '--untracked-files=all', '--ignore-submodules=all'];
    const rows = fields(await git.run(args, { signal }));
    if (rows.length > MAX_FILES) return undefined;
    const files = new Map<string, string>();
    for (const row of rows) {
      const file = path.join(top, row.slice(3));
      const found = await lstat(file).catch(() => undefined);
      files.set(
        path.relative(folder, file).split(path.sep).join('/'),
        [row.slice(0, 2), found?.size, found?.mtimeMs, found?.ctimeMs].join(' '),
      );
    }
    return { head, files };
  } catch {
    return undefined;
  }
}
