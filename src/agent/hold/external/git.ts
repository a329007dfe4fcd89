import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { forEachLimited, succeeds } from '../../base/async.ts';
import { isNameable } from './fileNames.ts';
import { MAX_FILE_BYTES } from '../preview/workspace.ts';
import { fields, GitProgram } from './gitProgram.ts';

/** The entry at a path, in git or on disk. */
export interface GitEntry {
  readonly kind: 'file' | 'link' | 'submodule';
  /** Size that git stores, in bytes; 0 if unknown, as on disk. */
  readonly size: number;
  readonly isExecutable: boolean;
  /** Git only knows that it exists, as in a partial clone: its content was never fetched. */
  readonly isMissing?: boolean;
}

/** A path that differs. Paths are relative to the root of the repository, with forward slashes. */
export interface ChangedPath {
  readonly path: string;
  /** The path that it was renamed from. */
  readonly from?: string;
  /** The entry at `from`, else at `path`; `null`: none. */
  readonly old: GitEntry | null;
  readonly now: GitEntry | null;
}

/** A path that differs from the last commit. */
export interface UncommittedPath extends ChangedPath {
  readonly isStaged: boolean;
  /** The staged content differs from the file. */
  readonly differsFromStaged: boolean;
  /** A merge has left it in conflict. */
  readonly isUnmerged: boolean;
}

/** The operation that git has not finished. */
export type GitOperation = 'merge' | 'rebase' | 'cherry-pick' | 'revert' | 'bisect';

/** Files as `git checkout` writes them, with the filters, encodings and line endings of the commit. */
export interface CheckedOut {
  /** Contains each of the files that git could write, at its path. */
  readonly folder: string;
  dispose(): Promise<void>;
}

/** Options that make a diff independent of the configuration. */
const RAW = ['--raw', '-z', '--no-abbrev', '--no-ext-diff', '--no-textconv', '--no-relative'];

/** Paths below git's own folder that show that an operation is under way. */
const UNDER_WAY: readonly (readonly [string, GitOperation])[] = [
  ['MERGE_HEAD', 'merge'],
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['BISECT_LOG', 'bisect'],
];

/**
 * A repository, read and written by git itself, with its conversions.
 * @throws ToolError with git's message, from every method.
 */
export class Git {
  /** The absolute path of its working tree. */
  readonly root: string;
  readonly program: GitProgram;

  constructor(root: string, program = 'git') {
    this.root = root;
    this.program = new GitProgram(root, program);
  }

  /** The repository that a folder is in. */
  static async around(folder: string, program?: string, signal?: AbortSignal): Promise<Git> {
    const top = await new GitProgram(folder, program).run(['rev-parse', '--show-toplevel'], { signal });
    return new Git(top.trimEnd(), program);
  }

  /**
   * The attribute `eol` of a file, which need not exist: `lf`, `crlf` or `unspecified`.
   * @param path below the root.
   */
  async lineEndingOf(path: string): Promise<string | undefined> {
    return fields(await this.program.run(['check-attr', '-z', 'eol', '--', path]))[2];
  }

