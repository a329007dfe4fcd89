import * as vscode from 'vscode';
import { renderNodeId, type NodeId } from '../../../agent/session/conversation/nodeId.ts';
import type { ConversationTree } from '../../../agent/session/conversation/conversationTree.ts';
import type { NodeTag, TagKind } from '../../../agent/session/conversation/revert.ts';
import { messageText } from '../../../agent/session/model/messages.ts';
import { makeCommand } from '../../commandRegistry.ts';
import { asMarkdown, oneLine, plural } from '../../plainText.ts';
import type { Branch } from './branches.ts';
import type { ListedSession } from './listedSessions.ts';

/** The most characters of a message that a tooltip shows. */
const MAX_TOOLTIP = 600;

/** The item of a session. A click opens it. */
export function sessionItem(session: ListedSession, branches: number): vscode.TreeItem {
  const { Expanded, None } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(sessionLabel(session), branches > 0 ? Expanded : None);
  const { id, isOpen, messages, usedAt } = session;
  const time = usedAt?.toLocaleString(vscode.env.language, { dateStyle: 'medium', timeStyle: 'short' });
  const count = plural(vscode.l10n.t('1 message|{0} messages'), messages);
  const branchCount = plural(vscode.l10n.t('1 branch|{0} branches'), branches);
  item.description = [
    ...(isOpen ? [vscode.l10n.t('current')] : []),
    count,
    ...(branches > 0 ? [branchCount] : []),
    ...(isOpen || time === undefined ? [] : [time]),
  ].join(' · ');
  item.iconPath = new vscode.ThemeIcon(isOpen ? 'comment-discussion' : 'comment');
  item.contextValue = 'redline.session';
  if (!isOpen) item.command = makeCommand(vscode.l10n.t('Open'), 'redline.session.open', id);
  return item;
}

/** A session's name, else its first words. */
function sessionLabel({ title, firstWords }: ListedSession): string {
  return oneLine(title ?? firstWords) || vscode.l10n.t('Empty session');
}

/** The item of a branch of the open session. */
export function branchItem(tree: ConversationTree, branch: Branch): vscode.TreeItem {
  const { node, tip, length, tags } = branch;
  const tag = tags.at(-1);
  const label = tag ? oneLine(`${tagName(tag.kind)}: ${tag.text}`) : branchLabel(tree, branch);
  const item = new vscode.TreeItem(label);
  item.iconPath = tag
    ? new vscode.ThemeIcon(tagIcons[tag.kind], new vscode.ThemeColor(tagColors[tag.kind]))
    : new vscode.ThemeIcon('git-branch');
  const span = node === tip ? renderNodeId(node) : `${renderNodeId(node)}–${renderNodeId(tip)}`;
  const count = plural(vscode.l10n.t('1 message|{0} messages'), length);
  item.description = `${count} · ${span}`;
  item.contextValue = 'redline.branch';
  item.accessibilityInformation = { label: [vscode.l10n.t('Branch'), label, item.description].join(' · ') };
  return item;
}

/** The tags of a branch, and its prompt or first message. Foreign text is escaped, never rendered as markdown. */
export function branchTooltip(tree: ConversationTree, { tags, titled }: Branch): vscode.MarkdownString {
  const text = textAt(tree, titled);
  const lines = tags.map(tagLine);
  if (text !== '') lines.push(asMarkdown(text, MAX_TOOLTIP));
  return new vscode.MarkdownString(lines.join('\n\n'), true);
}

function branchLabel(tree: ConversationTree, { titled }: Branch): string {
  return oneLine(textAt(tree, titled)) || vscode.l10n.t('(no text)');
}

function textAt(tree: ConversationTree, id: NodeId): string {
  const message = tree.get(id)?.message;
  return message ? messageText(message) : '';
}

function tagLine({ kind, text }: NodeTag): string {
  return `$(${tagIcons[kind]}) **${kind}**: ${asMarkdown(text, MAX_TOOLTIP)}`;
}

/** The tag's name for the user, short enough for a row. */
function tagName(kind: TagKind): string {
  switch (kind) {
    case 'revert-lesson':
      return vscode.l10n.t('Lesson');
    case 'revert-finding':
      return vscode.l10n.t('Finding');
    case 'revert-outcome':
      return vscode.l10n.t('Outcome');
    case 'revert-checkpoint':
      return vscode.l10n.t('Checkpoint');
  }
}

const tagIcons: Readonly<Record<TagKind, string>> = {
  'revert-lesson': 'lightbulb',
  'revert-finding': 'telescope',
  'revert-outcome': 'pass',
  'revert-checkpoint': 'bookmark',
};
const tagColors: Readonly<Record<TagKind, string>> = {
  'revert-lesson': 'charts.yellow',
  'revert-finding': 'charts.purple',
  'revert-outcome': 'charts.green',
  'revert-checkpoint': 'charts.blue',
};
