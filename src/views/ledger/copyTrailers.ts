import * as vscode from 'vscode';
import { trailersOf, type CommittedPreview } from '../../agent/elsewhere/applied/commitMessage.ts';

/** How long the status bar says what was copied, in milliseconds. */
const STATUS_MS = 4_000;

/** Puts the trailers of a commit of what was applied on the clipboard. */
export async function copyTrailers(applied: CommittedPreview): Promise<void> {
  await vscode.env.clipboard.writeText(`${trailersOf([applied]).join('\n')}\n`);
  void vscode.window.setStatusBarMessage(vscode.l10n.t('The commit trailers were copied'), STATUS_MS);
}
