import * as path from 'node:path';
import * as vscode from 'vscode';
import { beginningOf } from '../../../agent/base/cutText.ts';
import type { Sentence } from '../../../agent/base/localiser.ts';
import { placeForeign } from '../../../agent/hold/external/foreignChange.ts';
import { Git } from '../../../agent/hold/external/git.ts';
import { readForeign, type Difference } from '../../../agent/hold/external/readForeign.ts';
import { oneLine, withoutIcons } from '../../plainText.ts';
import { showInfo, withCancel } from '../../toast.ts';
import type { GitRepository } from '../../workspace/gitApi.ts';
import { repositoryPlaces } from './places.ts';
import { reportTooMuch } from './report.ts';
import { chooseRepository, gitOf, type OpenRepository } from './repositories.ts';
import type { Ctx } from '../../ctx.ts';
import { reviewGathered } from './reviewGathered.ts';

/** A branch or a worktree that can be reviewed. */
type Source =
  | { readonly kind: 'branch'; readonly name: string; readonly commit: string }
  /** `name`: the path relative to the repository here. */
  | { readonly kind: 'worktree'; readonly name: string; readonly path: string; readonly ref: string };

/**
 * Brings the changes of a branch or another worktree into previews of the files here. A worktree is taken as it is on disk.
 * @param given the name of a branch or the path of a worktree; without one it asks which.
 * @returns the ids of the previews.
 */
export async function reviewBranch(ctx: Ctx, given: unknown): Promise<readonly string[] | undefined> {
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
      const places = repositoryPlaces(open.repository.rootUri.fsPath, ctx.workspace);
      const read = await readForeign({ ...difference, places, signal, onProgress: report });
      const placed = await placeForeign(read.files, { workspace: ctx.workspace, blobs: ctx.store.blobs });
      signal.throwIfAborted();
      const leftOut = [...read.leftOut, ...placed.leftOut];
      return reviewGathered(ctx, elsewhere, { ...placed, leftOut });
    });
  } catch (error) {
    if (reportTooMuch(error)) return undefined;
    throw error;
  }
}

/**
 * All branches and worktrees except the one checked out here: worktrees first, which include uncommitted changes, then the newest
 * branches.
 */
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
        : vscode.l10n.t('{0}, with its uncommitted changes', withoutIcons(beginningOf(source.ref, 40))),
    source,
  }));
  const picked = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t('Review a branch or a worktree'),
    placeHolder: vscode.l10n.t('Its changes become previews. No file is changed until you apply them.'),
    matchOnDescription: true,
  });
  return picked?.source;
}

/** Changes of a source since its merge base with this branch; `undefined` if there is none, which the user is told. */
async function differenceOf(open: OpenRepository, source: Source): Promise<Difference | undefined> {
  const git = gitOf(open);
  const worktree = source.kind === 'worktree' ? new Git(source.path, open.git.git.path) : undefined;
  const head = await git.head();
  const theirs = source.kind === 'branch' ? source.commit : await worktree?.head();
  const base = head !== undefined && theirs !== undefined && (await git.mergeBase(head, theirs));
  if (!base || theirs === undefined) {
    void showInfo(
      vscode.l10n.t('{0} has no commit in common with what is checked out here.', oneLine(source.name)),
    );
    return undefined;
  }
  return { git, base, theirs: worktree ? { worktree } : { commit: theirs } };
}
