import * as vscode from 'vscode';
import type { Ctx } from '../../ctx.ts';
import { addCheck, findBreaking } from './checkCommands.ts';
import { runChecksFromScratch } from './fromScratch.ts';

/** Lists the actions on checks, other than running them, that are possible now. */
export async function showChecks(ctx: Ctx): Promise<void> {
  const { l10n } = vscode;
  const { hasChecks } = ctx.checks;
  const checks = hasChecks ? await ctx.checks.load() : undefined;
  const running = checks?.running;
  const hasFailed = checks?.results.some(({ outcome }) => outcome === 'failed') === true;
  const items = [
    { label: l10n.t('Stop Checks'), run: () => checks?.stop(), isOffered: running !== undefined },
    {
      label: l10n.t('Find the Preview That Breaks It'),
      run: () => findBreaking(ctx, []),
      isOffered: hasFailed,
    },
    { label: l10n.t('Run Checks from Scratch'), run: () => runChecksFromScratch(ctx), isOffered: hasChecks },
    { label: l10n.t('Add a Check…'), run: () => addCheck(ctx), isOffered: true },
  ].filter(({ isOffered }) => isOffered);
  const picked = await vscode.window.showQuickPick(items, {
    title: l10n.t('Redline: Checks'),
    placeHolder: running,
  });
  await picked?.run();
}
