import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { succeeds, TimeSlice } from '../../base/async.ts';
import { ToolError } from '../../base/errors.ts';
import { GitProgram } from '../../hold/external/gitProgram.ts';
import { foldersAbove } from '../../hold/preview/fileSteps.ts';

/** Paths that count as ignored without git: the folder is in no repository, or in one that ignores it, or there is no git. */
const IGNORED_WITHOUT_GIT = /(^|\/)node_modules(\/|$)/;

/**
 * Whether the repository that a folder is in ignores the folder itself, as a repository of the home folder may. Git then calls
 * everything in it ignored, so it is treated as if there were no git.
 */
export async function isFolderIgnored(folder: string): Promise<boolean> {
  // Rules such as `*` match the root of their own repository, too, but are meant for its contents.
  if (await succeeds(fs.lstat(path.join(folder, '.git')))) return false;
  // By the rules alone: a few files of it may be tracked nevertheless.
  return (await checkIgnore(folder, ['.'], { isByRules: true }))?.has('.') === true;
}

/**
 * Returns the paths that git ignores and does not track.
 * @param folder absolute; the paths are relative to it, with slashes, also at the end of a folder. They need not exist.
 * @param rules the texts of `.gitignore` files that are not there yet, by the folders that they would be in
 */
export async function ignoredOf(
  folder: string,
  paths: readonly string[],
  rules: ReadonlyMap<string, string> = new Map(),
): Promise<ReadonlySet<string>> {
  const known = new Map<string, Promise<string | undefined>>();
  const groups = new Map<string, string[]>();
  for (const [above, below] of Map.groupBy(paths, at => path.posix.dirname(at))) {
    const repository = await repositoryAt(folder, above, known);
    if (repository === undefined) continue;
    const group = groups.get(repository);
    if (group) for (const at of below) group.push(at);
    else groups.set(repository, below);
  }
  const ignored = new Set<string>();
  const slice = new TimeSlice();
  for (const [repository, group] of groups) {
    const prefix = repository === '' ? '' : `${repository}/`;
    const answer = await ignoredIn(
      path.join(folder, repository),
      group.map(at => at.slice(prefix.length)),
      repository === '' ? rules : undefined,
    );
    // A repository inside has rules of its own.
    const isAll = repository === '' && answer && answer.size > 0 && (await isFolderIgnored(folder));
    const found = isAll ? undefined : answer;
    for (const at of group) {
      await slice.turn();
      if (found ? found.has(at.slice(prefix.length)) : IGNORED_WITHOUT_GIT.test(at)) ignored.add(at);
    }
  }
  return ignored;
}

/**
 * The repository that a folder is in, as a path relative to the first one: git fails if it is asked about a path in another one.
 * @returns `undefined` beyond a link, where git tracks and ignores nothing
 */
function repositoryAt(
  folder: string,
  at: string,
  known: Map<string, Promise<string | undefined>>,
): Promise<string | undefined> {
  if (at === '.') return Promise.resolve('');
  const find = async (): Promise<string | undefined> => {
    const above = await repositoryAt(folder, path.posix.dirname(at), known);
    const stat = await fs.lstat(path.join(folder, at)).catch(() => undefined);
    if (above === undefined || stat?.isSymbolicLink()) return undefined;
    const own = stat?.isDirectory() && (await fs.lstat(path.join(folder, at, '.git')).catch(() => undefined));
    return own ? at : above;
  };
  const found = known.get(at) ?? find();
  known.set(at, found);
  return found;
}

/**
 * Returns the paths in one repository that git ignores. Git takes a path with a slash at its end for a nameless entry of the
 * folder, which `*` matches even if an exception follows; without the slash, it assumes that a path that is not on disk is not a
 * folder. So it is asked both ways.
 * @returns `undefined` if git does not answer
 */
async function ignoredIn(
  folder: string,
  paths: readonly string[],
  more: ReadonlyMap<string, string> = new Map(),
): Promise<ReadonlySet<string> | undefined> {
  const names = paths.flatMap(at => (at.endsWith('/') ? [at, at.slice(0, -1)] : at));
  const known = await checkIgnore(folder, names);
  if (!known) return undefined;
  const rules = new Map([...known, ...(await ignoredByMore(folder, names, more))]);
  const exceptions = new Map<string, Promise<readonly string[] | undefined>>();
  const isIgnored = async (at: string): Promise<boolean> => {
    const rule = rules.get(at);
    if (rule?.pattern.endsWith('/') && !at.endsWith('/') && (await isFolder(folder, at))) {
      // The rule is for folders. It matches only because the disk still has a folder here, or because it is for a folder above.
      const above = `${path.posix.dirname(at)}/`;
      return above !== './' && (await checkIgnore(folder, [above]))?.has(above) === true;
    }
    const named = at.endsWith('/') ? rules.get(at.slice(0, -1)) : rule;
    if (!rule || named === rule || !/(^|\/)\*+$/.test(rule.pattern)) return rule !== undefined;
    const key = `${rule.line} ${rule.source}`;
    const asked = exceptions.get(key) ?? exceptionsTo(rule, folder);
    exceptions.set(key, asked);
    const found = await asked;
    if (found?.length === 0) return true;
    const isThere = await isFolder(folder, at.slice(0, -1));
    // An exception for folders may be meant for it.
    return named !== undefined && (isThere || found?.some(each => each.endsWith('/')) === false);
  };
  const ignored = new Set<string>();
  const slice = new TimeSlice();
  for (const at of paths) {
    await slice.turn();
    if (await isIgnored(at)) ignored.add(at);
  }
  return ignored;
}

function isFolder(root: string, at: string): Promise<boolean> {
  return fs.lstat(path.join(root, at)).then(
    stat => stat.isDirectory(),
    () => false,
  );
}