  /** Paths that differ between two commits. */
  async changesBetween(from: string, to: string): Promise<readonly ChangedPath[]> {
    const args = ['diff-tree', '-r', ...RAW];
    return this.#changed(
      await this.#withRenames([...args, '-M', from, to], [...args, '--no-renames', from, to]),
      [from, to],
    );
  }

  /** Paths that differ between a commit and the working tree. Untracked files that git does not ignore count as new. */
  async changesOnDisk(from: string): Promise<readonly ChangedPath[]> {
    const args = ['diff', ...RAW, '--ignore-submodules=none'];
    const raw = await this.#withRenames([...args, '-M', from], [...args, '--no-renames', from]);
    const fresh = await this.program.names(['ls-files', '-o', '--exclude-standard', '-z']);
    return withUntracked(await this.#changed(raw, [from]), fresh);
  }

  /**
   * Paths that differ from the last commit, in the index or on disk.
   * @param quick if given, git leaves out renames and submodules, and ends when this signal aborts
   */
  async uncommitted(quick?: AbortSignal): Promise<readonly UncommittedPath[]> {
    // A copy is a new file.
    const args = ['-c', 'status.renames=true', 'status', '--porcelain=v2', '-z', '--untracked-files=all'];
    if (quick) {
      const plain = [...args, '--no-renames', '--ignore-submodules=all'];
      return statusOf(await this.program.names(plain, { signal: quick }));
    }
    const all = [...args, '--ignore-submodules=none'];
    return statusOf(await this.#withRenames([...all, '--find-renames'], [...all, '--no-renames']));
  }

  /** Git's output; without renames if detecting them would fetch contents. */
  async #withRenames(args: readonly string[], plain: readonly string[]): Promise<readonly string[]> {
    try {
      return await this.program.names(args);
    } catch {
      return this.program.names(plain);
    }
  }

  /** Paths of the index that the working tree omits on purpose, as in a sparse checkout. */
  async sparse(): Promise<ReadonlySet<string>> {
    const listed = await this.program.names(['ls-files', '-t', '-z']);
    return new Set(listed.filter(line => line.startsWith('S ')).map(line => line.slice('S '.length)));
  }

  /** The unfinished operation, which is a reason not to reset files to the last commit. */
  async operation(): Promise<GitOperation | undefined> {
    const places = await this.program.run([
      'rev-parse',
      ...UNDER_WAY.flatMap(([name]) => ['--git-path', name]),
    ]);
    for (const [n, place] of places.split('\n').slice(0, UNDER_WAY.length).entries())
      if (await succeeds(stat(path.resolve(this.root, place)))) return UNDER_WAY[n]?.[1];
    return undefined;
  }

  /** The last commit; `undefined` if there is none yet. */
  async head(): Promise<string | undefined> {
    return this.#commit(['rev-parse', '--verify', '-q', 'HEAD^{commit}']);
  }

  /** The merge base of two commits; `undefined` if their histories have nothing in common. */
  async mergeBase(one: string, other: string): Promise<string | undefined> {
    return this.#commit(['merge-base', one, other]);
  }

  /**
   * Has git write files of a commit into a separate folder. A file that git cannot write, for example because a filter fails, is
   * missing there.
   */
  async checkOut(commit: string, paths: readonly string[]): Promise<CheckedOut> {
    const temporary = await mkdtemp(path.join(tmpdir(), 'redline-git-'));
    const dispose = (): Promise<void> => rm(temporary, { recursive: true, force: true });
    try {
      const folder = path.join(temporary, 'files');
      await mkdir(folder);
      const env = { GIT_INDEX_FILE: path.join(temporary, 'index') };
      if (paths.length > 0)
        await this.program.run(['-c', 'core.sparseCheckout=false', 'read-tree', commit], { env });
      const gitFolder = (await this.program.run(['rev-parse', '--absolute-git-dir'])).trimEnd();
      const write = (some: readonly string[]): Promise<unknown> =>
        this.program.run(
          [`--git-dir=${gitFolder}`, `--work-tree=${folder}`, 'checkout-index', '-q', '-z', '--stdin'],
          {
            env,
            cwd: folder,
            input: some.join('\0'),
          },
        );
      const isMissing = async (some: readonly string[]): Promise<readonly string[]> => {
        const there = await Promise.all(some.map(each => succeeds(stat(path.join(folder, each)))));
        return some.filter((_, n) => !there[n]);
      };
      try {
        if (paths.length > 0) await write(paths);
      } catch {
        // A file that fails ends the run, so those after it are missing, too.
        await forEachLimited(await isMissing(paths), 4, async each => {
          await write([each]).catch(() => undefined);
        });
      }
      return { folder, dispose };
    } catch (error) {
      await dispose();
      throw error;
    }
  }

  async #commit(args: readonly string[]): Promise<string | undefined> {
    return (await this.program.run(args).catch(() => '')).trim() || undefined;
  }

  async #changed(parts: readonly string[], commits: readonly string[]): Promise<readonly ChangedPath[]> {
    const found: (readonly [line: readonly string[], path: string, from: string | undefined])[] = [];
    for (let n = 0; n < parts.length;) {
      const line = (parts[n++] ?? '').slice(1).split(' ');
      const first = parts[n++] ?? '';
      const isMove = /^[RC]/.test(line[4] ?? '');
      found.push(isMove ? [line, parts[n++] ?? '', first] : [line, first, undefined]);
    }
    const sizes = await this.#sizes(
      found.flatMap(([[oldMode, mode, old = '', now = '']]) => [
        ...(oldMode === '160000' ? [] : [old]),
        ...(mode === '160000' ? [] : [now]),
      ]),
      commits,
    );
    return found.map(([[oldMode, mode, oldName = '', name = ''], at, from]) => ({
      path: at,
      ...(from === undefined ? {} : { from }),
      old: storedEntry(oldMode, oldName, sizes),
      now: storedEntry(mode, name, sizes),
    }));
  }

  /**
   * Sizes of objects of these commits, by name; `undefined` where git has none of their content. Objects that git does not know
   * have no entry.
   */
  async #sizes(names: readonly string[], commits: readonly string[]): Promise<Sizes> {
    const known = [...new Set(names)].filter(name => !/^0*$/.test(name));
    try {
      return await this.#storedSizes(known);
    } catch {
      // Git would fetch those that are missing.
      const args = ['rev-list', '--objects', '--no-walk', '--missing=print', ...commits];
      const listed = (await this.program.run(args)).split('\n');
      const missing = new Set(listed.filter(line => line.startsWith('?')).map(line => line.slice(1)));
      const stored = await this.#storedSizes(known.filter(name => !missing.has(name)));
      return new Map([...stored, ...[...missing].map(name => [name, undefined] as const)]);
    }
  }

  async #storedSizes(names: readonly string[]): Promise<Sizes> {
    if (names.length === 0) return new Map();
    const told = await this.program.run(['cat-file', '--batch-check'], { input: `${names.join('\n')}\n` });
    const sizes = told.split('\n').map(line => line.split(' '));
    return new Map(
      sizes.flatMap(([name = '', , size]) => (size === undefined ? [] : [[name, Number(size)]])),
    );
  }
}

