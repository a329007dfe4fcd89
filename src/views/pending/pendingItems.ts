import * as vscode from 'vscode';
import type { FileChange, FileChangeKind } from '../../agent/preview/fileChange.ts';
import { titleOf, type Preview } from '../../agent/preview/preview.ts';
import { conflictsLeft } from '../../agent/preview/rebase/conflictMarkers.ts';
import { makeCommand } from '../commandRegistry.ts';
import { detailsText } from '../detailsText.ts';
import { asMarkdown, escapeInvisible, oneLine } from '../plainText.ts';
import type { FileUris } from '../review/previewUri.ts';
import type { PendingNode } from './pendingNodes.ts';

/** The most files that a tooltip lists. */
const MAX_TOOLTIP_FILES = 10;

/** The `viewItem` values that menus in package.json test. */
type RowContext =
  'redline.pending' | 'redline.applying' | 'redline.expired' | 'redline.resolved' | 'redline.file';

/** The row of a preview. */
export function previewItem(preview: Preview): vscode.TreeItem {
  const { id, changes } = preview;
  const files = changes?.length ?? 0;
  const { Collapsed, None } = vscode.TreeItemCollapsibleState;
  const label = oneLine(titleOf(preview));
  const item = new vscode.TreeItem(label, files > 0 ? Collapsed : None);
  const state = stateText(preview);
  // A narrow side bar cuts off the end, so the state comes first.
  item.description = [state, id].filter(part => part !== '').join(' · ');
  item.iconPath = iconOf(preview);
  item.contextValue = contextOf(preview);
  item.command = makeCommand(vscode.l10n.t('Open'), 'redline.preview.open', id);
  const kind = preview.state.kind === 'expired' ? vscode.l10n.t('expired') : filesText(preview);
  item.accessibilityInformation = {
    label: [...new Set([label, id, kind, state])].filter(part => part !== '').join(', '),
  };
  return item;
}

/** The row of one file of a preview. */
export function fileItem(preview: Preview, change: FileChange, files: FileUris): vscode.TreeItem {
  const item = new vscode.TreeItem(files(change.path));
  const kind = kindText(change);
  const path = escapeInvisible(change.path);
  const folder = path.split('/').slice(0, -1).join('/');
  item.label = path.split('/').at(-1) ?? path;
  item.description = [folder, kind].filter(part => part !== '').join(' · ');
  item.iconPath = vscode.ThemeIcon.File;
  item.contextValue = 'redline.file' satisfies RowContext;
  item.tooltip = change.kind === 'rename' ? `${escapeInvisible(change.from)} → ${path}` : path;
  item.command = makeCommand(vscode.l10n.t('Open'), 'redline.preview.open', preview.id, change.path);
  item.accessibilityInformation = { label: `${path}, ${kind || vscode.l10n.t('modified')}` };
  return item;
}

/** The row that holds further previews, or the expired ones. */
export function groupItem(node: Extract<PendingNode, { kind: 'more' | 'expired' }>): vscode.TreeItem {
  const label =
    node.kind === 'more' ? vscode.l10n.t('{0} more', node.count) : vscode.l10n.t('Expired ({0})', node.count);
  const item = new vscode.TreeItem(label, vscode.TreeItemCollapsibleState.Collapsed);
  item.iconPath = new vscode.ThemeIcon(node.kind === 'more' ? 'ellipsis' : 'history');
  if (node.kind === 'expired') {
    item.contextValue = 'redline.expiredGroup';
    item.tooltip = vscode.l10n.t('These actions were lost when the window closed. Ask for them again.');
  }
  return item;
}

