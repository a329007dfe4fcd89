import * as vscode from 'vscode';
import type { Preview } from '../../agent/preview/preview.ts';

/** What a person reads before they apply a preview that is no file change: what would run, and for whom. */
export function opaqueDocument(preview: Preview): string {
  const lines = [`# ${preview.label}`, '', vscode.l10n.t('Source tool: {0}', preview.sourceToolName)];
  if (preview.details !== undefined) {
    const details =
      typeof preview.details === 'string' ? preview.details : JSON.stringify(preview.details, null, 2);
    lines.push('', '```', details, '```');
  }
  lines.push('', vscode.l10n.t('Apply runs this action. Nothing has been done yet.'), '');
  return lines.join('\n');
}
