import * as vscode from 'vscode';
import type { Preview } from '../../agent/preview/preview.ts';
import { planOf, type Plan } from '../../agent/session/planMode.ts';
import { detailsText } from '../detailsText.ts';
import { oneLine } from '../plainText.ts';

/** What a person reads before they apply a preview that is no file change: what would run, and for whom. */
export function opaqueDocument(preview: Preview): string {
  const plan = planOf(preview);
  if (plan) return planDocument(plan);
  const lines = [`# ${preview.label}`, '', vscode.l10n.t('Source tool: {0}', preview.sourceToolName)];
  const details = detailsText(preview, 2);
  if (details !== undefined) lines.push('', '```', details, '```');
  lines.push('', vscode.l10n.t('Apply runs this action. Nothing has been done yet.'), '');
  return lines.join('\n');
}

/** A plan as the model wrote it, under its title. */
function planDocument({ title, text }: Plan): string {
  const hasTitle = text.startsWith(`# ${title}\n`) || text === `# ${title}`;
  return [
    ...(hasTitle ? [] : [`# ${oneLine(title)}`, '']),
    text.trim(),
    '',
    '---',
    '',
    vscode.l10n.t('**Apply** approves this plan: it is then carried out, and each change held back for you.'),
    '',
    vscode.l10n.t('**Discard** sends it back with your note. Nothing has been changed yet.'),
    '',
  ].join('\n');
}
