import * as vscode from 'vscode';
import { escapeLine } from '../../../agent/base/foreignText.ts';
import { ToolError } from '../../../agent/base/errors.ts';
import { bisect } from '../../../agent/sandbox/checks/bisect.ts';
import {
  isGreen,
  type CheckResult,
  type ChecksReport,
  type NotRunReason,
} from '../../../agent/sandbox/checks/check.ts';
import type { Checks } from '../../../agent/sandbox/checks/checks.ts';
import { suggestChecks, type SuggestedCheck } from '../../../agent/sandbox/checks/suggestChecks.ts';
import { titleOf, type Preview } from '../../../agent/hold/preview/preview.ts';
import { execute } from '../../commandRegistry.ts';
import type { Ctx } from '../../ctx.ts';
import { oneLine } from '../../plainText.ts';
import { targetsOf } from '../commands/previewTargets.ts';
import { checksText } from '../../texts/checkWords.ts';
import { confirm, showInfo, showWarning, withCancel } from '../../toast.ts';

/**
 * Runs the checks on the named preview (an id or a row) and those that it builds on; if none is named, on all pending ones of the
 * open conversation.
 */
export async function runChecks(ctx: Ctx, args: readonly unknown[]): Promise<void> {
  const chosen = await chosenPreviews(ctx, args);
  if (!chosen) return;
  const { checks, previews } = chosen;
  const report = await withProgress(checks, vscode.l10n.t('Running checks'), signal =>
    checks.run(previews, 'human', { signal }),
  );
  await tell(checks, previews, report);
}

/**
 * The previews that checks run on; `undefined` if there are none, or the user does not approve a check that the workspace brings.
 */
export async function chosenPreviews(
  ctx: Ctx,
  args: readonly unknown[],
): Promise<{ readonly checks: Checks; readonly previews: readonly Preview[] } | undefined> {
  if (!ctx.checks.hasChecks) return void (await addCheck(ctx));
  if (!(await approveBrought(ctx))) return undefined;
  const checks = await ctx.checks.load();
  const [target] = args.length > 0 ? targetsOf(args) : [];
  const preview = target && ctx.store.get(target.id);
  const previews =
    preview?.kind === 'files' && preview.state.kind === 'pending'
      ? checks.withBase(preview)
      : checks.checkable(await chosenConversation(ctx));
  return { checks, previews };
}

/** The open conversation or, if nothing in it is pending, that of the first preview. */
async function chosenConversation({ store, session, checks }: Ctx): Promise<string | undefined> {
  const { id } = session;
  if ((await checks.load()).checkable(id).length > 0) return id;
  const first = store
    .list('oldestFirst')
    .find(({ kind, state }) => kind === 'files' && state.kind === 'pending');
  return first ? first.origin?.sessionId : id;
}

/** See {@link checksText}. */
export function resultsText(results: readonly CheckResult[]): string {
  return checksText(
    results.map(result => ({
      ...result,
      state: result.outcome,
      isCurrent: result.saw !== undefined,
      problems: result.problems.length,
      isFlaky: false,
    })),
    oneLine,
  );
}

export async function tell(
  checks: Checks,
  previews: readonly Preview[],
  report: ChecksReport,
): Promise<void> {
  const { l10n } = vscode;
  const { results, notRun } = report;
  const text = resultsText(results);
  const reasons = [...new Set(notRun.map(({ why }) => why))].filter(why => why !== 'notConcerned');
  const said = [text, ...reasons.map(why => notRunSentence(why))].filter(part => part !== '').join(' ');
  const failed = results.find(result => !isGreen(result));
  if (!failed) return void showInfo(said === '' ? l10n.t('No check concerns these files.') : said);
  const output = l10n.t('Show Output');
  const find = l10n.t('Find the Preview That Breaks It');
  const isOpen = failed.outcome === 'failed' && previews.length > 1;
  const picked = await showWarning(said, output, ...(isOpen ? [find] : []));
  if (picked === output) await execute('redline.checks.showOutput', failed.id);
  if (picked === find) await execute('redline.checks.findBreaking', failed.id);
}

