import * as vscode from 'vscode';
import { titleOf, type Preview } from '../agent/preview/preview.ts';
import { commandLink } from './commandRegistry.ts';
import { asMarkdown } from './plainText.ts';
import { allText } from './texts/previewWords.ts';

const linked = ['redline.preview.open', 'redline.preview.apply', 'redline.preview.discard'] as const;
const linkedAll = ['redline.preview.applyAll', 'redline.preview.discardAll'] as const;

/** The head with its buttons, and those for all. @param together how many of all `count` Apply All applies */
export function tooltipOf(head: Preview, count: number, together: number): vscode.MarkdownString {
  const text = new vscode.MarkdownString();
  text.isTrusted = { enabledCommands: [...linked, ...linkedAll, 'redline.sandbox.show'] };
  text.appendMarkdown(`**${asMarkdown(titleOf(head))}** (${head.id})\n\n`);
  const { id, revision } = head;
  const links = [
    commandLink(vscode.l10n.t('Open'), 'redline.preview.open', id),
    commandLink(vscode.l10n.t('Apply'), 'redline.preview.apply', id, undefined, revision),
    commandLink(vscode.l10n.t('Discard'), 'redline.preview.discard', id, undefined, revision),
  ];
  text.appendMarkdown(links.join(' · '));
  if (count > 1) {
    const all = [
      ...(together > 0 ? [commandLink(allText('apply', together), 'redline.preview.applyAll')] : []),
      commandLink(allText('discard', count), 'redline.preview.discardAll'),
    ];
    text.appendMarkdown(`\n\n${all.join(' · ')}`);
  }
  text.appendMarkdown(`\n\n${commandLink(vscode.l10n.t('Sandbox…'), 'redline.sandbox.show')}`);
  return text;
}
