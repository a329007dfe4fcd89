import * as vscode from 'vscode';
import type { LedgerEntry, Outcome } from '../../../agent/hold/preview/ledger.ts';
import type { PreviewStore } from '../../../agent/hold/preview/previewStore.ts';
import { reasonGiven } from '../../../agent/hold/preview/resolve/resolveTexts.ts';
import { execute } from '../../commandRegistry.ts';
import { agentLabel, withoutIcons } from '../../plainText.ts';
import { openLedgerDocument } from './ledgerDocument.ts';
import { ledgerRows, type LedgerRow } from './ledgerRows.ts';
import { byText, hasSucceeded } from '../../texts/previewWords.ts';
import {
  checksLine,
  dayText,
  errorTexts,
  isError,
  momentText,
  outcomeTitle,
  placeOf,
  timeText,
  whyTexts,
} from './ledgerText.ts';
import { trailersOf } from '../../../agent/hold/external/applied/commitMessage.ts';
import type { AppliedPreview } from '../../../agent/hold/preview/lineOrigins.ts';

/** The most attempts that the list shows; the document shows all of them. */
const MAX_ROWS = 1_000;

interface LedgerItem extends vscode.QuickPickItem {
  readonly row?: LedgerRow;
}

const icons: Readonly<Record<Outcome, string>> = {
  applied: '$(check)',
  discarded: '$(close)',
  returnedError: '$(warning)',
  failed: '$(error)',
};

/** Groupings of the list, in the order in which the button cycles through them. */
const GROUPINGS = ['day', 'prompt', 'decision'] as const;
type Grouping = (typeof GROUPINGS)[number];

/** A searchable list of who resolved what, when and why, with buttons to undo, reopen or copy. */
export function showLedger(store: PreviewStore): void {
  const pick = vscode.window.createQuickPick<LedgerItem>();
  const asDocument: vscode.QuickInputButton = {
    iconPath: new vscode.ThemeIcon('go-to-file'),
    tooltip: vscode.l10n.t('Open as Document'),
  };
  const exports: vscode.QuickInputButton = {
    iconPath: new vscode.ThemeIcon('export'),
    tooltip: vscode.l10n.t('Export Ledger…'),
  };
  pick.title = vscode.l10n.t('Redline Ledger');
  pick.placeholder = vscode.l10n.t('Search, or select an entry to see its diff');
  pick.matchOnDescription = true;
  pick.matchOnDetail = true;
  const rows = ledgerRows(store, store.ledger().slice(-MAX_ROWS));
  let grouping: Grouping = 'day';
  const show = (): void => {
    pick.buttons = [groupButton(after(grouping)), asDocument, exports];
    pick.items = itemsOf(rows, grouping);
  };
  show();
  pick.onDidTriggerButton(button => {
    if (button !== asDocument && button !== exports) {
      grouping = after(grouping);
      return show();
    }
    pick.hide();
    void (button === exports ? execute('redline.ledger.export') : openLedgerDocument());
  });
  pick.onDidAccept(() => {
    const row = pick.selectedItems[0]?.row;
    if (!row?.shows) return;
    pick.hide();
    void execute('redline.preview.open', row.entry.previewId);
  });
  pick.onDidTriggerItemButton(({ item: { row }, button }) => {
    const preview = row && store.get(row.entry.previewId);
    if (button instanceof CopyButton) return void (row && preview && copyTrailers({ ...row, preview }));
    if (!row?.offers) return;
    pick.hide();
    const command = row.offers === 'reopen' ? 'redline.preview.reopen' : 'redline.preview.undo';
    void execute(command, row.target);
  });
  pick.onDidHide(() => pick.dispose());
  pick.show();
}

function after(grouping: Grouping): Grouping {
  return GROUPINGS[(GROUPINGS.indexOf(grouping) + 1) % GROUPINGS.length] ?? 'day';
}

function groupButton(next: Grouping): vscode.QuickInputButton {
  const tooltip = {
    day: vscode.l10n.t('Group by Day'),
    prompt: vscode.l10n.t('Group by Prompt'),
    decision: vscode.l10n.t('Group by Decision'),
  }[next];
  return { iconPath: new vscode.ThemeIcon('group-by-ref-type'), tooltip };
}