/** A rule by which git ignores something. */
interface Rule {
  /** Its file, relative to the root of the repository. */
  readonly source: string;
  readonly line: number;
  readonly pattern: string;
  /** The lines that follow it, if its file is no longer there. */
  readonly following?: readonly string[];
}

/** The exceptions that follow a rule in its file. @returns `undefined` if that cannot be read */
async function exceptionsTo(
  { source, line, following }: Rule,
  folder: string,
): Promise<readonly string[] | undefined> {
  const root = await repositoryAbove(folder);
  if (root === undefined) return undefined;
  const file = path.resolve(root, source);
  const text = following ? '' : await fs.readFile(file, 'utf8').catch(() => undefined);
  const lines = following ?? text?.split('\n').slice(line);
  return lines?.map(each => each.trimEnd()).filter(each => each.startsWith('!'));
}

async function repositoryAbove(folder: string): Promise<string | undefined> {
  if (await succeeds(fs.lstat(path.join(folder, '.git')))) return folder;
  return path.dirname(folder) === folder ? undefined : repositoryAbove(path.dirname(folder));
}

/**
 * Finds the files that git would ignore by further rules. It reads them from a temporary file, so they are rewritten as those
 * of the root.
 */
async function ignoredByMore(
  folder: string,
  paths: readonly string[],
  more: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, Rule>> {
  const root = more.size > 0 ? await repositoryAbove(folder) : undefined;
  if (root === undefined) return new Map();
  const above = path.relative(root, folder).split(path.sep);
  const lines = [...more].flatMap(([at, text]) =>
    atRoot(
      text,
      [...above, ...at.split('/')].filter(part => part !== '' && part !== '.'),
    ),
  );
  const temporary = await fs.mkdtemp(path.join(tmpdir(), 'redline-rules-'));
  try {
    const file = path.join(temporary, 'rules');
    await fs.writeFile(file, lines.join('\n'));
    const settings = ['-c', `core.excludesFile=${file}`];
    const found = (await checkIgnore(folder, paths, { settings })) ?? [];
    return new Map(
      [...found].map(([at, rule]) => [
        at,
        rule.source === file ? { ...rule, following: lines.slice(rule.line) } : rule,
      ]),
    );
  } finally {
    await fs.rm(temporary, { recursive: true, force: true });
  }
}

/** Rewrites the rules of a folder as those of the root. */
function atRoot(text: string, folder: readonly string[]): readonly string[] {
  const above = folder.map(part => `/${part.replace(/[\\*?[]/g, '\\$&')}`).join('');
  return text
    .split(/\r?\n/)
    .filter(line => line.trim() !== '' && !line.startsWith('#'))
    .map(line => {
      const [sign, rule] = line.startsWith('!') ? ['!', line.slice(1)] : ['', line];
      const isBound = rule.trimEnd().slice(0, -1).includes('/');
      return `${sign}${above}/${isBound ? rule.replace(/^\//, '') : `**/${rule}`}`;
    });
}

/**
 * Finds the rule by which git ignores each ignored path. Git would compare each path with its whole index, so it is asked
 * separately for tracked files.
 * @param isByRules include paths that git tracks although a rule matches
 * @returns `undefined` if git does not answer
 */
async function checkIgnore(
  folder: string,
  paths: readonly string[],
  { settings = [], isByRules = false }: CheckOptions = {},
): Promise<ReadonlyMap<string, Rule> | undefined> {
  const git = new GitProgram(folder);
  const args = [...settings, 'check-ignore', '--no-index', '-v', '-z', '--stdin'];
  try {
    // Git would not take a colon at the beginning for a part of the name.
    const input = paths.map(at => `./${at}\0`).join('');
    const rules = rulesOf(await git.run(['--no-literal-pathspecs', ...args], { input }));
    if (isByRules || rules.size === 0) return rules;
    const isTracked = await trackedIn(git);
    return new Map([...rules].filter(([at]) => !isTracked(at.replace(/\/$/, ''))));
  } catch (error) {
    return isNothing(error) ? new Map() : undefined;
  }
}

/** Whether git tracks a path, something below it, or the submodule that it is in. */
async function trackedIn(git: GitProgram): Promise<(at: string) => boolean> {
  const [files, folders, slice] = [new Set<string>(), new Set<string>(), new TimeSlice()];
  for (const file of (await git.run(['ls-files', '-z'])).split('\0')) {
    await slice.turn();
    files.add(file);
    for (const above of foldersAbove(file)) {
      if (folders.has(above)) break;
      folders.add(above);
    }
  }
  return at => files.has(at) || folders.has(at) || foldersAbove(at).some(above => files.has(above));
}

interface CheckOptions {
  readonly settings?: readonly string[];
  readonly isByRules?: boolean;
}

/** Git exits with 1 if it found nothing. */
function isNothing(error: unknown): boolean {
  const cause = error instanceof ToolError ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && cause.code === 1;
}

/** Reads the output of `git check-ignore -v -z`, without the exceptions, which it also names. */
function rulesOf(output: string): ReadonlyMap<string, Rule> {
  const parts = output.split('\0');
  const rules = new Map<string, Rule>();
  for (let n = 0; n + 3 < parts.length; n += 4) {
    const [source = '', line, pattern = '', at = ''] = parts.slice(n, n + 4);
    if (!pattern.startsWith('!')) rules.set(at.slice('./'.length), { source, line: Number(line), pattern });
  }
  return rules;
}

/** The longest file of rules that is taken into account, in bytes. */
const MAX_RULES = 1024 ** 2;

export function textOfRules(bytes: Uint8Array | undefined): string {
  return bytes && bytes.length <= MAX_RULES ? Buffer.from(bytes).toString() : '';
}
