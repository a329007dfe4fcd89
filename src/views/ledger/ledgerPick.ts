import * as vscode from 'vscode';
import type { LedgerEntry, Outcome } from '../../agent/preview/ledger.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import { reasonGiven } from '../../agent/preview/resolve/resolveTexts.ts';
import { execute } from '../commandRegistry.ts';
import { agentLabel, withoutIcons } from '../plainText.ts';
import { openLedgerDocument } from './ledgerDocument.ts';
import { ledgerRows, type LedgerRow } from './ledgerRows.ts';
import { byText } from '../texts/previewWords.ts';
import { checksLine, dayText, isError, outcomeTitle, placeOf, timeText, whyTexts } from './ledgerText.ts';

/** The most attempts that the list shows; the document shows all of them. */
const MAX_ROWS = 1_000;

interface LedgerItem extends vscode.QuickPickItem {
  readonly row?: LedgerRow;
}

const icons: Readonly<Record<Outcome, string>> = {
  applied: '$(check)',
  discarded: '$(discard)',
  returnedError: '$(warning)',
  failed: '$(error)',
};

/** A searchable list of who resolved what, when and why, with buttons to undo or reopen. */
export function showLedger(store: PreviewStore): void {
  const pick = vscode.window.createQuickPick<LedgerItem>();
  const asDocument: vscode.QuickInputButton = {
    iconPath: new vscode.ThemeIcon('go-to-file'),
    tooltip: vscode.l10n.t('Open as Document'),
  };
  pick.title = vscode.l10n.t('Redline Ledger');
  pick.placeholder = vscode.l10n.t('Search, or select an entry to see its diff');
  pick.matchOnDescription = true;
  pick.matchOnDetail = true;
  pick.buttons = [asDocument];
  pick.items = itemsOf(ledgerRows(store, MAX_ROWS));
  pick.onDidTriggerButton(() => {
    pick.hide();
    void openLedgerDocument();
  });
  pick.onDidAccept(() => {
    const row = pick.selectedItems[0]?.row;
    if (!row?.shows) return;
    pick.hide();
    void execute('redline.preview.open', row.entry.previewId);
  });
  pick.onDidTriggerItemButton(({ item: { row } }) => {
    if (!row?.offers) return;
    pick.hide();
    const command = row.offers === 'reopen' ? 'redline.preview.reopen' : 'redline.preview.undo';
    void execute(command, row.target);
  });
  pick.onDidHide(() => pick.dispose());
  pick.show();
}

function itemsOf(rows: readonly LedgerRow[]): LedgerItem[] {
  if (rows.length === 0) return [{ label: vscode.l10n.t('Nothing has been applied or discarded yet.') }];
  let day: string | undefined;
  return rows.flatMap(row => {
    const heading = dayText(row.entry.at);
    const separator = { label: heading, kind: vscode.QuickPickItemKind.Separator };
    const items = heading === day ? [ledgerItem(row)] : [separator, ledgerItem(row)];
    day = heading;
    return items;
  });
}

function ledgerItem(row: LedgerRow): LedgerItem {
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
      `${undoneBy ? '$(history)' : icons[entry.outcome]} ${outcomeTitle(entry, undoneBy)}`,
      ...(isError(entry) ? [byText(entry.actor, entry.agent && agentLabel(entry.agent))] : []),
      ...(entry.checks ? [checksLine(entry)] : []),
      timeText(entry.at),
      ...placeOf(entry).map(place => withoutIcons(place)),
    ].join(' · '),
    description: [withoutIcons(title), entry.previewId, ...agent].join(' · '),
    detail: withoutIcons(detailOf(entry), 300),
    buttons: button ? [button] : [],
    row,
  };
}

/** The reason, if one was given, or the error, what led to the decision, and the files. */
function detailOf(entry: LedgerEntry): string {
  const paths = [...new Set(entry.files.map(file => file.path))].join(', ');
  const why = isError(entry) ? entry.message : reasonGiven(entry);
  return [why, ...whyTexts(entry), paths].filter(part => part !== undefined && part !== '').join(' · ');
}
