import * as vscode from 'vscode';
import { isSameEnd, type CheckResult } from '../../../agent/sandbox/checks/check.ts';
import type { Ctx } from '../../ctx.ts';
import { oneLine } from '../../plainText.ts';
import { confirm, showInfo, showWarning } from '../../toast.ts';
import { chosenPreviews, fileName, outputText, resultsText, tell, withProgress } from './checkCommands.ts';

/**
 * Runs the checks on all that the open conversation has pending, in the sandbox and in a full copy of the files, and says whether
 * both agree.
 */
export async function runChecksFromScratch(ctx: Ctx): Promise<void> {
  const { l10n } = vscode;
  const chosen = await chosenPreviews(ctx, []);
  if (!chosen) return;
  const { checks, previews } = chosen;
  const isAgreed = await confirm(
    l10n.t('Run the checks in a full copy, too?'),
    l10n.t(
      'The workspace is copied, with all that git ignores. The copy is not isolated: there, the commands and the proposed code can use the network and write outside.',
    ),
    l10n.t('Copy and Run'),
  );
  if (!isAgreed) return;
  const { report, copies } = await withProgress(
    checks,
    l10n.t('Running checks from scratch'),
    async signal => {
      const found = await checks.run(previews, 'human', { signal });
      return { report: found, copies: await checks.runFromScratch(found, previews, signal) };
    },
  );
  if (copies.size === 0) return tell(checks, previews, report);
  const differing = [...copies].find(([result, copy]) => !isSameEnd(result, copy));
  if (!differing)
    return void showInfo(l10n.t('The full copy says the same: {0}', resultsText([...copies.keys()])));
  const [result, copy] = differing;
  const show = l10n.t('Show Difference');
  const said = l10n.t(
    'The sandbox and the full copy differ. Sandbox: {0}. Copy: {1}.',
    resultsText([result]),
    resultsText([copy]),
  );
  if ((await showWarning(said, show)) === show) await showDifference(ctx, result, copy);
}

/** Opens both outputs side by side. */
async function showDifference({ texts }: Ctx, result: CheckResult, copy: CheckResult): Promise<void> {
  const [left, right] = [result, copy].map(each =>
    texts.hold(`${fileName(each.name)}.log`, outputText(each)),
  );
  const title = vscode.l10n.t('{0}: sandbox ↔ full copy', oneLine(result.name));
  await vscode.commands.executeCommand('vscode.diff', left, right, title);
}
