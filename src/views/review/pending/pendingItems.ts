import * as vscode from 'vscode';
import type { FileChange, FileChangeKind } from '../../../agent/hold/preview/fileChange.ts';
import { blockOf, isOpen, titleOf, type Preview } from '../../../agent/hold/preview/preview.ts';
import {
  faceOf,
  previewView,
  type CheckMark,
  type PreviewFacts,
  type PreviewProblem,
  type PreviewView,
} from '../../../agent/hold/preview/previewView.ts';
import type { PreviewStore } from '../../../agent/hold/preview/previewStore.ts';
import { Lineage } from '../../../agent/hold/preview/resolve/lineage.ts';
import { agentLabel, escapeInvisible, oneLine, plural } from '../../plainText.ts';
import { rowUri, type FileUris } from '../../workspace/previewUri.ts';
import { checkSentence, checksText, isRed } from '../../texts/checkWords.ts';
import {
  allText,
  conflictsLeftText,
  hasSucceeded,
  kindIcons,
  outcomeWord,
  recommendationText,
  runText,
  underWayText,
} from '../../texts/previewWords.ts';
import { riskMark, riskText } from '../../texts/riskWords.ts';
import { openSelected } from './openSelected.ts';
import type { PendingNode } from './pendingNode.ts';

/** The icon of a row with a problem. Beside it, a risk has no sign of its own. */
const WARNING = 'warning';
/** The most risks of a preview that a screen reader is given with its row. */
const MAX_SAID_RISKS = 5;

/** The `viewItem` values that menus in package.json test. */
type RowContext =
  | 'redline.pending'
  | 'redline.stale'
  | 'redline.conflicts'
  | 'redline.applying'
  | 'redline.expired'
  | 'redline.resolved'
  | 'redline.file'
  | 'redline.blockedFile'
  | 'redline.decidedFile';

/**
 * The row of a preview.
 * @param lookedAt how many of its files the user has looked at
 * @param known facts about it: the results of checks on it, its risks, and later events
 */
export function previewItem(
  preview: Preview,
  files: FileUris,
  lookedAt = 0,
  known: PreviewFacts = {},
): vscode.TreeItem {
  const { id, changes } = preview;
  const count = changes?.length ?? 0;
  const { Collapsed, None } = vscode.TreeItemCollapsibleState;
  const label = oneLine(titleOf(preview));
  const row = withoutFolder(label, changes ?? []);
  const item = new vscode.TreeItem(row.label, count > 1 ? Collapsed : None);
  const [only] = count === 1 ? (changes ?? []) : [];
  if (only) item.resourceUri = rowUri(id, only, files);
  const looked = lookedAtText(count, lookedAt);
  const filesRead = looked !== '' && count > 1 ? looked : filesText(preview);
  const view = previewView(preview, known);
  const state = stateText(view, filesRead);
  // A narrow side bar cuts off the end, or all but the label. So the sign of a risk precedes the label, and the problem comes
  // right after it.
  const agent = preview.origin?.agent ? agentLabel(preview.origin.agent) : '';
  item.iconPath = iconOf(view);
  if (view.risks.length > 0 && item.iconPath.id !== WARNING) item.label = `⚠ ${row.label}`;
  const isCalm = ({ state, isCurrent }: CheckMark): boolean =>
    state === 'notTested' || (state === 'passed' && isCurrent);
  const checksAs = (calm: boolean): string =>
    checksText(
      view.checks.filter(check => isCalm(check) === calm),
      oneLine,
    );
  item.description = [
    ...problemTexts(view),
    checksAs(false),
    riskMark(view.risks),
    state,
    state === looked ? '' : looked,
    checksAs(true),
    ...[agent, row.folder],
  ]
    .filter(part => part !== '')
    .join(' · ');
  item.contextValue = contextOf(preview);
  item.command = openSelected();
  const kind = preview.state.kind === 'expired' ? vscode.l10n.t('expired') : filesText(preview);
  item.accessibilityInformation = {
    label: [
      ...new Set([
        label,
        kind,
        ...problemTexts(view),
        ...view.checks.map(check => checkSentence(check, oneLine)),
        state,
        ...adviceTexts(view),
        ...view.risks.slice(0, MAX_SAID_RISKS).map(risk => riskText(risk, oneLine)),
        looked,
        agent,
      ]),
    ]
      .filter(part => part !== '')
      .map(part => part.replace(/[.。]$/, ''))
      .join(', '),
  };
  return item;
}

