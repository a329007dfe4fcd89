import * as path from 'node:path';
import * as vscode from 'vscode';
import { detailOf, JournalError, StalePreviewError, ToolError } from '../../agent/base/errors.ts';
import type { Logger } from '../../agent/base/logger.ts';
import { holdBack } from '../../agent/elsewhere/holdBack.ts';
import type { ChangedPath, Snapshot } from '../../agent/elsewhere/snapshot.ts';
import { addsCarriageReturns, readUncommitted } from '../../agent/elsewhere/uncommitted.ts';
import type { Invoker } from '../../agent/preview/resolve/invoker.ts';
import { storageAdvice } from '../texts/errorSentence.ts';
import { oneLine, withoutIcons } from '../plainText.ts';
import { shortList } from '../texts/shortList.ts';
import { showInfo, showWarning } from '../toast.ts';
import type { GitRepository } from './gitApi.ts';
import { repositoryPlaces } from './places.ts';
import { reportLeftOut, reportTooMuch } from './report.ts';
import { chooseRepository } from './repositories.ts';
import type { ElsewhereOptions } from './reviewGathered.ts';
import { changedPaths, commitSnapshot, isUnknownPath } from './snapshots.ts';

export interface HoldBackOptions extends ElsewhereOptions {
  readonly invoker: Invoker;
  readonly logger: Logger;
}

/**
 * Gives files with uncommitted changes back what the last commit has, and keeps the changes in a preview.
 * @param args files or rows of Source Control; without one it asks which.
 * @returns the id of the preview.
 */
export async function holdBackFiles(
  options: HoldBackOptions,
  args: readonly unknown[],
): Promise<string | undefined> {
  const named = args.flat().flatMap(uriOf);
  const open = await chooseRepository(named[0]);
  if (!open) return undefined;
  const { repository } = open;
  const all = uncommittedPaths(repository);
  const changed = named.length > 0 ? ofFiles(repository, all, named) : await pick(all);
  if (!changed) return undefined;
  try {
    const read = await readUncommitted({
      changed,
      head: headOf(repository),
      workspace: options.workspace,
      places: repositoryPlaces(repository.rootUri.fsPath, options.workspace),
      ...gitFacts(repository),
      isUnsaved: at => options.workspace.unsaved().includes(at),
    });
    const stage = options.session.stageForUser.bind(options.session);
    const held = await holdBack(read.files, {
      ...options,
      stage,
      l10n: vscode.l10n,
    });
    if (held) {
      const leftOut = read.leftOut.filter(({ why }) => why !== 'mode');
      await unstage(repository, changed, new Set(leftOut.map(each => each.path)));
      await options.rebaser.refresh([held.held.id]);
      await options.opener.open(options.store.get(held.held.id) ?? held.held);
    } else if (read.leftOut.length === 0) {
      void showInfo(vscode.l10n.t('There are no uncommitted changes to hold back.'));
    }
    reportLeftOut(read.leftOut);
    return held?.held.id;
  } catch (error) {
    if (reportTooMuch(error)) return undefined;
    if (!(error instanceof ToolError)) throw error;
    options.logger.error(`Holding back failed: ${detailOf(error)}`);
    void showWarning(failureText(error));
    return undefined;
  }
}

/** The files are as they were, and both previews are withdrawn. */
function failureText(error: ToolError): string {
  if (error instanceof StalePreviewError)
    return vscode.l10n.t(
      'Nothing was held back: {0} changed in the meantime.',
      oneLine(shortList(error.paths, vscode.l10n.t('{0} and {1} more'))),
    );
  if (error instanceof JournalError) {
    const what = vscode.l10n.t('Nothing was held back, because Redline cannot save to its storage.');
    return `${what} ${storageAdvice(error.cause, vscode.l10n)}`;
  }
  return vscode.l10n.t('Nothing was held back, and the files are as they were: {0}', oneLine(error.message));
}

/** The file of a URI or of a row of Source Control. */
function uriOf(arg: unknown): readonly vscode.Uri[] {
  if (arg instanceof vscode.Uri) return [arg];
  const { resourceUri } = (arg ?? {}) as { readonly resourceUri?: unknown };
  return resourceUri instanceof vscode.Uri ? [resourceUri] : [];
}

