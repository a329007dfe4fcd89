import * as path from 'node:path';
import * as vscode from 'vscode';
import type { Sentence } from '../../agent/base/localiser.ts';
import { placeForeign } from '../../agent/elsewhere/foreignChange.ts';
import type { LeftOut } from '../../agent/elsewhere/gathered.ts';
import { readForeign, type ChangedPath, type Snapshot } from '../../agent/elsewhere/snapshot.ts';
import { oneLine, withoutIcons } from '../plainText.ts';
import { showInfo } from '../toast.ts';
import type { GitApi, GitRepository } from './gitApi.ts';
import { repositoryPlaces } from './places.ts';
import { reportTooMuch } from './report.ts';
import { chooseRepository, type OpenRepository } from './repositories.ts';
import { reviewGathered, withCancel, type ElsewhereOptions } from './reviewGathered.ts';
import { changedPaths, changedTypes, commitSnapshot, diskSnapshot, withUncommitted } from './snapshots.ts';

/** A branch or a worktree that can be reviewed. */
type Source =
  | { readonly kind: 'branch'; readonly name: string; readonly commit: string }
  /** `name`: the path relative to the repository here. */
  | { readonly kind: 'worktree'; readonly name: string; readonly path: string; readonly ref: string };

/** What differs between where a source began and how it is now. */
interface Difference {
  readonly base: Snapshot;
  readonly theirs: Snapshot;
  readonly changed: readonly ChangedPath[];
  readonly leftOut: readonly LeftOut[];
}

/**
 * Brings what a branch or another worktree has into previews of the files here. A worktree is taken as it is on disk.
 * @param given the name of a branch or the path of a worktree; without one it asks which.
 * @returns the ids of the previews.
 */
export async function reviewBranch(
  options: ElsewhereOptions,
  given: unknown,
): Promise<readonly string[] | undefined> {
  const open = await chooseRepository();
  if (!open) return undefined;
  const sources = await sourcesOf(open.repository);
  const source =
    typeof given === 'string'
      ? sources.find(each => each.name === given || (each.kind === 'worktree' && each.path === given))
      : await pick(sources);
  if (!source) {
    if (typeof given === 'string')
      void showInfo(vscode.l10n.t('There is no branch and no worktree {0}.', oneLine(given)));
    return undefined;
  }
  const name: Sentence = l10n =>
    source.kind === 'branch' ? l10n.t('branch {0}', source.name) : l10n.t('worktree {0}', source.name);
  const elsewhere = { name, l10n: vscode.l10n, command: 'review_branch' } as const;
  try {
    return await withCancel(vscode.l10n.t('Reading {0}', name(vscode.l10n)), async (signal, report) => {
      const difference = await differenceOf(open, source);
      if (!difference) return undefined;
      const places = repositoryPlaces(open.repository.rootUri.fsPath, options.workspace);
      const read = await readForeign({ ...difference, places, signal, onProgress: report });
      const placed = await placeForeign(read.files, options.workspace);
      signal.throwIfAborted();
      const leftOut = [...difference.leftOut, ...read.leftOut, ...placed.leftOut];
      return reviewGathered(options, elsewhere, { ...placed, leftOut });
    });
  } catch (error) {
    if (reportTooMuch(error)) return undefined;
    throw error;
  }
}

/** Everything but what is checked out here: worktrees first, which tell more than their branches, then the newest branches. */
async function sourcesOf(repository: GitRepository): Promise<readonly Source[]> {
  const { rootUri, state } = repository;
  const root = rootUri.fsPath;
  const worktrees = (state.worktrees ?? [])
    .filter(each => path.relative(each.path, root) !== '')
    .map(each => ({
      kind: 'worktree' as const,
      name: path.relative(root, each.path).replaceAll(path.sep, '/'),
      path: each.path,
      ref: each.ref.replace(/^refs\/heads\//, ''),
    }));
  const refs = await repository.getRefs({ sort: 'committerdate' });
  const branches = refs.flatMap(({ type, name, commit }): Source[] => {
    const isOther = type < 2 && name !== state.HEAD?.name && !name?.endsWith('/HEAD');
    return isOther && name !== undefined && commit !== undefined ? [{ kind: 'branch', name, commit }] : [];
  });
  return [...worktrees, ...branches];
}

async function pick(sources: readonly Source[]): Promise<Source | undefined> {
  if (sources.length === 0) {
    void showInfo(vscode.l10n.t('There is no other branch and no other worktree.'));
    return undefined;
  }
  const items = sources.map(source => ({
    label: `$(${source.kind === 'branch' ? 'git-branch' : 'folder'}) ${withoutIcons(source.name)}`,
    description:
      source.kind === 'branch'
        ? source.commit.slice(0, 8)
        : vscode.l10n.t('{0}, with its uncommitted changes', withoutIcons(source.ref.slice(0, 40))),
    source,
  }));
  const picked = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t('Review a branch or a worktree'),
    placeHolder: vscode.l10n.t('Its changes become previews. No file is changed until you apply them.'),
    matchOnDescription: true,
  });
  return picked?.source;
}

async function differenceOf(open: OpenRepository, source: Source): Promise<Difference | undefined> {
  const { git, repository } = open;
  const head = repository.state.HEAD?.commit;
  const worktree = source.kind === 'worktree' ? await openWorktree(git, source.path) : undefined;
  if (source.kind === 'worktree' && !worktree) {
    void showInfo(vscode.l10n.t('The worktree {0} cannot be opened.', oneLine(source.name)));
    return undefined;
  }
  const theirs = source.kind === 'branch' ? source.commit : worktree?.state.HEAD?.commit;
  const merge = head !== undefined && theirs !== undefined && (await repository.getMergeBase(head, theirs));
  if (!merge || theirs === undefined) {
    void showInfo(
      vscode.l10n.t('{0} has no commit in common with what is checked out here.', oneLine(source.name)),
    );
    return undefined;
  }
  const root = repository.rootUri.fsPath;
  const committed = changedPaths(root, await repository.diffBetween(merge, theirs));
  const base = commitSnapshot(repository, merge);
  if (!worktree)
    return {
      ...{ base, theirs: commitSnapshot(repository, theirs), changed: committed },
      leftOut: await typesOf(repository, merge, theirs),
    };
  const there = worktree.rootUri.fsPath;
  const { indexChanges, workingTreeChanges, untrackedChanges = [], mergeChanges } = worktree.state;
  const uncommitted = changedPaths(there, [
    ...indexChanges,
    ...workingTreeChanges,
    ...untrackedChanges,
    ...mergeChanges,
  ]);
  const changed = withUncommitted(committed, uncommitted);
  return { base, theirs: diskSnapshot(there), changed, leftOut: [] };
}

/** Paths whose type changed, which git's list of changes leaves out. */
async function typesOf(repository: GitRepository, base: string, commit: string): Promise<readonly LeftOut[]> {
  const patch = (await repository.diffBetweenPatch?.(base, commit)) ?? '';
  return changedTypes(patch).map(name => ({ path: name, why: 'type' }));
}

/** The repository of a worktree with its changes as they are now. Source Control shows it from then on. */
async function openWorktree(git: GitApi, folder: string): Promise<GitRepository | undefined> {
  const uri = vscode.Uri.file(folder);
  const isOwn = (each: GitRepository | null | undefined): each is GitRepository =>
    each !== null && each !== undefined && path.relative(each.rootUri.fsPath, folder) === '';
  const known = git.getRepository(uri);
  const repository = isOwn(known) ? known : await git.openRepository?.(uri);
  if (!isOwn(repository)) return undefined;
  await repository.status();
  return repository;
}