/**
 * The label with only the name of the one file that it names: rows of one folder would be cut where they differ. In a rename, the
 * folders matter.
 */
function withoutFolder(label: string, changes: readonly FileChange[]): { label: string; folder: string } {
  const [only, ...others] = changes;
  const path = oneLine(only?.path ?? '');
  const end = path.lastIndexOf('/');
  const isNamed = others.length === 0 && only?.kind !== 'rename' && label.includes(path);
  if (!isNamed || end < 0) return { label, folder: '' };
  return { label: label.replace(path, () => path.slice(end + 1)), folder: path.slice(0, end) };
}

/** Finds the outcome of resolved previews; cached until the store changes. */
export class ResolvedFacts {
  readonly #store: PreviewStore;
  #lineage: Lineage | undefined;

  constructor(store: PreviewStore) {
    this.#store = store;
  }

  /** Only a resolved preview may have been undone since, and only one that runs something needs its last attempt. */
  of(preview: Preview): PreviewFacts {
    if (isOpen(preview)) return {};
    const facts = (this.#lineage ??= new Lineage(this.#store.all())).factsOf(preview);
    if (preview.kind === 'files') return facts;
    const lastAttempt = this.#store.ledger().findLast(({ previewId }) => previewId === preview.id);
    return { ...facts, lastAttempt };
  }
}

/** How much of a preview the user has looked at, in words: a tick stands for a decision. Empty if nothing. */
function lookedAtText(files: number, lookedAt: number): string {
  if (lookedAt === 0) return '';
  return files > 1 ? vscode.l10n.t('{0} of {1} viewed', lookedAt, files) : vscode.l10n.t('viewed');
}

/** The row of one file of a preview. */
export function fileItem(
  preview: Preview,
  change: FileChange,
  files: FileUris,
  isLookedAt = false,
): vscode.TreeItem {
  const item = new vscode.TreeItem(rowUri(preview.id, change, files));
  const kind = kindText(change);
  const looked = isLookedAt ? vscode.l10n.t('viewed') : '';
  const path = escapeInvisible(change.path);
  const folder = path.split('/').slice(0, -1).join('/');
  item.label = path.split('/').at(-1) ?? path;
  item.description = [kind, looked, folder].filter(part => part !== '').join(' · ');
  item.iconPath = vscode.ThemeIcon.File;
  item.contextValue = contextOfFile(preview);
  item.tooltip = change.kind === 'rename' ? `${escapeInvisible(change.from)} → ${path}` : path;
  item.command = openSelected();
  const said = [path, kind || vscode.l10n.t('modified'), looked].filter(part => part !== '');
  item.accessibilityInformation = { label: said.join(', ') };
  return item;
}

/** The row that holds further previews, those of one agent, or the expired ones. */
export function groupItem(
  node: Extract<PendingNode, { kind: 'more' | 'agent' | 'expired' | 'all' }>,
): vscode.TreeItem {
  const { Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
  if (node.kind === 'agent') {
    const item = new vscode.TreeItem(oneLine(node.agent) || 'Redline', Expanded);
    item.description = String(node.count);
    item.iconPath = new vscode.ThemeIcon('robot');
    return item;
  }
  if (node.kind === 'all') {
    const item = new vscode.TreeItem(allText('apply', node.count));
    item.iconPath = new vscode.ThemeIcon('check-all');
    item.command = openSelected();
    return item;
  }
  const label =
    node.kind === 'more' ? vscode.l10n.t('{0} more', node.count) : vscode.l10n.t('Expired ({0})', node.count);
  const item = new vscode.TreeItem(label, Collapsed);
  item.iconPath = new vscode.ThemeIcon(node.kind === 'more' ? 'ellipsis' : 'history');
  if (node.kind === 'expired') {
    item.contextValue = 'redline.expiredGroup';
    item.tooltip = vscode.l10n.t(
      'These can no longer be applied: the window was closed, or their agent has ended. Ask for them again.',
    );
  }
  return item;
}

/** How far the preview has come. */
function stateText({ preview, outcome }: PreviewView, filesRead: string): string {
  switch (outcome.kind) {
    case 'pending':
      return outcome.problem ? '' : filesRead;
    case 'applying':
      return underWayText(outcome.action, faceOf(preview));
    case 'applied':
    case 'undone':
    case 'discarded':
      return outcome.kind === 'applied' && outcome.run
        ? runText(outcome.run)
        : outcomeWord(outcome.kind, outcome.actor, preview.kind === 'plan');
    case 'returnedError':
      return vscode.l10n.t('returned an error');
    case 'expired':
      return '';
  }
}

/** Problems that keep it from being applied, and the model's advice against it. The tooltip gives the reasons. */
function problemTexts({ outcome }: PreviewView): string[] {
  if (outcome.kind !== 'pending') return [];
  return [
    ...(outcome.problem ? [problemMark(outcome.problem)] : []),
    ...(outcome.recommendation?.action === 'discard' ? [vscode.l10n.t('not recommended')] : []),
  ];
}

/** Advice on several previews together is in the row of their set. */
function adviceTexts({ outcome }: PreviewView): string[] {
  const advice = outcome.kind === 'pending' ? outcome.recommendation : undefined;
  return advice && !advice.isOfSet ? [recommendationText(advice, oneLine)] : [];
}

/** The problem in a few words: the tooltip has all of it. */
function problemMark(problem: PreviewProblem): string {
  switch (problem.kind) {
    case 'conflicts':
      return conflictsLeftText(problem);
    case 'stale':
      return vscode.l10n.t('stale');
    case 'failed':
      return vscode.l10n.t('last attempt failed');
  }
}

function filesText({ kind, changes, sourceToolName }: Preview): string {
  if (kind === 'plan') return vscode.l10n.t('waiting for approval');
  if (kind !== 'files') return oneLine(sourceToolName);
  return changes.length === 1 ? '' : plural(vscode.l10n.t('1 file|{0} files'), changes.length);
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

const kindColors: Readonly<Record<FileChangeKind, string>> = {
  modify: 'gitDecoration.modifiedResourceForeground',
  create: 'gitDecoration.addedResourceForeground',
  delete: 'gitDecoration.deletedResourceForeground',
  rename: 'gitDecoration.renamedResourceForeground',
};

function iconOf({ preview, outcome, checks }: PreviewView): vscode.ThemeIcon {
  const icon = (id: string, color?: string): vscode.ThemeIcon =>
    new vscode.ThemeIcon(id, color === undefined ? undefined : new vscode.ThemeColor(color));
  if (outcome.kind === 'applying') return icon('sync~spin');
  if (outcome.kind === 'expired') return icon('circle-slash');
  if (outcome.kind === 'applied')
    return !outcome.run || hasSucceeded(outcome.run)
      ? icon('check', 'testing.iconPassed')
      : icon('error', 'list.errorForeground');
  if (outcome.kind === 'undone') return icon('history');
  if (outcome.kind === 'discarded') return icon('close');
  if (outcome.kind === 'returnedError') return icon('error', 'list.errorForeground');
  const problem = outcome.kind === 'pending' ? outcome.problem : undefined;
  if (problem)
    return problem.kind === 'failed'
      ? icon('error', 'list.errorForeground')
      : icon(WARNING, 'list.warningForeground');
  if (preview.kind !== 'files') return icon(preview.purpose === 'command' ? 'terminal' : 'zap');
  const [kind, ...others] = new Set(preview.changes.map(change => change.kind));
  const color = checks.some(check => check.isCurrent && isRed(check)) ? 'list.errorForeground' : undefined;
  return kind && others.length === 0
    ? icon(kindIcons[kind], color ?? kindColors[kind])
    : icon('diff-multiple', color);
}

function contextOf(preview: Preview): RowContext {
  switch (preview.state.kind) {
    case 'pending':
      return `redline.${blockOf(preview) ?? 'pending'}`;
    case 'applying':
      return 'redline.applying';
    case 'expired':
      return 'redline.expired';
    case 'applied':
    case 'discarded':
      return 'redline.resolved';
  }
}

function contextOfFile(preview: Preview): RowContext {
  if (preview.state.kind !== 'pending') return 'redline.decidedFile';
  return blockOf(preview) ? 'redline.blockedFile' : 'redline.file';
}