function uncommittedPaths({ rootUri, state }: GitRepository): readonly ChangedPath[] {
  const { indexChanges, workingTreeChanges, untrackedChanges = [], mergeChanges } = state;
  const all = [...indexChanges, ...workingTreeChanges, ...untrackedChanges, ...mergeChanges];
  return changedPaths(rootUri.fsPath, all);
}

function ofFiles(
  { rootUri }: GitRepository,
  all: readonly ChangedPath[],
  files: readonly vscode.Uri[],
): readonly ChangedPath[] {
  const wanted = new Set(files.map(({ fsPath }) => relativeTo(rootUri.fsPath, fsPath)));
  return all.filter(({ path: at, from }) => wanted.has(at) || (from !== undefined && wanted.has(from)));
}

function relativeTo(root: string, file: string): string {
  return path.relative(root, file).replaceAll(path.sep, '/');
}

async function pick(all: readonly ChangedPath[]): Promise<readonly ChangedPath[] | undefined> {
  if (all.length === 0) {
    void showInfo(vscode.l10n.t('There are no uncommitted changes to hold back.'));
    return undefined;
  }
  const items = all.map(changed => ({
    label: withoutIcons(path.posix.basename(changed.path)),
    description: withoutIcons(changed.path.split('/').slice(0, -1).join('/')),
    changed,
  }));
  const picked = await vscode.window.showQuickPick(items, {
    canPickMany: true,
    matchOnDescription: true,
    title: vscode.l10n.t('Hold back uncommitted changes'),
    placeHolder: vscode.l10n.t('Goes back to the last commit; the changes wait in a preview'),
  });
  return picked && picked.length > 0 ? picked.map(({ changed }) => changed) : undefined;
}

/** The last commit; without one every file is new. */
function headOf(repository: GitRepository): Snapshot {
  const commit = repository.state.HEAD?.commit;
  if (commit !== undefined) return commitSnapshot(repository, commit);
  return { entry: () => Promise.resolve(null), read: () => Promise.reject(new Error('There is no commit.')) };
}

/** What only git knows about a file of the repository. */
function gitFacts(repository: GitRepository) {
  const { rootUri, state } = repository;
  const paths = (changes: readonly { readonly uri: vscode.Uri }[]): ReadonlySet<string> =>
    new Set(changes.map(({ uri }) => relativeTo(rootUri.fsPath, uri.fsPath)));
  const staged = new Set(changedPaths(rootUri.fsPath, state.indexChanges).map(({ path: at }) => at));
  const merging = paths(state.mergeChanges);
  return {
    isMerging: (at: string): boolean => merging.has(at),
    stagedObject: async (at: string): Promise<string | null | undefined> => {
      if (!staged.has(at)) return undefined;
      try {
        return (await repository.getObjectDetails('', at)).object;
      } catch (error) {
        if (isUnknownPath(error)) return null;
        throw error;
      }
    },
    convertsLineEndings: async (at: string): Promise<boolean> =>
      !addsCarriageReturns(await repository.diffWith('HEAD', at)),
  };
}

/** Else the next commit would have what was held back. The preview has the same content, so nothing is lost. */
async function unstage(
  repository: GitRepository,
  changed: readonly ChangedPath[],
  leftOut: ReadonlySet<string>,
): Promise<void> {
  const root = repository.rootUri.fsPath;
  const staged = new Set(changedPaths(root, repository.state.indexChanges).map(({ path: at }) => at));
  const held = changed.filter(({ path: at }) => staged.has(at) && !leftOut.has(at));
  const files = held.flatMap(({ path: at, from }) => [at, ...(from === undefined ? [] : [from])]);
  if (files.length === 0) return;
  try {
    await repository.revert(files.map(at => path.join(root, at)));
  } catch {
    void showWarning(
      vscode.l10n.t(
        'The changes are held back, but git still has them staged: unstage them in Source Control.',
      ),
    );
  }
}