type Sizes = ReadonlyMap<string, number | undefined>;

function storedEntry(mode: string | undefined, name: string, sizes: Sizes): GitEntry | null {
  const entry = entryOf(mode, sizes.get(name));
  return entry && sizes.has(name) && sizes.get(name) === undefined ? { ...entry, isMissing: true } : entry;
}

function entryOf(mode = '000000', size = 0): GitEntry | null {
  if (mode === '000000') return null;
  const kind = mode === '120000' ? 'link' : mode === '160000' ? 'submodule' : 'file';
  return { kind, size, isExecutable: mode === '100755' };
}

const FRESH: GitEntry = { kind: 'file', size: 0, isExecutable: false };

/** Adds untracked files, including those that git has just stopped tracking. */
function withUntracked(tracked: readonly ChangedPath[], fresh: readonly string[]): readonly ChangedPath[] {
  const left = new Set(fresh);
  const changed = tracked.flatMap((each): readonly ChangedPath[] => {
    const { path: at, from } = each;
    if (from !== undefined && left.delete(from))
      return [
        { path: from, old: each.old, now: FRESH },
        { path: at, old: null, now: each.now },
      ];
    return [left.delete(at) ? { ...each, now: FRESH } : each];
  });
  return [...changed, ...[...left].map(each => untracked(each))];
}

/** A repository in the repository is listed as a folder. */
function untracked(at: string): ChangedPath {
  const isFolder = at.endsWith('/');
  return { path: at.replace(/\/$/, ''), old: null, now: isFolder ? { ...FRESH, kind: 'submodule' } : FRESH };
}

/** Reads `git status --porcelain=v2 -z`. */
function statusOf(parts: readonly string[]): readonly UncommittedPath[] {
  const found: UncommittedPath[] = [];
  const fresh: string[] = [];
  for (let n = 0; n < parts.length;) {
    const line = parts[n++] ?? '';
    const kind = line.slice(0, 1);
    const rest = (words: number): string => line.split(' ').slice(words).join(' ');
    const [, xy = '..', , mH, , mW] = line.split(' ');
    const plain = {
      // Files only announced (`git add -N`) are in the index, too.
      isStaged: xy[0] !== '.' || xy[1] === 'A',
      differsFromStaged: xy[0] !== '.' && xy[1] !== '.',
      isUnmerged: false,
    };
    if (kind === '1') found.push({ path: rest(8), old: entryOf(mH), now: entryOf(mW), ...plain });
    else if (kind === '2')
      found.push({ path: rest(9), from: parts[n++] ?? '', old: entryOf(mH), now: entryOf(mW), ...plain });
    else if (kind === 'u') {
      const [, , , , , , mode] = line.split(' ');
      found.push({ path: rest(10), old: FRESH, now: entryOf(mode), ...plain, isUnmerged: true });
    } else if (kind === '?') fresh.push(line.slice(2));
  }
  const tracked = new Map(found.map(each => [each.path, each]));
  const isFresh = new Set(fresh);
  return withUntracked(found, fresh).map(each => {
    const { isStaged, differsFromStaged = false, isUnmerged = false } = tracked.get(each.path) ?? {};
    // The removal is staged, but the file is still there.
    const isKept = each.old !== null && isFresh.has(each.path);
    return {
      ...each,
      isStaged: isStaged ?? isKept,
      differsFromStaged: differsFromStaged || isKept,
      isUnmerged,
    };
  });
}

/** Paths of files to write; too large ones are left out anyway. */
export function filesToWrite(
  entries: readonly (readonly [path: string, entry: GitEntry | null])[],
): readonly string[] {
  return entries.flatMap(([at, entry]) =>
    isNameable(at) && entry && entry.kind !== 'submodule' && !entry.isMissing && entry.size <= MAX_FILE_BYTES
      ? [at]
      : [],
  );
}
