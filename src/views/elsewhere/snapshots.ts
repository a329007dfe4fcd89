import type { Stats } from 'node:fs';
import { lstat, readFile, realpath } from 'node:fs/promises';
import * as path from 'node:path';
import { messageOf, ToolError } from '../../agent/base/errors.ts';
import type { ChangedPath, Snapshot, SnapshotEntry } from '../../agent/elsewhere/snapshot.ts';
import type { GitChange, GitRepository } from './gitApi.ts';
import { isInside } from '../../agent/text/isInside.ts';

/** The files of a commit. */
export function commitSnapshot(repository: GitRepository, commit: string): Snapshot {
  return {
    entry: async relative => {
      try {
        const { mode, object, size } = await repository.getObjectDetails(commit, relative);
        return entryOf(mode, { size, object });
      } catch (error) {
        if (isUnknownPath(error)) return null;
        throw unreadable(error);
      }
    },
    read: relative => repository.buffer(commit, relative).catch(refuse),
  };
}

/** Whether an error of the git extension says that there is nothing at a path. */
export function isUnknownPath(error: unknown): boolean {
  return (error as { readonly gitErrorCode?: unknown } | undefined)?.gitErrorCode === 'UnknownPath';
}

/** What a mode of git stands for. A folder is no file. */
function entryOf(
  mode: string,
  { size, object }: Pick<SnapshotEntry, 'size'> & { readonly object: string },
): SnapshotEntry | null {
  switch (mode) {
    case '040000':
      return null;
    case '120000':
      return { kind: 'link', size, isExecutable: false };
    case '160000':
      return { kind: 'submodule', size, isExecutable: false };
    default:
      return { kind: 'file', size, isExecutable: mode === '100755', object };
  }
}

/** The files of a folder on disk, as they are now. Nothing outside of the folder is read, also through links. */
export function diskSnapshot(root: string): Snapshot {
  return {
    entry: async relative => {
      const found = await statOf(path.join(root, relative));
      if (!found || found.isDirectory()) return null;
      const { size, mode } = found;
      const isBelow = isInside(await realpath(path.dirname(path.join(root, relative))), await realpath(root));
      if (found.isSymbolicLink() || !isBelow) return { kind: 'link', size, isExecutable: false };
      return { kind: found.isFile() ? 'file' : 'other', size, isExecutable: (mode & 0o111) !== 0 };
    },
    read: relative => readFile(path.join(root, relative)).catch(refuse),
  };
}

async function statOf(file: string): Promise<Stats | undefined> {
  try {
    return await lstat(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw unreadable(error);
  }
}

/** What git or the disk says about one file leaves out that file, and does not end the whole. */
function unreadable(error: unknown): ToolError {
  return new ToolError(messageOf(error), { cause: error });
}

function refuse(error: unknown): never {
  throw unreadable(error);
}

/** Changes that git tells as paths relative to the root, each path once. */
export function changedPaths(root: string, changes: readonly GitChange[]): readonly ChangedPath[] {
  const relative = (file: string): string => path.relative(root, file).replaceAll(path.sep, '/');
  const found = new Map<string, ChangedPath>();
  for (const { uri, originalUri, renameUri } of changes) {
    const at = relative((renameUri ?? uri).fsPath);
    const from = relative(originalUri.fsPath);
    if (from === at) {
      if (!found.has(at)) found.set(at, { path: at });
    } else found.set(at, { path: at, from });
  }
  const sources = new Set([...found.values()].flatMap(({ from }) => from ?? []));
  return [...found.values()].filter(({ path: at, from }) => from !== undefined || !sources.has(at));
}

/** The changes of a worktree since a commit: those of its commits, and what is not committed there. Each file once. */
export function withUncommitted(
  committed: readonly ChangedPath[],
  uncommitted: readonly ChangedPath[],
): readonly ChangedPath[] {
  const known = new Set(committed.flatMap(({ path: at, from = at }) => [at, from]));
  const movedTo = new Map(
    uncommitted.flatMap(({ path: at, from }) => (from === undefined ? [] : [[from, at]])),
  );
  const movedOn = new Set<string>();
  const changed = committed.flatMap((change): readonly ChangedPath[] => {
    const to = movedTo.get(change.path);
    if (to === undefined) return [change];
    // The file that was changed has another name now, which the move tells; that it had a third one before, only this does.
    if (change.from === undefined) return [];
    movedOn.add(to);
    return [to === change.from ? { path: to } : { path: to, from: change.from }];
  });
  return [...changed, ...uncommitted.filter(({ path: at }) => !known.has(at) && !movedOn.has(at))];
}

/** The names of files in a patch of git that became a link or a submodule, or were one: other lists leave them out. */
export function changedTypes(patch: string): readonly string[] {
  const names = new Map<string, Set<string>>();
  for (const [, name = '', mode = ''] of patch.matchAll(
    /^diff --git (.*)\n(?:new|deleted) file mode (\d{6})$/gm,
  )) {
    const modes = names.get(name) ?? new Set();
    names.set(name, modes.add(mode));
  }
  return [...names].flatMap(([name, modes]) => (modes.size > 1 ? [bareName(name)] : []));
}

/** The name of `a/name b/name`. */
function bareName(both: string): string {
  const half = (both.length - 1) / 2;
  const [first, second] = [both.slice(0, half), both.slice(half + 1)];
  return first.slice(1) === second.slice(1) ? second.replace(/^[a-z]\//, '') : both;
}
