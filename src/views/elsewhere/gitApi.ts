import * as vscode from 'vscode';

/** What Redline uses of the interface of VS Code's own git extension, version 1. Optional parts came after VS Code 1.104. */
export interface GitApi {
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
  /** Rejects with `gitErrorCode: 'UnknownPath'` if there is nothing. An empty `treeish` is the index. */
  getObjectDetails(treeish: string, path: string): Promise<{ mode: string; object: string; size: number }>;
  buffer(ref: string, path: string): Promise<Uint8Array>;
  getRefs(query: { readonly sort?: 'alphabetically' | 'committerdate' }): Promise<readonly GitRef[]>;
  getMergeBase(ref1: string, ref2: string): Promise<string | undefined>;
  /** From the merge base of both to the second. Files that became links or modules are missing. */
  diffBetween(ref1: string, ref2: string): Promise<readonly GitChange[]>;
  diffBetweenPatch?(ref1: string, ref2: string): Promise<string>;
  /** The files on disk compared with `ref`. */
  diffWith(ref: string, path: string): Promise<string>;
  /** Unstages files. Takes absolute paths. */
  revert(paths: string[]): Promise<void>;
  status(): Promise<void>;
}

export interface GitRepositoryState {
  readonly HEAD: { readonly name?: string; readonly commit?: string } | undefined;
  readonly worktrees?: readonly GitWorktree[];
  readonly mergeChanges: readonly GitChange[];
  readonly indexChanges: readonly GitChange[];
  readonly workingTreeChanges: readonly GitChange[];
  /** Only with the setting `git.untrackedChanges: separate`. */
  readonly untrackedChanges?: readonly GitChange[];
}

export interface GitChange {
  readonly uri: vscode.Uri;
  readonly originalUri: vscode.Uri;
  readonly renameUri: vscode.Uri | undefined;
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
