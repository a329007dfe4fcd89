import * as vscode from 'vscode';
import { countText } from '../../../agent/base/localiser.ts';
import { renderNodeId, type NodeId } from '../../../agent/session/conversation/nodeId.ts';
import type { ConversationTree } from '../../../agent/session/conversation/conversationTree.ts';
import type { NodeTag, TagKind } from '../../../agent/session/conversation/revert.ts';
import type { AssistantMessage, SessionMessage } from '../../../agent/session/model/messages.ts';
import { sayCalls, type SaidCall } from '../words/callWords.ts';
import { argumentsOf } from '../transcript/toolLine.ts';
import { makeCommand } from '../../commandRegistry.ts';
import { asMarkdown, oneLine } from '../../plainText.ts';
import {
  countAttached,
  countBelow,
  isCurrent,
  type BranchRow,
  type EarlierRow,
  type HistoryRow,
  type StepRow,
  type StepsRow,
  type TurnRow,
} from './historyRows.ts';

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
export function itemOf(tree: ConversationTree, row: HistoryRow): vscode.TreeItem {
  switch (row.kind) {
    case 'start':
      return startItem(tree);
    case 'turn':
    case 'step':
    case 'steps':
      return messageItem(tree, row);
    case 'branch':
      return branchItem(tree, row);
    case 'tag':
      return tagItem(row.tag);
    case 'earlier': {
      const item = new vscode.TreeItem(earlierText(row), vscode.TreeItemCollapsibleState.Collapsed);
      item.iconPath = new vscode.ThemeIcon('ellipsis');
      return item;
    }
  }
}

function earlierText({ of, from, to }: EarlierRow): string {
  return of?.kind === 'turn' || of?.kind === 'steps'
    ? countText(vscode.l10n.t('1 earlier step|{0} earlier steps'), vscode.l10n)(to - from)
    : countText(vscode.l10n.t('1 earlier prompt|{0} earlier prompts'), vscode.l10n)(to - from);
}

/** The message's text, or a branch's tags. Foreign text is escaped, never rendered as markdown. */
export function tooltipOf(tree: ConversationTree, row: HistoryRow): vscode.MarkdownString | undefined {
  const lines: string[] = [];
  if (row.kind === 'tag') lines.push(tagLine(row.tag));
  if (row.kind === 'branch') lines.push(...row.tags.map(tagLine));
  const node = row.kind === 'turn' || row.kind === 'branch' ? row.node : firstOf(row);
  const message = node === undefined ? undefined : tree.get(node)?.message;
  if (message)
    lines.push(
      `**${asMarkdown(kindText(message))}**`,
      asMarkdown(plainTextOf(tree, message, node), MAX_TOOLTIP),
    );
  return lines.length > 0 ? new vscode.MarkdownString(lines.join('\n\n'), true) : undefined;
}

function tagLine({ kind, text }: NodeTag): string {
  return `$(${tagIcons[kind]}) **${kind}**: ${asMarkdown(text, MAX_TOOLTIP)}`;
}

