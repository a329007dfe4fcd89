import * as vscode from 'vscode';
import { detailOf, ToolError } from '../../agent/base/errors.ts';
import { countText } from '../../agent/base/localiser.ts';
import { commitApplied, MovedOnError } from '../../agent/elsewhere/applied/commitApplied.ts';
import {
  commitMessage,
  suggestedSubject,
  type CommittedPreview,
} from '../../agent/elsewhere/applied/commitMessage.ts';
import { isSamePlan, planCommit, type CommitPlan } from '../../agent/elsewhere/applied/commitPlan.ts';
import {
  appliedPreviews,
  readApplied,
  type Uncommittable,
  type UncommittableReason,
} from '../../agent/elsewhere/applied/readApplied.ts';
import type { Git } from '../../agent/elsewhere/git.ts';
import { standingApplies } from '../../agent/preview/ledger.ts';
import { titleOf, type Preview } from '../../agent/preview/preview.ts';
import { execute } from '../commandRegistry.ts';
import type { Ctx } from '../ctx.ts';
import { oneLine, withoutIcons } from '../plainText.ts';
import { confirm, showInfo, showWarning, withCancel } from '../toast.ts';
import { diskPathOf, locate } from '../workspace/workspacePaths.ts';
import { reportTooMuch } from './report.ts';
import { chooseRepository, gitOf, type OpenRepository } from './repositories.ts';

/** How many names and lines a notification or a dialog shows. */
const SHORT = 3;
const LONG = 12;

/**
 * Commits what previews have applied in a repository, and nothing else. The user chooses the previews and the subject, and confirms
 * the message and what is not in the commit.
 * @param arg the repository's row or title in Source Control; without one it is that of the active editor, or it asks.
 * @returns the name of the commit.
 */
export async function commitChanges(ctx: Ctx, arg: unknown): Promise<string | undefined> {
  const open = await chooseRepository(rootOf(arg));
  if (!open) return undefined;
  const git = gitOf(open);
  try {
    const operation = await git.operation();
    if (operation) {
      void showWarning(
        vscode.l10n.t(
          'Nothing was committed: git is in the middle of a {0}. Finish or abort it first.',
          operation,
        ),
      );
      return undefined;
    }
    return await commitIn(ctx, open, git);
  } catch (error) {
    if (reportTooMuch(error)) return undefined;
    if (!(error instanceof ToolError)) throw error;
    ctx.logger.error(`Committing failed: ${detailOf(error.cause ?? error)}`);
    void tellFailure(error);
    return undefined;
  }
}

async function commitIn(ctx: Ctx, open: OpenRepository, git: Git): Promise<string | undefined> {
  const all = await plan(ctx, git);
  if (all.paths.length === 0) return void tellNothing(all);
  const ids = await choosePreviews(committedIn(ctx, all));
  if (!ids) return undefined;
  const chosen = await plan(ctx, git, ids);
  if (chosen.paths.length === 0) return void tellNothing(chosen);
  const committed = committedIn(ctx, chosen);
  const subject = await askSubject(committed, chosen, open);
  if (subject === undefined) return undefined;
  const message = commitMessage(subject, committed, { trailers: ctx.settings.commitTrailers });
  if (!(await agreed(message, chosen))) return undefined;
  // What is committed is what was confirmed, whatever was typed, staged or committed meanwhile.
  const now = await plan(ctx, git, ids);
  if (!isSamePlan(now, chosen) || (await git.operation())) throw new MovedOnError();
  const { commit, isStagedStale } = await withCancel(vscode.l10n.t('Committing'), signal =>
    commitApplied(git, now, message, signal),
  );
  await open.repository.status();
  void showInfo(vscode.l10n.t('Committed {0}: {1}', commit.slice(0, 8), oneLine(subject)));
  if (isStagedStale)
    void showWarning(
      vscode.l10n.t(
        'A hook changed the commit, and what is staged could not follow: unstage it in Source Control.',
      ),
    );
  return commit;
}

async function plan(ctx: Ctx, git: Git, ids?: ReadonlySet<string>): Promise<CommitPlan> {
  const { store, workspace } = ctx;
  const previews = appliedPreviews(store);
  const fileOf = ({ roots }: Preview, at: string): string | undefined => {
    try {
      return diskPathOf(locate(at, roots ?? workspace.folderRoots()));
    } catch {
      return undefined; // for example, if no folder is open
    }
  };
  const unsaved = workspace.unsaved().map(at => workspace.uriOf(at).fsPath);
  const progress = {
    location: vscode.ProgressLocation.Window,
    title: vscode.l10n.t('Looking for what was applied'),
  };
  const applied = await vscode.window.withProgress(progress, () =>
    readApplied({ git, previews, fileOf, unsaved }),
  );
  return planCommit(applied, previews, ids);
}

function committedIn({ store }: Ctx, { previewIds }: CommitPlan): readonly CommittedPreview[] {
  const applied = new Map(standingApplies(store.ledger()).map(entry => [entry.previewId, entry]));
  return previewIds.flatMap(id => {
    const [preview, entry] = [store.get(id), applied.get(id)];
    return preview && entry ? [{ preview, entry }] : [];
  });
}

