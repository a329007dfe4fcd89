import * as vscode from 'vscode';
import { titleOf, type Preview } from '../../../agent/preview/preview.ts';
import { planOf } from '../../../agent/session/planMode.ts';
import { oneLine } from '../../plainText.ts';

/** The user's reason for discarding a preview, or what a plan lacks; `undefined` if they cancel. */
export function askReasonFor(preview: Preview): Thenable<string | undefined> {
  const plan = planOf(preview);
  if (!plan) return askReason(vscode.l10n.t('Discard {0}', oneLine(titleOf(preview))));
  return ask(
    vscode.l10n.t('Send back the plan “{0}”', oneLine(plan.title)),
    vscode.l10n.t('What should change? (sent to the model, which revises the plan)'),
  );
}

/** The user's reason for a discard that the title names; `undefined` if they cancel. */
export function askReason(title: string): Thenable<string | undefined> {
  return ask(title, vscode.l10n.t('Reason (sent to the model)'));
}

/** The box stays while the user looks something up in the code, so that nothing that they have typed is lost. */
function ask(title: string, prompt: string): Thenable<string | undefined> {
  return vscode.window.showInputBox({ title, prompt, ignoreFocusOut: true });
}
