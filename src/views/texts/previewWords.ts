import * as vscode from 'vscode';
import { countText } from '../../agent/base/countText.ts';
import type { Actor, AgentName, Recommendation } from '../../agent/preview/preview.ts';
import type { PreviewOutcome, PreviewProblem } from '../../agent/preview/previewView.ts';
import { agentLabel, shortList } from '../plainText.ts';

/** Makes foreign text fit where a sentence is shown. */
type Clean = (text: string) => string;

/** What keeps a preview from being applied, as a sentence. */
export function problemText(problem: PreviewProblem, clean: Clean): string {
  const { l10n } = vscode;
  switch (problem.kind) {
    case 'conflicts':
      return conflictsLeftText(problem);
    case 'stale':
      return l10n.t(
        'Stale: {0} changed after this was proposed.',
        clean(shortList(problem.paths, l10n.t('{0} and {1} more'))),
      );
    case 'failed':
      return l10n.t('The last attempt failed: {0}', clean(problem.error));
  }
}

/** `2 conflicts left` */
export function conflictsLeftText({ files }: Extract<PreviewProblem, { kind: 'conflicts' }>): string {
  const count = files.reduce((sum, file) => sum + file.count, 0);
  return countText(vscode.l10n.t('1 conflict left|{0} conflicts left'), vscode.l10n)(count);
}

export function recommendationText({ action, reason }: Recommendation, clean: Clean): string {
  const why = clean(reason) || vscode.l10n.t('No reason provided');
  return action === 'apply'
    ? vscode.l10n.t('The model recommends Apply: {0}', why)
    : vscode.l10n.t('The model recommends Discard: {0}', why);
}

/** Why an expired preview can no longer be resolved. */
export function expiredText(
  { reason, wasInterrupted }: Extract<PreviewOutcome, { kind: 'expired' }>,
  clean: Clean,
): string {
  if (reason !== undefined) return vscode.l10n.t('Expired: {0}', clean(reason));
  return wasInterrupted
    ? vscode.l10n.t('Interrupted while being applied: the action may or may not have run')
    : vscode.l10n.t('Expired: this action can no longer run');
}

/** `Applied by you` @param agent the agent of another program that did it */
export function resolvedText(
  kind: 'applied' | 'discarded' | 'undone',
  actor: Actor,
  agent: AgentName | undefined,
): string {
  const { l10n } = vscode;
  const name = actor === 'model' && agent ? agentLabel(agent) : undefined;
  switch (kind) {
    case 'applied':
      if (name !== undefined) return l10n.t('Applied by {0}', name);
      return {
        human: l10n.t('Applied by you'),
        model: l10n.t('Applied by the model'),
        extension: l10n.t('Applied by another extension'),
      }[actor];
    case 'discarded':
      if (name !== undefined) return l10n.t('Discarded by {0}', name);
      return {
        human: l10n.t('Discarded by you'),
        model: l10n.t('Discarded by the model'),
        extension: l10n.t('Discarded by another extension'),
      }[actor];
    case 'undone':
      return {
        human: l10n.t('Undone by you'),
        model: l10n.t('Undone by the model'),
        extension: l10n.t('Undone by another extension'),
      }[actor];
  }
}

/** `by you` @param agent see {@link resolvedText} */
export function byText(actor: Actor, agent: AgentName | undefined): string {
  if (actor === 'model' && agent) return vscode.l10n.t('by {0}', agentLabel(agent));
  return {
    human: vscode.l10n.t('by you'),
    model: vscode.l10n.t('by the model'),
    extension: vscode.l10n.t('by another extension'),
  }[actor];
}
