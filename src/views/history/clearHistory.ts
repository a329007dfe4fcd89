import * as vscode from 'vscode';
import type { Agent } from '../agent.ts';
import { confirm } from '../toast.ts';

/** Forgets what all resolved previews held, if the user agrees. */
export async function clearHistory({ store }: Agent): Promise<void> {
  const agreed = await confirm(
    vscode.l10n.t('Delete the content of all resolved previews?'),
    vscode.l10n.t(
      'You can no longer undo or reopen them. The ledger still shows who resolved what, when and why.',
    ),
    vscode.l10n.t('Clear History'),
  );
  if (agreed) await store.forgetResolved(new Date());
}
