import * as path from 'node:path';
import * as vscode from 'vscode';
import { realPath, isInside } from '../../../agent/base/system/realPath.ts';
import { Git } from '../../../agent/hold/external/git.ts';
import { withoutIcons } from '../../plainText.ts';
import { showInfo } from '../../toast.ts';
import { openGit, type GitApi, type GitRepository } from '../../workspace/gitApi.ts';

/** A repository that concerns the workspace. */
export interface OpenRepository {
  readonly git: GitApi;
  readonly repository: GitRepository;
}

/**
 * The repository of the workspace; if there are several, that of `near`, else the one that the user picks. Informs the user if
 * there is no git or no repository.
 * @param near a file in it, such as the active editor's.
 */
export async function chooseRepository(near?: vscode.Uri): Promise<OpenRepository | undefined> {
  const git = await openGit();
  if (!git) {
    void showInfo(
      vscode.l10n.t(
        "Redline reads branches and uncommitted changes through VS Code's own Git extension, which is missing or disabled.",
      ),
    );
    return undefined;
  }
  const repositories = await repositoriesOf(git);
  if (repositories.length === 0) {
    void showInfo(vscode.l10n.t('No open folder is in a Git repository.'));
    return undefined;
  }
  const [only, ...others] = repositories;
  const active = near ?? vscode.window.activeTextEditor?.document.uri;
  const own = active?.scheme === 'file' ? git.getRepository(active)?.rootUri.toString() : undefined;
  const repository =
    repositories.find(each => each.rootUri.toString() === own) ??
    (others.length === 0 ? only : await pick(repositories));
  if (!repository) return undefined;
  // A repository that was just opened does not know its branches and worktrees yet.
  await repository.status();
  return { git, repository };
}

/** The repository, with git called directly. */
export function gitOf({ git, repository }: OpenRepository): Git {
  return new Git(repository.rootUri.fsPath, git.git.path);
}

/**
 * The roots of the repositories of the workspace, without asking or telling the user anything: first those of `near` and of the
 * active editor's file; none if there is no git.
 */
export async function repositoryRoots(near?: vscode.Uri): Promise<readonly string[]> {
  const git = await openGit();
  const repositories = git ? await repositoriesOf(git) : [];
  const roots = [near, vscode.window.activeTextEditor?.document.uri].flatMap(uri =>
    uri?.scheme === 'file' ? (git?.getRepository(uri)?.rootUri.toString() ?? []) : [],
  );
  const own = roots.flatMap(root => repositories.find(({ rootUri }) => rootUri.toString() === root) ?? []);
  return [...new Set([...own, ...repositories].map(({ rootUri }) => rootUri.fsPath))];
}

/** Repositories that contain a workspace folder, or are inside one. One around a folder may have to be opened first. */
async function repositoriesOf(git: GitApi): Promise<readonly GitRepository[]> {
  const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
  const real = await Promise.all(folders.map(({ uri }) => realPath(uri.fsPath).catch(() => uri.fsPath)));
  const paths = [...folders.map(({ uri }) => uri.fsPath), ...real];
  const concerns = ({ rootUri }: GitRepository): boolean =>
    paths.some(folder => isInside(rootUri.fsPath, folder) || isInside(folder, rootUri.fsPath));
  const found = git.repositories.filter(concerns);
  if (found.length > 0) return found;
  const opened: GitRepository[] = [];
  for (const { uri } of folders) {
    const root = await git.getRepositoryRoot?.(uri);
    const repository = root && (await git.openRepository?.(root));
    if (repository) opened.push(repository);
  }
  return opened;
}

async function pick(repositories: readonly GitRepository[]): Promise<GitRepository | undefined> {
  const items = repositories.map(repository => ({
    label: withoutIcons(path.basename(repository.rootUri.fsPath)),
    description: withoutIcons(repository.rootUri.fsPath),
    repository,
  }));
  const picked = await vscode.window.showQuickPick(items, { title: vscode.l10n.t('Which repository?') });
  return picked?.repository;
}