/** All the details of a preview. Foreign text is escaped, never rendered as markdown. */
export function previewTooltip(preview: Preview): vscode.MarkdownString {
  const { id, sourceToolName, state } = preview;
  const lines = [`**${asMarkdown(titleOf(preview))}** (${id}, ${asMarkdown(sourceToolName)})`];
  const add = (icon: string, text: string): void => void lines.push(`$(${icon}) ${asMarkdown(text, 500)}`);
  if (state.kind === 'pending') {
    if (state.stale.length > 0)
      add('warning', vscode.l10n.t('Stale: {0} changed after this was proposed.', state.stale.join(', ')));
    else if (state.lastError !== undefined) add('error', vscode.l10n.t('Apply failed: {0}', state.lastError));
    if (state.recommendation) add('comment', recommendationText(state.recommendation));
  }
  if (state.kind === 'expired') add('history', expiredText(state.interrupted));
  const changes = preview.changes ?? [];
  for (const change of changes.slice(0, MAX_TOOLTIP_FILES)) add(kindIcons[change.kind], change.path);
  const more = changes.length - MAX_TOOLTIP_FILES;
  if (more > 0) add('ellipsis', vscode.l10n.t('{0} more', more));
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

/** What the row shows beside the label: what the user should know before applying or discarding. */
function stateText(preview: Preview): string {
  const { state } = preview;
  const conflicts = conflictsLeft(preview.changes ?? []);
  switch (state.kind) {
    case 'pending':
      if (conflicts > 0) return conflictsText(conflicts);
      if (state.stale.length > 0) return vscode.l10n.t('stale');
      if (state.lastError !== undefined) return vscode.l10n.t('Apply failed');
      if (state.recommendation) return recommendationText(state.recommendation);
      return filesText(preview);
    case 'applying':
      return vscode.l10n.t('resolving…');
    case 'applied':
      return vscode.l10n.t('applied');
    case 'discarded':
      return vscode.l10n.t('discarded');
    case 'expired':
      return oneLine(preview.sourceToolName);
  }
}

/** How many conflicts a preview has left. */
export function conflictsText(count: number): string {
  return count === 1 ? vscode.l10n.t('1 conflict left') : vscode.l10n.t('{0} conflicts left', count);
}

function filesText({ kind, changes, sourceToolName }: Preview): string {
  if (kind !== 'files') return oneLine(sourceToolName);
  return changes.length === 1 ? '' : vscode.l10n.t('{0} files', changes.length);
}

function recommendationText({ action, reason }: { action: 'apply' | 'discard'; reason: string }): string {
  return action === 'apply'
    ? vscode.l10n.t('model recommends Apply: {0}', oneLine(reason))
    : vscode.l10n.t('model recommends Discard: {0}', oneLine(reason));
}

function kindText(change: FileChange): string {
  switch (change.kind) {
    case 'modify':
      return '';
    case 'create':
      return vscode.l10n.t('new');
    case 'delete':
      return vscode.l10n.t('deleted');
    case 'rename':
      return vscode.l10n.t('renamed from {0}', escapeInvisible(change.from));
  }
}

const kindIcons: Readonly<Record<FileChangeKind, string>> = {
  modify: 'diff-modified',
  create: 'diff-added',
  delete: 'diff-removed',
  rename: 'diff-renamed',
};

const kindColors: Readonly<Record<FileChangeKind, string>> = {
  modify: 'gitDecoration.modifiedResourceForeground',
  create: 'gitDecoration.addedResourceForeground',
  delete: 'gitDecoration.deletedResourceForeground',
  rename: 'gitDecoration.renamedResourceForeground',
};

function iconOf(preview: Preview): vscode.ThemeIcon {
  const { state } = preview;
  const icon = (id: string, color?: string): vscode.ThemeIcon =>
    new vscode.ThemeIcon(id, color === undefined ? undefined : new vscode.ThemeColor(color));
  if (state.kind === 'applying') return icon('sync~spin');
  if (state.kind === 'expired') return icon('circle-slash');
  if (state.kind === 'pending' && state.stale.length > 0) return icon('warning', 'list.warningForeground');
  if (state.kind === 'pending' && state.lastError !== undefined) return icon('error', 'list.errorForeground');
  if (preview.kind !== 'files') return icon(preview.sourceToolName === 'run_command' ? 'terminal' : 'zap');
  const [kind, ...others] = new Set(preview.changes.map(change => change.kind));
  return kind && others.length === 0 ? icon(kindIcons[kind], kindColors[kind]) : icon('diff-multiple');
}

function contextOf({ state }: Preview): RowContext {
  switch (state.kind) {
    case 'pending':
      return 'redline.pending';
    case 'applying':
      return 'redline.applying';
    case 'expired':
      return 'redline.expired';
    case 'applied':
    case 'discarded':
      return 'redline.resolved';
  }
}
