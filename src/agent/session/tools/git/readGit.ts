import { realpath, stat } from 'node:fs/promises';
import * as path from 'node:path';
import { escapeProse, oneLine } from '../../../base/foreignText.ts';
import { quoted, safeName } from '../../../base/safeName.ts';
import { succeeds } from '../../../base/async.ts';
import { beginningOf } from '../../../base/cutText.ts';
import { messageOf, ToolError } from '../../../base/errors.ts';
import { fenced } from '../../../base/phrases.ts';
import { fields, GitProgram } from '../../../hold/external/gitProgram.ts';
import { isInside } from '../../../base/system/realPath.ts';

/** The ports of the tool `git`. */
export interface GitPorts {
  /** Whether a folder is open and trusted: a repository brings settings of its own. */
  readonly isAvailable: () => boolean;
  /** The program, by its path or its name. */
  readonly program: () => string;
  /**
   * The workspace folder that a path (which need not exist) is in, and the path below it, `.` for the folder itself. Without a
   * path, the first folder.
   * @throws PathError for a path outside.
   */
  readonly locate: (path?: string) => Promise<GitPlace>;
}

/** A place in a workspace folder. */
export interface GitPlace {
  /** The absolute path of the folder. */
  readonly folder: string;
  readonly name: string;
  readonly relative: string;
}

export interface GitQuery {
  readonly action: 'status' | 'log' | 'show' | 'diff' | 'blame';
  readonly ref?: string | undefined;
  readonly path?: string | undefined;
  readonly startLine?: number | undefined;
  readonly endLine?: number | undefined;
}

export interface GitReading {
  readonly program: string;
  readonly signal: AbortSignal;
  /** Ids of the pending previews, which git does not see. */
  readonly pending: readonly string[];
}

/** The most characters of one result. */
const MAX_CHARS = 30_000;
/** The most bytes of git's output that are read. */
const MAX_BYTES = 4 * MAX_CHARS;
/** The most commits of a log. */
const MAX_COMMITS = 50;
/** The most lines of a blame. */
const MAX_LINES = 300;
/** How long git may take, in milliseconds. */
const PATIENCE = 30_000;

/** Options for differences made by git itself, not by a program that the repository names for that. */
const PLAIN = [
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--submodule=short',
  '--ignore-submodules=dirty',
];
const COMMITS = ['--no-show-signature', '--no-notes', '--date=short'];

/**
 * Git's answer, for the model. Nothing is written, no program runs that a repository names in its settings (hooks, filters, diff
 * and signature programs, watchers, remotes), and the answer covers the folder only.
 * @throws ToolError if there is no repository, no such commit, or git fails; the abort error.
 */
export async function readGit(query: GitQuery, place: GitPlace, reading: GitReading): Promise<string> {
  const late = AbortSignal.timeout(PATIENCE);
  try {
    const git = await openGit(place, { ...reading, signal: AbortSignal.any([reading.signal, late]) });
    switch (query.action) {
      case 'status':
        return await status(git, reading.pending);
      case 'log':
        return await log(git, query);
      case 'show':
        return await show(git, query);
      case 'diff':
        return await diff(git, query, reading.pending);
      case 'blame':
        return await blame(git, query, reading.pending);
    }
  } catch (error) {
    if (!late.aborted || reading.signal.aborted) throw error;
    throw new ToolError(
      `git did not answer within ${PATIENCE / 1_000} seconds. Name a path or fewer commits.`,
    );
  }
}

/** A repository and the place in it that git reads. */
interface OpenedGit {
  readonly place: GitPlace;
  /** Paths that limit the answer to the place; none if that is the whole repository. */
  readonly paths: readonly string[];
  /** Filters were left out, so files that use one may seem changed. */
  readonly hasFilters: boolean;
  run(args: readonly string[]): Promise<string>;
  /** The full name of a commit. @throws ToolError if there is none. */
  commit(ref: string): Promise<string>;
}

