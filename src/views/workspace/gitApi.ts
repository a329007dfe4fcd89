import * as vscode from 'vscode';

/** The part of the API of VS Code's own git extension that Redline uses, version 1. Optional parts came after VS Code 1.104. */
export interface GitApi {
  /** The git that the user has configured. */
  readonly git: { readonly path: string };
  readonly state: 'uninitialized' | 'initialized';
  readonly onDidChangeState: vscode.Event<unknown>;
  readonly repositories: readonly GitRepository[];
  getRepository(uri: vscode.Uri): GitRepository | null;
  getRepositoryRoot?(uri: vscode.Uri): Promise<vscode.Uri | null>;
  openRepository?(root: vscode.Uri): Promise<GitRepository | null>;
}

export interface GitRepository {
  readonly rootUri: vscode.Uri;
  readonly state: GitRepositoryState;
  readonly inputBox: { value: string };
  getRefs(query: { readonly sort?: 'alphabetically' | 'committerdate' }): Promise<readonly GitRef[]>;
  status(): Promise<void>;
}

export interface GitRepositoryState {
  readonly HEAD: { readonly name?: string; readonly commit?: string } | undefined;
  readonly worktrees?: readonly GitWorktree[];
}

export interface GitRef {
  /** 0: a branch, 1: a branch of a remote, 2: a tag. */
  readonly type: number;
  readonly name?: string;
  readonly commit?: string;
}

export interface GitWorktree {
  readonly path: string;
  /** `refs/heads/…`, or a commit. */
  readonly ref: string;
}

interface GitExtension {
  getAPI(version: 1): GitApi;
}

/** How long the git extension may take to find repositories, in milliseconds. */
const PATIENCE = 15_000;

/** The interface of the git extension if it is running by now; it is not started for this. */
export function activeGit(): GitApi | undefined {
  const extension = vscode.extensions.getExtension<GitExtension>('vscode.git');
  if (!extension?.isActive) return undefined;
  try {
    return extension.exports.getAPI(1);
  } catch {
    return undefined; // `git.enabled` is off
  }
}

/** The interface of the git extension once it knows the repositories; `undefined` if it is missing or disabled. */
export async function openGit(): Promise<GitApi | undefined> {
  const extension = vscode.extensions.getExtension<GitExtension>('vscode.git');
  if (!extension) return undefined;
  let api: GitApi;
  try {
    api = (await extension.activate()).getAPI(1);
  } catch {
    return undefined; // `git.enabled` is off, or git is not installed
  }
  if (api.state === 'initialized') return api;
  await new Promise<void>(resolve => {
    const end = (): void => {
      clearTimeout(timer);
      listening.dispose();
      resolve();
    };
    const timer = setTimeout(end, PATIENCE);
    const listening = api.onDidChangeState(() => api.state === 'initialized' && end());
  });
  return api;
}