function startItem(tree: ConversationTree): vscode.TreeItem {
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

function messageItem(tree: ConversationTree, row: TurnRow | StepRow | StepsRow): vscode.TreeItem {
  const first = row.kind === 'turn' ? row.node : firstOf(row);
  const message = first === undefined ? undefined : tree.get(first)?.message;
  if (first === undefined || !message) return new vscode.TreeItem(renderNodeId(row.node));
  const isHere = isCurrent(tree, row);
  const left = countBelow(tree, row);
  const label = row.kind === 'turn' ? labelOf(tree, message, first) : stepLabel(tree, row, message);
  const hasSteps = row.kind === 'steps' || (row.kind === 'turn' && row.end !== row.node);
  const item = new vscode.TreeItem(label, stateOf(left, hasSteps));
  const isPrompt = message.role === 'user';
  const icon = hasFailed(tree, row) ? 'error' : iconOf(message);
  item.iconPath = new vscode.ThemeIcon(icon, isHere ? HERE : isPrompt ? PROMPT : undefined);
  const calls = row.kind === 'step' && hasText(message) ? saidOf(tree, [row]) : '';
  item.description = joined(isHere ? hereText() : '', calls, renderNodeId(row.node), branchText(left));
  const isOnTrunk = tree.isOnTrunk(row.node);
  const context: RowContext =
    isHere && !isPrompt ? 'redline.here' : isOnTrunk ? 'redline.message' : 'redline.left';
  item.contextValue = context;
  if (isOnTrunk) item.command = makeCommand(vscode.l10n.t('Show in Chat'), 'redline.history.show', row.node);
  item.accessibilityInformation = { label: joined(kindText(message), label, item.description) };
  return item;
}

/** The first message of a row of steps. */
function firstOf(row: HistoryRow): NodeId | undefined {
  if (row.kind === 'steps') return row.steps[0]?.nodes[0];
  return row.kind === 'step' ? row.nodes[0] : undefined;
}

/** What an answer says or, if it only calls tools, what the calls did. */
function stepLabel(tree: ConversationTree, row: StepRow | StepsRow, message: SessionMessage): string {
  const steps = row.kind === 'steps' ? row.steps : [row];
  const said = row.kind === 'steps' || !hasText(message) ? saidOf(tree, steps) : '';
  return said === '' ? labelOf(tree, message, firstOf(row)) : oneLine(said);
}

function hasText(message: SessionMessage): boolean {
  return message.role === 'assistant' && (message.text.trim() !== '' || message.error !== undefined);
}

/** What the calls of some steps did, in words; empty if there are none. */
function saidOf(tree: ConversationTree, steps: readonly StepRow[]): string {
  const calls = steps.flatMap(({ nodes }): SaidCall[] => {
    const [first, ...results] = nodes.map(node => tree.get(node)?.message);
    if (first?.role !== 'assistant') return [];
    const failed = new Set(
      results.flatMap(result => (result?.role === 'tool' && result.isError ? [result.toolCallId] : [])),
    );
    return callsOf(first).map(call => ({ ...call, failed: failed.has(call.id) }));
  });
  return calls.length === 0 ? '' : sayCalls(calls);
}

function callsOf({ toolCalls }: AssistantMessage): (SaidCall & { readonly id: string })[] {
  return toolCalls.map(call => {
    const { path, action } = argumentsOf(call) ?? {};
    const file = typeof path === 'string' && path !== '' ? { path } : {};
    return { id: call.id, name: call.name, ...file, action, failed: false };
  });
}

/** A result that stands alone, because a branch starts with it, in the words for its call. */
function saidOfResult(tree: ConversationTree, node: NodeId): string {
  const result = tree.get(node)?.message;
  if (result?.role !== 'tool') return '';
  let at = tree.get(node);
  while (at && at.message.role !== 'assistant') at = at.parentId === null ? undefined : tree.get(at.parentId);
  const calls = at?.message.role === 'assistant' ? callsOf(at.message) : [];
  const call = calls.find(({ id }) => id === result.toolCallId) ?? { name: result.toolName };
  return sayCalls([{ ...call, failed: result.isError }]);
}

function hasFailed(tree: ConversationTree, row: TurnRow | StepRow | StepsRow): boolean {
  if (row.kind === 'turn') return false;
  if (row.kind === 'steps') return row.steps.some(step => hasFailed(tree, step));
  return row.nodes.some(node => {
    const message = tree.get(node)?.message;
    return message?.role === 'tool' && message.isError;
  });
}

function branchItem(tree: ConversationTree, row: BranchRow): vscode.TreeItem {
  const { node, tip, length, tags } = row;
  const tag = tags.at(-1);
  const message = tree.get(node)?.message;
  const label = tag ? tagLabel(tag) : message ? labelOf(tree, message, node) : renderNodeId(node);
  const item = new vscode.TreeItem(label, vscode.TreeItemCollapsibleState.Collapsed);
  item.iconPath = tag ? tagIcon(tag) : new vscode.ThemeIcon('git-branch');
  const count = countText(vscode.l10n.t('1 message|{0} messages'), vscode.l10n)(length);
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

/** Branches can be seen without unfolding anything. */
function stateOf(left: number, hasSteps = false): vscode.TreeItemCollapsibleState {
  const { Collapsed, Expanded, None } = vscode.TreeItemCollapsibleState;
  if (left > 0) return Expanded;
  return hasSteps ? Collapsed : None;
}

function hereText(): string {
  return vscode.l10n.t('current');
}

function branchText(left: number): string {
  if (left === 0) return '';
  return countText(vscode.l10n.t('1 branch|{0} branches'), vscode.l10n)(left);
}

function joined(...parts: readonly string[]): string {
  return parts.filter(part => part !== '').join(' · ');
}

function labelOf(tree: ConversationTree, message: SessionMessage, node: NodeId | undefined): string {
  if (isSummary(message)) return vscode.l10n.t('Summary of earlier messages');
  const said = message.role === 'tool' && node !== undefined ? saidOfResult(tree, node) : '';
  return oneLine(said || plainTextOf(tree, message, node)) || vscode.l10n.t('(no text)');
}

function isSummary(message: SessionMessage): boolean {
  return message.role === 'steering' && message.kind === 'summary';
}

function plainTextOf(tree: ConversationTree, message: SessionMessage, node: NodeId | undefined): string {
  if (message.role === 'tool') return message.content;
  if (message.text.trim() !== '' || message.role !== 'assistant' || node === undefined) return message.text;
  return message.error ?? saidOf(tree, [{ kind: 'step', node, nodes: [node] }]);
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
