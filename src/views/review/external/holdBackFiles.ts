import * as path from 'node:path';
import * as vscode from 'vscode';
import { detailOf, ToolError } from '../../../agent/base/errors.ts';
import { JournalError, StalePreviewError } from '../../../agent/hold/preview/errors.ts';
import { shownName } from '../../../agent/hold/external/fileNames.ts';
import type { Git, UncommittedPath } from '../../../agent/hold/external/git.ts';
import { stagedEntries, unstage, type StagedEntry } from '../../../agent/hold/external/applied/gitIndex.ts';
import { holdBack } from '../../../agent/hold/external/holdBack.ts';
import { meantBy, readUncommitted } from '../../../agent/hold/external/readUncommitted.ts';
import { storageAdvice } from '../../texts/errorSentence.ts';
import { oneLine, shortList, withoutIcons } from '../../plainText.ts';
import { showInfo, showWarning } from '../../toast.ts';
import { repositoryPlaces } from './places.ts';
import { reportLeftOut, reportTooMuch } from './report.ts';
import { chooseRepository, gitOf } from './repositories.ts';
import type { Ctx } from '../../ctx.ts';

/**
 * Resets files with uncommitted changes to the last commit, and keeps the changes in a preview.
 * @param args files or rows of Source Control; without one it asks which.
 * @returns the id of the preview.
 */
export async function holdBackFiles(ctx: Ctx, args: readonly unknown[]): Promise<string | undefined> {
  const named = args.flat().flatMap(uriOf);
  const open = await chooseRepository(named[0]);
  if (!open) return undefined;
  const git = gitOf(open);
  try {
    const wanted = named.length > 0 ? pathsOf(git.root, named) : await pick(await git.uncommitted());
    if (!wanted) return undefined;
    // Use the current state, after all typing, staging and commits since the choice.
    const index = await stagedEntries(git.program);
    const { meant: changed, unclear } = meantBy(wanted, await git.uncommitted());
    const operation = await git.operation();
    if (operation) {
      // The commit that ends the operation would lack the other side's changes.
      void showWarning(
        vscode.l10n.t(
          'Nothing was held back: git is in the middle of a {0}. Finish or abort it first.',
          operation,
        ),
      );
      return undefined;
    }
    const places = repositoryPlaces(git.root, ctx.workspace);
    const { files, leftOut: unread } = await readUncommitted(git, changed, ctx.workspace, places);
    const allLeftOut = [...unclear, ...unread];
    const stage = ctx.session.stageForUser.bind(ctx.session);
    const held = await holdBack(files, {
      ...ctx,
      stage,
      l10n: vscode.l10n,
    });
    if (held) {
      const leftOut = allLeftOut.filter(({ why }) => why !== 'mode');
      await unstageHeld(git, changed, new Set(leftOut.map(each => each.path)), index);
      await open.repository.status();
      await ctx.rebaser.refresh([held.held.id]);
      await ctx.opener.open(ctx.store.get(held.held.id) ?? held.held);
    } else if (allLeftOut.length === 0) {
      void showInfo(vscode.l10n.t('There are no uncommitted changes to hold back.'));
    }
    reportLeftOut(allLeftOut);
    return held?.held.id;
  } catch (error) {
    if (reportTooMuch(error)) return undefined;
    if (!(error instanceof ToolError)) throw error;
    ctx.logger.error(`Holding back failed: ${detailOf(error)}`);
    void showWarning(failureText(error));
    return undefined;
  }
}

/** The files are as they were, and both previews are withdrawn. */
function failureText(error: ToolError): string {
  if (error instanceof StalePreviewError)
    return vscode.l10n.t(
      'Nothing was held back: {0} changed in the meantime.',
      oneLine(shortList(error.paths)),
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

/** The paths of files in the repository. */
function pathsOf(root: string, files: readonly vscode.Uri[]): ReadonlySet<string> {
  return new Set(files.map(({ fsPath }) => path.relative(root, fsPath).replaceAll(path.sep, '/')));
}

async function pick(all: readonly UncommittedPath[]): Promise<ReadonlySet<string> | undefined> {
  if (all.length === 0) {
    void showInfo(vscode.l10n.t('There are no uncommitted changes to hold back.'));
    return undefined;
  }
  const items = all.map(changed => ({
    label: withoutIcons(shownName(path.posix.basename(changed.path))),
    description: withoutIcons(shownName(changed.path.split('/').slice(0, -1).join('/'))),
    changed,
  }));
  const picked = await vscode.window.showQuickPick(items, {
    canPickMany: true,
    matchOnDescription: true,
    title: vscode.l10n.t('Hold back uncommitted changes'),
    placeHolder: vscode.l10n.t('Resets the files to the last commit; their changes wait in a preview'),
  });
  if (!picked || picked.length === 0) return undefined;
  return new Set(picked.flatMap(({ changed: { path: at, from = at } }) => [at, from]));
}

/** Otherwise the next commit would contain the held-back changes. The preview has the same content, so nothing is lost. */
async function unstageHeld(
  git: Git,
  changed: readonly UncommittedPath[],
  leftOut: ReadonlySet<string>,
  index: ReadonlyMap<string, StagedEntry>,
): Promise<void> {
  const held = changed.filter(({ path: at, isStaged }) => isStaged && !leftOut.has(at));
  const files = new Set(held.flatMap(({ path: at, from = at }) => [at, from]));
  const left = await unstage(git.program, files, index).catch(() => [...files]);
  if (left.length === 0) return;
  void showWarning(
    vscode.l10n.t(
      'The changes are held back, but git still has them staged: unstage them in Source Control.',
    ),
  );
}