/** Copies the reviewers and agents of applied changes, as the last lines of a commit's message. */
class CopyButton implements vscode.QuickInputButton {
  readonly iconPath = new vscode.ThemeIcon('copy');
  readonly tooltip = vscode.l10n.t('Copy as Commit Trailer');
}

function groupOf({ entry, undoneBy }: LedgerRow, grouping: Grouping): string {
  switch (grouping) {
    case 'day':
      return dayText(entry.at);
    case 'prompt':
      return entry.prompt === undefined ? vscode.l10n.t('Without a prompt') : withoutIcons(entry.prompt);
    case 'decision':
      return outcomeTitle(entry, undoneBy);
  }
}

/** The groups in the order of their newest entries. Sets of one prompt that was sent twice are two groups. */
function itemsOf(rows: readonly LedgerRow[], grouping: Grouping): LedgerItem[] {
  if (rows.length === 0) return [{ label: vscode.l10n.t('Nothing has been applied or discarded yet.') }];
  const keyOf = (row: LedgerRow): string =>
    `${grouping === 'prompt' ? (row.entry.setId ?? '') : ''} ${groupOf(row, grouping)}`;
  return [...Map.groupBy(rows, keyOf).values()].flatMap(group => [
    ...group
      .slice(0, 1)
      .map(row => ({ label: groupOf(row, grouping), kind: vscode.QuickPickItemKind.Separator })),
    ...group.map(row => ledgerItem(row, grouping)),
  ]);
}

function ledgerItem(row: LedgerRow, grouping: Grouping): LedgerItem {
  const { entry, title, offers, undoneBy } = row;
  const agent = entry.agent ? [withoutIcons(agentLabel(entry.agent))] : [];
  const button = offers && {
    iconPath: new vscode.ThemeIcon(offers === 'undo' ? 'history' : 'redo'),
    tooltip: {
      undo: vscode.l10n.t('Undo Apply'),
      redo: vscode.l10n.t('Apply Again'),
      reopen: vscode.l10n.t('Reopen'),
    }[offers],
  };
  return {
    // A long row is cut off at its end: who did what, when and where comes first.
    label: [
      `${undoneBy ? '$(history)' : iconOf(entry)} ${outcomeTitle(entry, undoneBy)}`,
      ...(isError(entry) ? [byText(entry.actor, entry.agent && agentLabel(entry.agent))] : []),
      ...(entry.checks ? [checksLine(entry)] : []),
      grouping === 'day' ? timeText(entry.at) : momentText(entry.at),
      ...placeOf(entry).map(place => withoutIcons(place)),
    ].join(' · '),
    description: [withoutIcons(title), ...agent].join(' · '),
    detail: withoutIcons(detailOf(entry), 300),
    buttons: [
      ...(row.shows && entry.outcome === 'applied' ? [new CopyButton()] : []),
      ...(button ? [button] : []),
    ],
    row,
  };
}

function iconOf({ outcome, run }: LedgerEntry): string {
  return run && !hasSucceeded(run) ? '$(error)' : icons[outcome];
}

/** The reason, if one was given, or the error, the circumstances of the decision, and the files. */
function detailOf(entry: LedgerEntry): string {
  const paths = [...new Set(entry.files.map(file => file.path))].join(', ');
  const why = isError(entry) ? errorTexts(entry) : [reasonGiven(entry)];
  return [...why, ...whyTexts(entry), paths].filter(part => part !== undefined && part !== '').join(' · ');
}

/** How long the status bar confirms a copy, in milliseconds. */
const STATUS_MS = 4_000;

/** Copies the commit trailers of applied changes to the clipboard. */
export async function copyTrailers(applied: AppliedPreview): Promise<void> {
  await vscode.env.clipboard.writeText(`${trailersOf(applied).join('\n')}\n`);
  void vscode.window.setStatusBarMessage(vscode.l10n.t('The commit trailers were copied'), STATUS_MS);
}
