import * as vscode from 'vscode';
import { titleOf, type Preview } from '../../agent/preview/preview.ts';
import { agentLabel } from '../agentLabel.ts';
import { detailsText } from '../detailsText.ts';
import { asMarkdown } from '../plainText.ts';
import { shortList } from '../texts/shortList.ts';
import { kindIcons, recommendationText } from './pendingItems.ts';

/** The most files that a tooltip lists. */
const MAX_TOOLTIP_FILES = 10;

/** All the details of a preview. Foreign text is escaped, never rendered as markdown. */
export function previewTooltip(preview: Preview): vscode.MarkdownString {
  const { id, sourceToolName, origin, state } = preview;
  const lines = [`**${asMarkdown(titleOf(preview))}** (${id}, ${asMarkdown(sourceToolName)})`];
  const add = (icon: string, text: string): void => void lines.push(`$(${icon}) ${asMarkdown(text, 500)}`);
  if (state.kind === 'pending') {
    if (state.stale.length > 0) {
      const paths = shortList(state.stale, vscode.l10n.t('{0} and {1} more'));
      add('warning', vscode.l10n.t('Stale: {0} changed after this was proposed.', paths));
    } else if (state.lastError !== undefined)
      add('error', vscode.l10n.t('Apply failed: {0}', state.lastError));
    if (state.recommendation) add('comment', recommendationText(state.recommendation));
  }
  if (state.kind === 'expired') add('history', state.reason ?? expiredText(state.interrupted));
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

function expiredText(interrupted?: true): string {
  if (interrupted)
    return vscode.l10n.t('The window closed while this was being applied. It may or may not have run.');
  return vscode.l10n.t('This action was lost when the window closed. Ask for it again.');
}
