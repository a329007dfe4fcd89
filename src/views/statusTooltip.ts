import * as vscode from 'vscode';
import { blockOf, titleOf, type Preview } from '../agent/hold/preview/preview.ts';
import { setVotes, type IsEdited } from '../agent/hold/preview/setVotes.ts';
import { commandLink } from './commandRegistry.ts';
import { asMarkdown } from './plainText.ts';
import { allText } from './texts/previewWords.ts';

const linked = [
  'redline.preview.open',
  'redline.preview.apply',
  'redline.preview.rebase',
  'redline.preview.edit',
  'redline.preview.discard',
] as const;
const linkedAll = ['redline.preview.applyAll', 'redline.preview.discardAll'] as const;

/** The head with its buttons, and the buttons for all open previews. */
export function tooltipOf(
  head: Preview,
  open: readonly Preview[],
  isEdited: IsEdited,
): vscode.MarkdownString {
  const { apply, discard } = setVotes(open, { isEdited });
  const text = new vscode.MarkdownString();
  text.isTrusted = { enabledCommands: [...linked, ...linkedAll, 'redline.sandbox.show'] };
  text.appendMarkdown(`**${asMarkdown(titleOf(head))}**\n\n`);
  const { id, revision } = head;
  const links = [
    commandLink(vscode.l10n.t('Open'), 'redline.preview.open', id),
    applyLink(head),
    commandLink(vscode.l10n.t('Discard'), 'redline.preview.discard', id, undefined, revision),
  ];
  text.appendMarkdown(links.join(' · '));
  if (discard > 1) {
    const all = [
      ...(apply > 0 ? [commandLink(allText('apply', apply), 'redline.preview.applyAll')] : []),
      commandLink(allText('discard', discard), 'redline.preview.discardAll'),
    ];
    text.appendMarkdown(`\n\n${all.join(' · ')}`);
  }
  text.appendMarkdown(`\n\n${commandLink(vscode.l10n.t('Sandbox…'), 'redline.sandbox.show')}`);
  return text;
}

/** Apply, or the step needed first. */
function applyLink(head: Preview): string {
  const { id, revision } = head;
  switch (blockOf(head)) {
    case 'stale':
      return commandLink(vscode.l10n.t('Rebase'), 'redline.preview.rebase', id);
    case 'conflicts':
      return commandLink(vscode.l10n.t('Resolve Conflicts'), 'redline.preview.edit', id);
    case undefined:
      return commandLink(vscode.l10n.t('Apply'), 'redline.preview.apply', id, undefined, revision);
  }
}