function notRunSentence(why: NotRunReason): string {
  const { l10n } = vscode;
  switch (why) {
    case 'untrusted':
      return l10n.t('No check runs in a workspace that is not trusted.');
    case 'notApproved':
      return l10n.t('A check that the workspace brings has not been approved.');
    case 'noSandbox':
      return l10n.t('There is no sandbox here, so no check can run on what is pending.');
    case 'notIsolated':
      return l10n.t('The sandbox here is not isolated: start the checks with Run Checks.');
    case 'notConcerned':
      return l10n.t('No check concerns these files.');
  }
}

/**
 * Asks the user, in one dialog, to approve the unapproved checks that the workspace's settings bring. @returns false if the user
 * cancelled.
 */
async function approveBrought({ checks }: Ctx): Promise<boolean> {
  const { l10n } = vscode;
  const waiting = checks.settings.list.filter(({ isApproved }) => !isApproved);
  if (waiting.length === 0) return true;
  if (!vscode.workspace.isTrusted) return true;
  const texts = waiting.map(
    ({ name, command, cwd, report }) =>
      `${oneLine(name)}: ${escapeLine(command)}${[cwd, report].map(at => (at === undefined ? '' : ` (${escapeLine(at)})`)).join('')}`,
  );
  const { broughtShell } = checks.settings;
  if (broughtShell !== '') texts.push(l10n.t('Shell settings from the workspace: {0}', broughtShell));
  const isApproved = await confirm(
    l10n.t('Run the checks that the settings of this workspace bring?'),
    `${texts.join('\n')}\n\n${l10n.t('Redline asks again when any of this changes.')}`,
    l10n.t('Approve and Run'),
  );
  if (isApproved) await checks.settings.approve(waiting, broughtShell);
  return isApproved;
}

/** Lets the user choose a check that the project suggests and that can run here, or type one. */
export async function addCheck({ checks }: Ctx): Promise<void> {
  const { l10n } = vscode;
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  if (!folder) throw new ToolError('No folder is open.');
  const read = async (name: string): Promise<string | undefined> => {
    try {
      return new TextDecoder().decode(
        await vscode.workspace.fs.readFile(vscode.Uri.joinPath(folder.uri, name)),
      );
    } catch {
      return undefined;
    }
  };
  const known = new Set(checks.settings.list.map(({ command }) => command));
  const other = { label: `$(edit) ${l10n.t('Another command…')}`, check: undefined };
  const items = async (): Promise<
    (vscode.QuickPickItem & { readonly check: SuggestedCheck | undefined })[]
  > => {
    const suggested = vscode.workspace.isTrusted ? await checks.runnable(await suggestChecks(read)) : [];
    const others = suggested.filter(({ command }) => !known.has(command));
    return [
      ...others.map(check => ({ label: oneLine(check.name), description: oneLine(check.command), check })),
      other,
    ];
  };
  const picked = await vscode.window.showQuickPick(items(), {
    title: l10n.t('Redline: Add a Check'),
    placeHolder: l10n.t('A command whose result is shown on pending previews'),
  });
  if (!picked) return;
  const check = picked.check ?? (await typedCheck());
  if (!check) return;
  await checks.settings.add(check);
  const run = l10n.t('Run Checks');
  const text = l10n.t('The check {0} was added to the settings of this workspace.', oneLine(check.name));
  if ((await showInfo(text, run)) === run) await execute('redline.checks.run');
}

async function typedCheck(): Promise<{ readonly name: string; readonly command: string } | undefined> {
  const { l10n } = vscode;
  const command = (
    await vscode.window.showInputBox({
      title: l10n.t('Redline: Add a Check'),
      prompt: l10n.t('The command, which ends with exit code 0 if all is well'),
    })
  )?.trim();
  if (command === undefined || command === '') return undefined;
  const name = await vscode.window.showInputBox({
    title: l10n.t('Redline: Add a Check'),
    prompt: l10n.t('Its name'),
    value: command.split(/\s+/).at(-1) ?? command,
  });
  return name === undefined || name.trim() === '' ? undefined : { name: name.trim(), command };
}

