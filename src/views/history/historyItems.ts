import * as vscode from 'vscode';
import { renderNodeId, type NodeId } from '../../agent/conversation/nodeId.ts';
import type { NodeTag, TagKind } from '../../agent/conversation/revert.ts';
import type { SessionMessage } from '../../agent/model/messages.ts';
import { makeCommand } from '../commandRegistry.ts';
import { asMarkdown, oneLine } from '../plainText.ts';
import { countAttached, type HistoryRow, type HistorySource } from './historyRows.ts';

/** The most characters of a message that a tooltip shows. */
const MAX_TOOLTIP = 600;

/** The `viewItem` values that menus in package.json test. */
type RowContext =
  /** The current message, which cannot be reverted to. */
  | 'redline.here'
  /** A message on the trunk, which can be reverted to. */
  | 'redline.message'
  /** A message of an abandoned branch. */
  | 'redline.left'
  | 'redline.branch';

/** The tree item of a row. */
export function itemOf(tree: HistorySource, row: HistoryRow): vscode.TreeItem {
  switch (row.kind) {
    case 'start':
      return startItem(tree);
    case 'message':
      return messageItem(tree, row.node);
    case 'branch':
      return branchItem(tree, row);
    case 'tag':
      return tagItem(row.tag);
    case 'earlier': {
      const label = vscode.l10n.t('{0} earlier messages', row.to - row.from);
      const item = new vscode.TreeItem(label, vscode.TreeItemCollapsibleState.Collapsed);
      item.iconPath = new vscode.ThemeIcon('ellipsis');
      return item;
    }
  }
}

/** The message's text, or a branch's tags. Foreign text is escaped, never rendered as markdown. */
export function tooltipOf(tree: HistorySource, row: HistoryRow): vscode.MarkdownString | undefined {
  const lines: string[] = [];
  if (row.kind === 'tag') lines.push(tagLine(row.tag));
  if (row.kind === 'branch') lines.push(...row.tags.map(tagLine));
  const message = row.kind === 'message' || row.kind === 'branch' ? tree.get(row.node)?.message : undefined;
  if (message) lines.push(`**${asMarkdown(kindText(message))}**`, asMarkdown(textOf(message), MAX_TOOLTIP));
  return lines.length > 0 ? new vscode.MarkdownString(lines.join('\n\n'), true) : undefined;
}

function tagLine({ kind, text }: NodeTag): string {
  return `$(${tagIcons[kind]}) **${kind}**: ${asMarkdown(text, MAX_TOOLTIP)}`;
}

function startItem(tree: HistorySource): vscode.TreeItem {
  const isHere = tree.active === null;
  const left = countAttached(tree, null);
  const label = vscode.l10n.t('Beginning');
  const item = new vscode.TreeItem(label, stateOf(left));
  item.iconPath = new vscode.ThemeIcon(isHere ? 'record' : 'circle-outline', isHere ? HERE : undefined);
  item.description = joined(isHere ? hereText() : '', branchText(left));
  item.contextValue = (isHere ? 'redline.here' : 'redline.message') satisfies RowContext;
  item.accessibilityInformation = { label: joined(label, item.description) };
  return item;
}

function messageItem(tree: HistorySource, node: NodeId): vscode.TreeItem {
  const message = tree.get(node)?.message;
  if (!message) return new vscode.TreeItem(renderNodeId(node));
  const isHere = node === tree.active;
  const isOnTrunk = tree.isOnTrunk(node);
  const left = countAttached(tree, node);
  const label = labelOf(message);
  const item = new vscode.TreeItem(label, stateOf(left));
  const icon = iconOf(message);
  item.iconPath = new vscode.ThemeIcon(icon, isHere ? HERE : message.role === 'user' ? PROMPT : undefined);
  item.description = joined(isHere ? hereText() : '', renderNodeId(node), branchText(left));
  const context: RowContext =
    isHere && message.role !== 'user' ? 'redline.here' : isOnTrunk ? 'redline.message' : 'redline.left';
  item.contextValue = context;
  if (isOnTrunk) item.command = makeCommand(vscode.l10n.t('Show in Chat'), 'redline.history.show', node);
  item.accessibilityInformation = { label: joined(kindText(message), label, item.description) };
  return item;
}