async function openGit(place: GitPlace, { program, signal }: GitReading): Promise<OpenedGit> {
  const git = new GitProgram(place.folder, program);
  const ask = (args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> =>
    git.run([...SETTINGS, ...args], { env, signal, atMost: MAX_BYTES });
  const [top = '', gitFolder = ''] = await ask(
    ['rev-parse', '--show-toplevel', '--absolute-git-dir'],
    {},
  ).then(
    output => output.split('\n'),
    (error: unknown) => {
      throw noRepository(error, place, signal);
    },
  );
  const [real, realTop] = await Promise.all([realpath(place.folder), realpath(top).catch(() => '')]);
  // A working tree has its `.git` in it; a setting of the repository may name any other folder.
  if (realTop === '' || !isInside(real, realTop) || !(await succeeds(stat(path.join(top, '.git')))))
    throw new ToolError(
      `The repository of ${quoted(place.name)} says that its files are elsewhere, so it is not read.`,
    );
  const env = { GIT_DIR: gitFolder, GIT_WORK_TREE: top };
  const filters = await filtersOf(args => ask(args, env));
  const all = { ...env, ...withoutFilters(filters) };
  const run = (args: readonly string[]): Promise<string> => ask(args, all);
  const isAll = place.relative === '.' && real === realTop;
  return {
    place,
    paths: isAll ? [] : ['--', place.relative],
    hasFilters: filters.length > 0,
    run,
    commit: async ref => {
      if (ref.startsWith('-') || /\p{Cc}/u.test(ref))
        throw new ToolError(`${quoted(ref)} is not the name of a commit. Use log to find one.`);
      const found = await run(['rev-parse', '--verify', '-q', `${ref}^{commit}`]).catch(() => '');
      const name = found.trim();
      if (/^[0-9a-f]{40,64}$/.test(name)) return name;
      throw new ToolError(
        ref === 'HEAD'
          ? 'There is no commit yet.'
          : `There is no commit ${quoted(ref)}. Use log to find one.`,
      );
    },
  };
}

/** Settings of the repository that would run programs, or make git read or print something else. */
const SETTINGS = [
  'safe.bareRepository=explicit',
  'core.pager=cat',
  'core.quotePath=false',
  'color.status=false',
  'status.submoduleSummary=false',
  'log.showSignature=false',
  'blame.ignoreRevsFile=',
  'diff.external=',
  'diff.noprefix=false',
].flatMap(setting => ['-c', setting]);

function noRepository(error: unknown, { name }: GitPlace, signal: AbortSignal): unknown {
  if (signal.aborted) return error;
  const message = messageOf(error);
  if (/ENOENT/.test(message))
    return new ToolError('git is not installed here, or cannot be found, so there is no history to read.');
  if (/not a git repository|must be run in a work tree|bare repository/i.test(message))
    return new ToolError(`The folder ${quoted(name)} is in no git repository, so it has no history.`);
  return new ToolError(`git cannot read the repository of ${quoted(name)}: ${oneLine(message)}`);
}

/** The names of the filters that any settings define. */
async function filtersOf(ask: (args: readonly string[]) => Promise<string>): Promise<readonly string[]> {
  const args = ['config', '-z', '--name-only', '--get-regexp', '^filter\\.'];
  const keys = fields(await ask(args).catch(() => ''));
  return [...new Set(keys.map(key => key.replace(/^filter\./i, '').replace(/\.[^.]*$/, '')))];
}

/** Settings, as git reads them from the environment, with which no filter runs. */
function withoutFilters(names: readonly string[]): Readonly<Record<string, string>> {
  const settings = names.flatMap(name => [
    [`filter.${name}.clean`, ''],
    [`filter.${name}.smudge`, ''],
    [`filter.${name}.process`, ''],
    [`filter.${name}.required`, 'false'],
  ]);
  const entries = settings.flatMap(([key = '', value = ''], n) => [
    [`GIT_CONFIG_KEY_${n}`, key],
    [`GIT_CONFIG_VALUE_${n}`, value],
  ]);
  return Object.fromEntries([['GIT_CONFIG_COUNT', String(settings.length)], ...entries]) as Record<
    string,
    string
  >;
}

/** The branch, and which files differ from the index and the last commit. */
async function status(git: OpenedGit, pending: readonly string[]): Promise<string> {
  const args = ['status', '--short', '--branch', '--untracked-files=all', '--ignore-submodules=dirty'];
  const found = await git.run([...args, ...git.paths]);
  const isClean = found
    .trimEnd()
    .split('\n')
    .every(row => row.startsWith('##'));
  const head = `${isClean ? 'Nothing differs' : 'What differs'} from the last commit ${about(git)}.`;
  return answer([head, onDisk(pending), ...filterNote(git)].join(' '), found);
}

async function log(git: OpenedGit, { ref = 'HEAD' }: GitQuery): Promise<string> {
  const [from, to, dots] = await rangeOf(git, ref);
  const commits = to === undefined ? from : `${from}${dots}${to}`;
  // Renames can be followed for one file only.
  const follow = (await isFile(git.place)) ? ['--follow'] : [];
  const args = ['-n', String(MAX_COMMITS), '--format=%h %ad %an:%d %s', ...COMMITS, ...PLAIN];
  const found = await git.run(['log', ...args, ...follow, commits, ...git.paths]);
  if (found === '') return `No commit in ${ref} ${about(git)}.`;
  const isCut = found.trimEnd().split('\n').length >= MAX_COMMITS;
  const more = isCut ? ` Only the newest ${MAX_COMMITS}; to go on, end ref at the oldest one shown.` : '';
  return answer(`Commits of ${ref} ${about(git)}, the newest first.${more}`, found);
}

async function show(git: OpenedGit, { ref = 'HEAD' }: GitQuery): Promise<string> {
  const commit = await git.commit(ref);
  const format = '--format=commit %H%nAuthor: %an%nDate: %ad%n%n%B';
  const args = ['--stat', '--patch', format, ...COMMITS, ...PLAIN, ...relative(git)];
  return answer(`The commit ${ref} ${about(git)}:`, await git.run(['show', ...args, commit, ...git.paths]));
}

async function diff(git: OpenedGit, { ref = 'HEAD' }: GitQuery, pending: readonly string[]): Promise<string> {
  const [from, to, dots] = await rangeOf(git, ref);
  const commits = to === undefined ? [from] : dots === '...' ? [`${from}...${to}`] : [from, to];
  const found = await git.run([
    'diff',
    '--stat',
    '--patch',
    ...PLAIN,
    ...relative(git),
    ...commits,
    ...git.paths,
  ]);
  const notes =
    to === undefined
      ? [onDisk(pending), 'Files that git does not track are not in it.', ...filterNote(git)]
      : [];
  const what = to === undefined ? `What differs on disk from ${ref}` : `What differs in ${ref}`;
  if (found === '')
    return [`Nothing differs ${what.slice('What differs '.length)} ${about(git)}.`, ...notes].join(' ');
  return answer([`${what} ${about(git)}.`, ...notes].join(' '), found);
}

async function blame(git: OpenedGit, query: GitQuery, pending: readonly string[]): Promise<string> {
  const { ref, path: file, startLine = 1, endLine = startLine + MAX_LINES - 1 } = query;
  if (file === undefined) throw new ToolError('Give the path of the file for blame.');
  if (endLine < startLine)
    throw new ToolError(`endLine ${endLine} is before startLine ${startLine}. Swap them.`);
  const last = Math.min(endLine, startLine + MAX_LINES - 1);
  const commit = ref === undefined ? [] : [await git.commit(ref)];
  const args = [
    '--no-textconv',
    '--date=short',
    '-L',
    `${startLine},${last}`,
    ...commit,
    '--',
    git.place.relative,
  ];
  const found = await git.run(['blame', ...args]);
  const notes = ref === undefined ? [onDisk(pending), ...filterNote(git)] : [];
  return answer(
    [`Who last changed the lines of ${safeName(file)} from line ${startLine} on.`, ...notes].join(' '),
    found,
  );
}

/** The two ends of a range, or one commit. */
async function rangeOf(
  git: OpenedGit,
  ref: string,
): Promise<readonly [from: string, to: string | undefined, dots: string]> {
  const [, from = ref, dots = '', to] = /^(.*?)(\.{2,3})(.*)$/s.exec(ref) ?? [];
  return [
    await git.commit(from || 'HEAD'),
    to === undefined ? undefined : await git.commit(to || 'HEAD'),
    dots,
  ];
}

/** Paths are relative to the folder, which may be a part of its repository. */
function relative(git: OpenedGit): readonly string[] {
  return git.paths.length > 0 ? ['--relative'] : [];
}

async function isFile({ folder, relative: at }: GitPlace): Promise<boolean> {
  return stat(path.join(folder, at)).then(
    found => found.isFile(),
    () => false,
  );
}

function about({ place }: OpenedGit): string {
  return `in ${place.relative === '.' ? quoted(place.name) : safeName(place.relative)}`;
}

function onDisk(pending: readonly string[]): string {
  const also = pending.length > 0 ? ` and the pending ${pending.join(', ')}` : '';
  return `It is about the files on disk, without unsaved editors${also}.`;
}

function filterNote({ hasFilters }: OpenedGit): readonly string[] {
  return hasFilters
    ? ['Filters, such as that of Git LFS, are not run, so files that use one may seem changed.']
    : [];
}

/** Fences git's output as data: it holds authors, messages and texts of others. */
function answer(head: string, output: string): string {
  const shown = beginningOf(output, MAX_CHARS);
  const cut = output.length > MAX_CHARS ? '\n[Cut off. Name a path, or fewer commits or lines.]' : '';
  return `${head}\n${fenced(escapeProse(shown))}${cut}`;
}
