import { isAbortError, ToolError } from '../../base/errors.ts';
import type { Git } from '../git.ts';
import type { CommitPlan, PlannedPath } from './commitPlan.ts';
import { GitIndex, isSameEntry, type StoredEntry, type TemporaryIndex } from './gitIndex.ts';

/** A commit that was made. */
export interface MadeCommit {
  /** Its name. */
  readonly commit: string;
  /** Whether what is staged could not be brought up to date: then git shows something as staged that nobody has staged. */
  readonly isStagedStale: boolean;
}

/** The repository is no longer as it was when the commit was planned. Nothing was committed. */
export class MovedOnError extends ToolError {
  override readonly name = 'MovedOnError';

  constructor() {
    super('The repository has changed meanwhile.');
  }
}

/**
 * Commits what was planned. Git makes the commit, so that hooks, signatures and the configuration count, from an index of its own,
 * so that nothing else that is staged comes into it. The user's index gets the same first: wherever the process ends, what was
 * applied is in the file, and staged or committed. If git refuses, the index is as it was.
 * @param message is taken as it is.
 * @throws MovedOnError; ToolError with what git or a hook says; the abort error.
 */
export async function commitApplied(
  git: Git,
  plan: CommitPlan,
  message: string,
  signal?: AbortSignal,
): Promise<MadeCommit> {
  const index = new GitIndex(git.program);
  const own = await index.temporary();
  try {
    // Without a last commit the index may be missing, and what is in it does not count.
    await git.program.run(['read-tree', '--reset', plan.tree], { env: own.env });
    await index.update(new Map(plan.paths.map(({ path, entry }) => [path, entry])), own.env);
    const planned = await treeIn(git, own);
    const announced = await index.announced(
      plan.tree,
      plan.paths.map(({ path }) => path),
    );
    if ((await git.head()) !== plan.head) throw new MovedOnError();
    const toStage = plan.paths.filter(({ staged, stagedBefore }) => !isSameEntry(staged, stagedBefore));
    await index.update(new Map(toStage.map(({ path, staged }) => [path, staged])));
    try {
      await git.program.run(['commit', '-q', '--cleanup=whitespace', '-F', '-'], {
        ...{ input: message, env: own.env, asUser: true, signal },
      });
      await refuseOtherParent(git, plan);
    } catch (error) {
      if (!isAbortError(error) || !(await isMade(git, plan, own))) {
        // If that fails, what was applied is staged, and can be committed from there.
        await unstage(git, toStage, announced).catch(() => undefined);
        throw error;
      }
    }
    const commit = (await git.head()) ?? '';
    const isStagedStale = !(await followHooks(index, plan, planned, commit));
    return { commit, isStagedStale };
  } finally {
    await own.dispose();
  }
}

async function treeIn(git: Git, { env }: TemporaryIndex): Promise<string> {
  return (await git.program.run(['write-tree'], { env })).trim();
}

/** Gives the user's index back what it had, where it still has what was put there, and no commit has that now. */
async function unstage(git: Git, paths: readonly PlannedPath[], announced: readonly string[]): Promise<void> {
  const index = new GitIndex(git.program);
  const now = await index.staged(await index.treeOf(await git.head()));
  const ours = paths.filter(
    ({ path, staged }) => now.has(path) && isSameEntry(now.get(path) ?? null, staged),
  );
  await index.update(new Map(ours.map(({ path, stagedBefore }) => [path, stagedBefore])));
  const again = announced.filter(each => ours.some(({ path }) => path === each));
  if (again.length > 0) await git.program.run(['add', '--intent-to-add', '--', ...again]);
}

/** The last commit and its first parent. */
async function lastCommit(
  git: Git,
): Promise<readonly [commit: string | undefined, parent: string | undefined]> {
  if ((await git.head()) === undefined) return [undefined, undefined];
  const [commit, parent] = (await git.program.run(['rev-list', '--parents', '-n', '1', 'HEAD']))
    .trim()
    .split(' ');
  return [commit, parent];
}

/** Whether the commit is there although git was ended: a hook may have been running, after the commit. */
async function isMade(git: Git, { head, tree }: CommitPlan, own: TemporaryIndex): Promise<boolean> {
  const [commit, parent] = await lastCommit(git);
  if (commit === undefined || commit === head || parent !== head) return false;
  const made = await new GitIndex(git.program).treeOf(commit);
  return made !== tree && made === (await treeIn(git, own));
}

/**
 * Takes a commit back that stands on another one than it was planned on: its tree lacks what that one has. Git looks up the last
 * commit when it starts, and someone may have committed right before.
 */
async function refuseOtherParent(git: Git, { head }: CommitPlan): Promise<void> {
  const [commit, parent] = await lastCommit(git);
  if (parent === head) return;
  if (commit !== undefined && parent !== undefined)
    await git.program.run(['update-ref', 'HEAD', parent, commit]);
  throw new MovedOnError();
}

/**
 * Hooks may have changed what was committed, as formatters do. Where the user's index has what was planned, or what the commit
 * before had, it gets what the new one has.
 * @returns false if that failed.
 */
async function followHooks(
  index: GitIndex,
  { tree, paths }: CommitPlan,
  planned: string,
  commit: string,
): Promise<boolean> {
  try {
    const made = await index.treeOf(commit);
    if (made === planned) return true;
    const byHooks = await index.between(planned, made);
    const staged = await index.staged(made);
    const before = await index.inTree(tree, [...byHooks.keys()]);
    const plannedAt = new Map(paths.map(({ path, entry }) => [path, entry]));
    const update = new Map<string, StoredEntry | null>();
    for (const [path, entry] of byHooks) {
      const expected = plannedAt.has(path) ? (plannedAt.get(path) ?? null) : (before.get(path) ?? null);
      if (staged.has(path) && isSameEntry(staged.get(path) ?? null, expected)) update.set(path, entry);
    }
    await index.update(update);
    return true;
  } catch {
    return false;
  }
}