/** The repository of a row or title of Source Control, or of a file. */
function rootOf(arg: unknown): vscode.Uri | undefined {
  if (arg instanceof vscode.Uri) return arg;
  const { rootUri } = (arg ?? {}) as { readonly rootUri?: unknown };
  return rootUri instanceof vscode.Uri ? rootUri : undefined;
}

/** The previews to commit, all of them unless the user leaves some out. It asks only if there are several. */
async function choosePreviews(
  committed: readonly CommittedPreview[],
): Promise<ReadonlySet<string> | undefined> {
  if (committed.length === 1) return new Set(committed.map(({ preview }) => preview.id));
  const items = committed.toReversed().map(({ preview }) => ({
    label: withoutIcons(titleOf(preview)),
    description: preview.id,
    detail: withoutIcons(preview.changes?.map(({ path }) => path).join(', ') ?? ''),
    picked: true,
    id: preview.id,
  }));
  const picked = await vscode.window.showQuickPick(items, {
    canPickMany: true,
    matchOnDescription: true,
    matchOnDetail: true,
    title: vscode.l10n.t('Commit applied changes'),
    placeHolder: vscode.l10n.t('Which previews?'),
  });
  return picked && picked.length > 0 ? new Set(picked.map(({ id }) => id)) : undefined;
}

function askSubject(
  committed: readonly CommittedPreview[],
  { paths }: CommitPlan,
  { repository }: OpenRepository,
): Thenable<string | undefined> {
  const { name, commit } = repository.state.HEAD ?? {};
  const branch = oneLine(name ?? commit?.slice(0, 8) ?? '');
  return vscode.window.showInputBox({
    title: vscode.l10n.t('Commit applied changes'),
    value: suggestedSubject(committed, vscode.l10n),
    prompt: countText(
      vscode.l10n.t('The subject of the commit: 1 file on {1}|The subject of the commit: {0} files on {1}'),
      vscode.l10n,
    )(paths.length, branch),
    validateInput: value => (value.trim() === '' ? vscode.l10n.t('Enter a subject.') : null),
    ignoreFocusOut: true,
  });
}

/** Shows what is committed, with which message, and what is not. */
function agreed(message: string, { paths, uncommittable }: CommitPlan): Promise<boolean> {
  const files = paths.map(({ path, entry, isPart }) => {
    if (!entry) return vscode.l10n.t('{0}: deleted', oneLine(path));
    return isPart ? vscode.l10n.t('{0}: only what was applied', oneLine(path)) : oneLine(path);
  });
  const left = uncommittable.map(reasonLine);
  const parts = [
    firstOf(message.trimEnd().split('\n'), LONG).join('\n'),
    [vscode.l10n.t('In the commit:'), ...firstOf(files, LONG)].join('\n'),
    ...(left.length > 0 ? [[vscode.l10n.t('Not in the commit:'), ...firstOf(left, LONG)].join('\n')] : []),
  ];
  const question = countText(vscode.l10n.t('Commit 1 file?|Commit {0} files?'), vscode.l10n)(paths.length);
  return confirm(question, parts.join('\n\n'), vscode.l10n.t('Commit'));
}

function tellNothing({ uncommittable }: CommitPlan): void {
  if (uncommittable.length === 0) {
    void showInfo(
      vscode.l10n.t(
        'Everything that was applied in this repository is committed, or no longer in the files.',
      ),
    );
    return;
  }
  const left = firstOf(uncommittable.map(reasonLine), SHORT).join(' ');
  void showWarning(`${vscode.l10n.t('There is nothing to commit.')} ${left}`);
}

async function tellFailure(error: ToolError): Promise<void> {
  if (error instanceof MovedOnError) {
    const text = vscode.l10n.t(
      'Nothing was committed: the repository or a file changed meanwhile. Try again.',
    );
    return void (await showWarning(text));
  }
  const showLog = vscode.l10n.t('Show Log');
  const text = vscode.l10n.t('Nothing was committed: {0}', oneLine(error.message));
  if ((await showWarning(text, showLog)) === showLog) await execute('redline.showLog');
}

/** The first of them, and how many more there are. */
function firstOf(lines: readonly string[], count: number): readonly string[] {
  const more = lines.length - count;
  return more > 0 ? [...lines.slice(0, count), vscode.l10n.t('And {0} more.', more)] : lines;
}

function reasonLine({ path, why }: Uncommittable): string {
  return `${oneLine(path)}: ${reasonText(why)}`;
}

/** Why a file is not in a commit, for the user. */
function reasonText(why: UncommittableReason): string {
  switch (why) {
    case 'changed':
      return vscode.l10n.t('what was applied was changed since, or lines beside it.');
    case 'overlaps':
      return vscode.l10n.t('it touches changes that are not committed.');
    case 'staged':
      return vscode.l10n.t('it does not go with what is staged: commit or unstage that first.');
    case 'unsaved':
      return vscode.l10n.t('it has unsaved changes: save it first.');
    case 'ignored':
      return vscode.l10n.t('git ignores it.');
    case 'merging':
      return vscode.l10n.t('a merge is under way: resolve its conflicts first.');
    case 'notAFile':
      return vscode.l10n.t('a symbolic link or a submodule.');
    case 'converted':
      return vscode.l10n.t('git cannot store it: a filter fails, say.');
  }
}