/** Opens the output of a check as a document. */
export async function showOutput({ checks, texts }: Ctx, [id]: readonly unknown[]): Promise<void> {
  const loaded = await checks.load();
  const result = typeof id === 'string' ? loaded.resultOf(id) : loaded.results.at(-1);
  if (!result) return void showInfo(vscode.l10n.t('The output of this check is no longer kept.'));
  await texts.show(`${fileName(result.name)}.log`, outputText(result));
}

export function outputText({
  command,
  output,
  at,
  seconds,
  exitCode,
  previews,
  missing = [],
}: CheckResult): string {
  const { l10n } = vscode;
  const on = Object.keys(previews).join(', ');
  const head = [
    `$ ${command}`,
    l10n.t('On: {0}', on === '' ? l10n.t('the files on disk') : on),
    l10n.t('Ended: {0} · {1} s', new Date(at).toLocaleString(vscode.env.language), seconds),
    ...(exitCode === undefined ? [] : [l10n.t('Exit code: {0}', exitCode)]),
    ...(missing.length === 0 ? [] : [l10n.t('not in the sandbox: {0}', missing.join(', '))]),
  ];
  return `${head.join('\n')}\n\n${output}\n`;
}

export function fileName(name: string): string {
  return name.replace(/[^\p{L}\p{N}._-]+/gu, '-') || 'check';
}

/** Finds the preview that breaks a failed check: the first one with which the check no longer passes. */
export async function findBreaking(ctx: Ctx, [id]: readonly unknown[]): Promise<void> {
  const { l10n } = vscode;
  if (!ctx.checks.hasChecks) return addCheck(ctx);
  const checks = await ctx.checks.load();
  const failed =
    typeof id === 'string'
      ? checks.resultOf(id)
      : checks.results.findLast(({ outcome }) => outcome === 'failed');
  if (failed?.outcome !== 'failed')
    return void showInfo(l10n.t('No check has failed. Run the checks first.'));
  const previews = Object.keys(failed.previews).flatMap(each => {
    const preview = ctx.store.get(each);
    return preview?.state.kind === 'pending' ? [preview] : [];
  });
  const title = l10n.t('Finding the preview that breaks {0}', oneLine(failed.name));
  const found = await withProgress(checks, title, signal =>
    bisect(previews, async first => {
      const { results } = await checks.run(first, 'human', {
        names: [failed.name],
        signal,
        compares: false,
      });
      return results[0];
    }),
  );
  switch (found.kind) {
    case 'found': {
      const open = l10n.t('Open');
      const { preview } = found;
      const text = l10n.t(
        '{0} breaks {1}: it passes with what comes before, and not with this.',
        oneLine(titleOf(preview)),
        oneLine(failed.name),
      );
      if ((await showWarning(text, open)) === open) await execute('redline.preview.open', preview.id);
      return;
    }
    case 'brokenBefore':
      return void showWarning(
        l10n.t(
          '{0} does not pass on the files as they are either, without any preview.',
          oneLine(failed.name),
        ),
      );
    case 'unknown':
      return void showInfo(
        l10n.t('The search was stopped: a run of {0} gave no result.', oneLine(failed.name)),
      );
  }
}

/** Shows which check runs, and lets the user cancel it. */
export function withProgress<T>(
  checks: Checks,
  title: string,
  work: (signal: AbortSignal) => Promise<T>,
): Thenable<T> {
  return withCancel(title, async (signal, _report, say) => {
    const showing = checks.onDidChange(() => say(checks.running ?? ''));
    try {
      return await work(signal);
    } finally {
      showing.dispose();
    }
  });
}
