import * as vscode from 'vscode';
import { titleOf, type Preview } from '../../../agent/hold/preview/preview.ts';
import { previewView, type CheckMark } from '../../../agent/hold/preview/previewView.ts';
import { agentLabel, asMarkdown, detailsText } from '../../plainText.ts';
import type { Risk } from '../../../agent/hold/preview/reading/risks.ts';
import { checkSentence } from '../../texts/checkWords.ts';
import { riskText } from '../../texts/riskWords.ts';
import { expiredText, kindIcons, problemText, recommendationText } from '../../texts/previewWords.ts';

/** The most files that a tooltip lists. */
const MAX_TOOLTIP_FILES = 10;

/** All the details of a preview. Foreign text is escaped, never rendered as markdown. */
export function previewTooltip(
  preview: Preview,
  checks: readonly CheckMark[] = [],
  risks: readonly Risk[] = [],
): vscode.MarkdownString {
  const { origin } = preview;
  const { outcome, ...view } = previewView(preview, { risks });
  const lines = [`**${asMarkdown(titleOf(preview))}**`];
  const add = (icon: string, text: string): void => void lines.push(`$(${icon}) ${asMarkdown(text, 500)}`);
  if (outcome.kind === 'pending') {
    for (const check of checks) add('beaker', checkSentence(check, String));
    for (const risk of view.risks.slice(0, MAX_TOOLTIP_FILES)) add('warning', riskText(risk, String));
    const { problem, recommendation } = outcome;
    if (problem) add(problem.kind === 'failed' ? 'error' : 'warning', problemText(problem, String));
    if (recommendation) add('comment', recommendationText(recommendation, String));
  }
  if (outcome.kind === 'expired') add('history', expiredText(outcome, String));
  const changes = preview.changes ?? [];
  for (const change of changes.slice(0, MAX_TOOLTIP_FILES)) add(kindIcons[change.kind], change.path);
  const more = changes.length - MAX_TOOLTIP_FILES;
  if (more > 0) add('ellipsis', vscode.l10n.t('{0} more', more));
  if (origin?.agent) add('robot', agentLabel(origin.agent));
  const details = detailsText(preview);
  if (details !== undefined) add('info', details);
  add('clock', new Date(preview.stagedAt).toLocaleString(vscode.env.language));
  const text = new vscode.MarkdownString(lines.join('\n\n'), true);
  text.supportHtml = false;
  return text;
}