function branchItem(tree: HistorySource, row: Extract<HistoryRow, { kind: 'branch' }>): vscode.TreeItem {
  const { node, tip, length, tags } = row;
  const tag = tags.at(-1);
  const message = tree.get(node)?.message;
  const label = tag ? tagLabel(tag) : message ? labelOf(message) : renderNodeId(node);
  const item = new vscode.TreeItem(label, vscode.TreeItemCollapsibleState.Collapsed);
  item.iconPath = tag ? tagIcon(tag) : new vscode.ThemeIcon('git-branch');
  const count = length === 1 ? vscode.l10n.t('1 message') : vscode.l10n.t('{0} messages', length);
  const span = node === tip ? renderNodeId(node) : `${renderNodeId(node)}–${renderNodeId(tip)}`;
  item.description = joined(count, span);
  item.contextValue = 'redline.branch' satisfies RowContext;
  item.accessibilityInformation = { label: joined(vscode.l10n.t('Branch'), label, item.description) };
  return item;
}

function tagItem(tag: NodeTag): vscode.TreeItem {
  const item = new vscode.TreeItem(tagLabel(tag));
  item.iconPath = tagIcon(tag);
  return item;
}

function tagLabel({ kind, text }: NodeTag): string {
  return oneLine(`${tagName(kind)}: ${text}`);
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

const HERE = new vscode.ThemeColor('charts.green');
const PROMPT = new vscode.ThemeColor('charts.blue');

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

function tagIcon({ kind }: NodeTag): vscode.ThemeIcon {
  return new vscode.ThemeIcon(tagIcons[kind], new vscode.ThemeColor(tagColors[kind]));
}

function stateOf(left: number): vscode.TreeItemCollapsibleState {
  const { Expanded, None } = vscode.TreeItemCollapsibleState;
  return left > 0 ? Expanded : None;
}

function hereText(): string {
  return vscode.l10n.t('current');
}

function branchText(left: number): string {
  if (left === 0) return '';
  return left === 1 ? vscode.l10n.t('1 branch') : vscode.l10n.t('{0} branches', left);
}

function joined(...parts: readonly string[]): string {
  return parts.filter(part => part !== '').join(' · ');
}

function labelOf(message: SessionMessage): string {
  if (isSummary(message)) return vscode.l10n.t('Summary of earlier messages');
  return oneLine(message.role === 'tool' ? message.toolName : textOf(message)) || vscode.l10n.t('(no text)');
}

function isSummary(message: SessionMessage): boolean {
  return message.role === 'steering' && message.kind === 'summary';
}

function textOf(message: SessionMessage): string {
  if (message.role === 'tool') return message.content;
  if (message.text.trim() !== '' || message.role !== 'assistant') return message.text;
  return message.error ?? message.toolCalls.map(({ name }) => name).join(', ');
}

/** The kind of a message in words, for screen readers and tooltips. */
function kindText(message: SessionMessage): string {
  switch (message.role) {
    case 'user':
      return vscode.l10n.t('You');
    case 'assistant':
      return vscode.l10n.t('Answer');
    case 'tool':
      return message.isError ? vscode.l10n.t('Failed result') : vscode.l10n.t('Result');
    case 'local':
      return vscode.l10n.t('Command');
    case 'steering':
      return isSummary(message) ? vscode.l10n.t('Summary') : vscode.l10n.t('Note');
  }
}

function iconOf(message: SessionMessage): string {
  switch (message.role) {
    case 'user':
      return 'account';
    case 'assistant':
      if (message.stopReason === 'error') return 'error';
      return message.text.trim() === '' && message.toolCalls.length > 0 ? 'tools' : 'sparkle';
    case 'tool':
      return message.isError ? 'error' : 'output';
    case 'local':
      return 'terminal';
    case 'steering':
      return isSummary(message) ? 'fold' : 'info';
  }
}
