import { copyFile, mkdtemp, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { forEachLimited } from '../../base/async.ts';
import { hasCode, messageOf } from '../../base/errors.ts';
import type { GitProgram } from '../gitProgram.ts';
import type { Stored } from './foldApplied.ts';

/** What a tree or the index has at a path. */
export interface StoredEntry {
  /** As git writes it: `100644`, `100755`, `120000` for a link, `160000` for a submodule. */
  readonly mode: string;
  readonly object: string;
}

/** Paths of a repository and what is there; a path that is missing has nothing. */
export type StoredEntries = ReadonlyMap<string, StoredEntry>;

const NOTHING = '000000';
/** How many paths git is given as arguments. */
const AT_ONCE = 50;

/** What git has stored, and how it stores something: of one repository, as it is at the moment of each call. */
export class GitIndex {
  readonly #git: GitProgram;

  constructor(git: GitProgram) {
    this.#git = git;
  }

  /** The tree to build on: that of a commit, or the empty one. */
  async treeOf(commit: string | undefined): Promise<string> {
    const args = commit === undefined ? ['hash-object', '-t', 'tree', '-w', '--stdin'] : undefined;
    return (await this.#git.run(args ?? ['rev-parse', `${commit}^{tree}`])).trim();
  }

  /** What a tree has at these paths. */
  async inTree(tree: string, paths: readonly string[]): Promise<StoredEntries> {
    const wanted = new Set(paths);
    const found = new Map<string, StoredEntry>();
    for (const line of await this.#git.names(['ls-tree', '-r', '-z', '--full-tree', tree])) {
      const [about = '', at = ''] = splitAtTab(line);
      const [mode = '', , object = ''] = about.split(' ');
      if (wanted.has(at)) found.set(at, { mode, object });
    }
    return found;
  }

  /** What is staged that a tree does not have; `null` where a file of it is staged to be removed. */
  async staged(tree: string): Promise<ReadonlyMap<string, StoredEntry | null>> {
    const args = ['--cached', '--raw', '-z', '--no-abbrev', '--no-renames', '--ita-invisible-in-index'];
    return differences(await this.#git.names(['diff-index', ...args, '--ignore-submodules=none', tree]));
  }

  /** What differs between two trees: what the second has. */
  async between(one: string, other: string): Promise<ReadonlyMap<string, StoredEntry | null>> {
    return differences(
      await this.#git.names(['diff-tree', '-r', '--raw', '-z', '--no-abbrev', '--no-renames', one, other]),
    );
  }

  /** Paths with a conflict that nobody has settled. */
  async unmerged(): Promise<ReadonlySet<string>> {
    const lines = await this.#git.names(['ls-files', '-u', '-z', '--full-name']);
    return new Set(lines.map(line => splitAtTab(line)[1] ?? ''));
  }

  /** Those of these paths that the index does not have and that git ignores. */
  async ignored(paths: readonly string[]): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    // Arguments must not grow without a limit; without any, git would list everything.
    for (let n = 0; n < paths.length; n += AT_ONCE) {
      const some = paths.slice(n, n + AT_ONCE);
      const args = ['ls-files', '-o', '-i', '--exclude-standard', '-z', '--', ...some];
      for (const each of await this.#git.names(args)) found.add(each);
    }
    return found;
  }

  /** Those of these paths that the user has announced with `git add --intent-to-add`. */
  async announced(tree: string, paths: readonly string[]): Promise<readonly string[]> {
    const args = ['--cached', '--raw', '-z', '--no-abbrev', '--no-renames', '--ita-visible-in-index'];
    const visible = differences(await this.#git.names(['diff-index', ...args, tree]));
    const staged = await this.staged(tree);
    return paths.filter(each => visible.has(each) && !staged.has(each));
  }

  /** The contents of objects, by their names. */
  async contents(objects: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const names = [...new Set(objects)];
    if (names.length === 0) return new Map();
    const options = { input: `${names.join('\n')}\n`, encoding: 'latin1' } as const;
    const output = await this.#git.run(['cat-file', '--batch'], options);
    const found = new Map<string, string>();
    for (let at = 0; at < output.length;) {
      const end = output.indexOf('\n', at);
      const [name = '', , size = ''] = output.slice(at, end).split(' ');
      const from = end + 1;
      const to = from + Number(size);
      if (Number.isNaN(to)) throw new Error(`git has no object ${name}`);
      found.set(name, output.slice(from, to));
      at = to + 1;
    }
    return found;
  }

  /** Stores what a file at this path would be stored as, if it held these bytes. @returns the name of the object. */
  async store(bytes: string, options: { readonly convertAs: string } | 'asIs'): Promise<string> {
    const how = options === 'asIs' ? ['--no-filters'] : ['--path', options.convertAs];
    return (
      await this.#git.run(['hash-object', '-w', '--stdin', ...how], { input: bytes, encoding: 'latin1' })
    ).trim();
  }

  /**
   * What `git add` would make of files on disk, with their filters and line endings.
   * @returns also those of which git can make nothing, with what it says.
   */
  async ofDisk(
    tree: string,
    paths: readonly string[],
  ): Promise<{ readonly entries: StoredEntries; readonly refused: ReadonlyMap<string, string> }> {
    const index = await this.temporary();
    try {
      const refused = new Map<string, string>();
      const add = (some: readonly string[]): Promise<string> =>
        this.#git.run(['update-index', '--add', '--remove', '--replace', '-z', '--stdin'], {
          input: some.join('\0'),
          env: index.env,
        });
      // One that fails ends the others behind it.
      await add(paths).catch(() =>
        forEachLimited(paths, 1, async each => {
          await add([each]).catch(error => void refused.set(each, messageOf(error)));
        }),
      );
      const lines = await this.#git.names(['ls-files', '-s', '-z', '--full-name'], { env: index.env });
      const wanted = new Set(paths.filter(each => !refused.has(each)));
      const entries = new Map<string, StoredEntry>();
      for (const line of lines) {
        const [about = '', at = ''] = splitAtTab(line);
        const [mode = '', object = ''] = about.split(' ');
        if (wanted.has(at)) entries.set(at, { mode, object });
      }
      return { entries, refused };
    } finally {
      await index.dispose();
    }
  }

  /** Sets entries of an index, the user's own by default. All of them, or none if it fails. */
  async update(
    entries: ReadonlyMap<string, StoredEntry | null>,
    env: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    if (entries.size === 0) return;
    const gone = [...entries].filter(([, entry]) => entry === null);
    const there = [...entries].filter(([, entry]) => entry !== null);
    const zeros = '0'.repeat((await this.treeOf(undefined)).length);
    // A file may stand where a folder was, so what goes comes first.
    const lines = [...gone, ...there].map(
      ([at, entry]) => `${entry?.mode ?? '0'} ${entry?.object ?? zeros}\t${at}\0`,
    );
    await this.#git.run(['update-index', '--replace', '-z', '--index-info'], { input: lines.join(''), env });
  }

  /** An index of its own, which is a copy of the user's: it knows which files git need not read again. */
  async temporary(): Promise<TemporaryIndex> {
    const folder = await mkdtemp(path.join(tmpdir(), 'redline-git-'));
    const file = path.join(folder, 'index');
    try {
      const own = (await this.#git.run(['rev-parse', '--git-path', 'index'])).replace(/\n$/, '');
      await copyIndex(path.resolve(this.#git.root, own), file).catch((error: unknown) => {
        if (!hasCode(error, 'ENOENT')) throw error;
      });
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
    return {
      env: { GIT_INDEX_FILE: file },
      dispose: () => rm(folder, { recursive: true, force: true }),
    };
  }
}

/**
 * Copies an index with its time: a file that was written at that time or later may have changed without a trace, so git reads it
 * again.
 */
async function copyIndex(from: string, to: string): Promise<void> {
  const { mtimeMs } = await stat(from);
  await copyFile(from, to);
  const seconds = Math.floor(mtimeMs / 1_000);
  await utimes(to, seconds, seconds);
}

/** An index that is not the user's. */
export interface TemporaryIndex {
  /** Makes git use it. */
  readonly env: Readonly<Record<string, string>>;
  dispose(): Promise<void>;
}

/** The text of what is stored at a path; `null` if there is nothing. */
export function textIn(entry: StoredEntry | null | undefined, contents: ReadonlyMap<string, string>): Stored {
  return entry ? (contents.get(entry.object) ?? null) : null;
}

export function isFile(entry: StoredEntry | null | undefined): boolean {
  return !entry || entry.mode.startsWith('100');
}

export function isSameEntry(one: StoredEntry | null, other: StoredEntry | null): boolean {
  return one?.object === other?.object && one?.mode === other?.mode;
}

function differences(parts: readonly string[]): ReadonlyMap<string, StoredEntry | null> {
  const found = new Map<string, StoredEntry | null>();
  for (let n = 0; n < parts.length; n += 2) {
    const [, mode = NOTHING, , object = ''] = (parts[n] ?? '').split(' ');
    found.set(parts[n + 1] ?? '', mode === NOTHING ? null : { mode, object });
  }
  return found;
}

function splitAtTab(line: string): readonly [string, string] {
  const tab = line.indexOf('\t');
  return [line.slice(0, tab), line.slice(tab + 1)];
}
