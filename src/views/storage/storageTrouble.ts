import * as vscode from 'vscode';
import { storageAdvice } from '../errorSentence.ts';
import { showWarning } from '../toast.ts';

/** How long one warning stands for all that follow, in milliseconds: one full disk fails every log. */
const ONE_TROUBLE_MS = 60_000;
let warnedAt = -Infinity;

/** Tells the user, once for all logs that fail together, that previews and the conversation are not saved. */
export function warnNotStored(error: unknown): void {
  if (performance.now() - warnedAt < ONE_TROUBLE_MS) return;
  warnedAt = performance.now();
  const what = vscode.l10n.t(
    'Redline cannot save to its storage. Previews and the conversation continue in memory and are saved as soon as that works again; until then nothing can be applied.',
  );
  void showWarning(`${what} ${storageAdvice(error, vscode.l10n)}`);
}

/** Tells the user that this window cannot tell whether another one uses the storage. */
export function warnNotLocked(error: unknown): void {
  warnedAt = performance.now();
  const what = vscode.l10n.t(
    'Redline cannot lock its storage, so stored previews and conversations are not shown, and nothing can be applied.',
  );
  const then = vscode.l10n.t('Then reload the window.');
  void showWarning(`${what} ${storageAdvice(error, vscode.l10n)} ${then}`);
}
