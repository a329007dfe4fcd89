import { isDeepStrictEqual } from 'node:util';
import type { GitProgram } from '../gitProgram.ts';

/** An entry of the index. */
export interface StagedEntry {
  /** As git writes it: `100644`, `100755`, `120000` for a link, `160000` for a submodule. */
  readonly mode: string;
  readonly object: string;
  /** A merge has left the path in conflict. */
  readonly isUnmerged: boolean;
}

/** Paths whose files differ from the index: changed, deleted, or untracked and not ignored. */
export async function unstagedPaths(git: GitProgram): Promise<ReadonlySet<string>> {
  return new Set(await git.names(['ls-files', '-m', '-d', '-o', '--exclude-standard', '-z']));
}

/** The entries of the index, or those at these paths. */
export async function stagedEntries(
  git: GitProgram,
  paths?: ReadonlySet<string>,
): Promise<ReadonlyMap<string, StagedEntry>> {
  const found = new Map<string, StagedEntry>();
  for (const line of await git.names(['ls-files', '-s', '-z'])) {
    const tab = line.indexOf('\t');
    const [mode = '', object = '', stage] = line.slice(0, tab).split(' ');
    const at = line.slice(tab + 1);
    if (paths?.has(at) ?? true) found.set(at, { mode, object, isUnmerged: stage !== '0' });
  }
  return found;
}

/** The bytes of an object. */
export async function contentOf(git: GitProgram, object: string): Promise<Buffer> {
  return Buffer.from(await git.run(['cat-file', 'blob', object], { encoding: 'latin1' }), 'latin1');
}

/**
 * Stores bytes as an object.
 * @param convertAs path whose filters and line endings apply; without it the bytes are stored as they are.
 * @returns the name of the object.
 */
export async function store(git: GitProgram, bytes: Uint8Array, convertAs?: string): Promise<string> {
  const how = convertAs === undefined ? ['--no-filters'] : ['--path', convertAs];
  const input = Buffer.from(bytes).toString('latin1');
  return (await git.run(['hash-object', '-w', '--stdin', ...how], { input, encoding: 'latin1' })).trim();
}

/** Sets entries of the index; `null` removes one. A file may replace a folder, so removals come first. */
export async function update(
  git: GitProgram,
  entries: ReadonlyMap<string, Pick<StagedEntry, 'mode' | 'object'> | null>,
): Promise<void> {
  const gone = [...entries].filter(([, entry]) => !entry).map(([at]) => at);
  if (gone.length > 0)
    await git.run(['update-index', '--force-remove', '-z', '--stdin'], { input: gone.join('\0') });
  const there = [...entries].flatMap(([at, entry]) =>
    entry ? [`${entry.mode} ${entry.object}\t${at}\0`] : [],
  );
  if (there.length > 0)
    await git.run(['update-index', '--replace', '-z', '--index-info'], { input: there.join('') });
}

/**
 * Resets these paths of the index to the last commit, but none at which something else is staged than there was.
 * @returns the paths that are left as they are
 */
export async function unstage(
  git: GitProgram,
  paths: ReadonlySet<string>,
  was: ReadonlyMap<string, StagedEntry>,
): Promise<readonly string[]> {
  const now = await stagedEntries(git, paths);
  const isSame = (at: string): boolean => isDeepStrictEqual(now.get(at), was.get(at));
  const reset = [...paths].filter(isSame);
  // Without a path, git would reset everything.
  if (reset.length > 0)
    await git.run(['reset', '-q', '--pathspec-from-file=-', '--pathspec-file-nul'], {
      input: reset.join('\0'),
    });
  return [...paths].filter(at => !isSame(at));
}
