import * as vscode from 'vscode';
import type { LedgerEntry } from '../../agent/preview/ledger.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import { LEDGER_SCHEME } from '../contributions.ts';
import { detailsText } from '../detailsText.ts';
import { oneLine } from '../plainText.ts';
import { dayText, outcomeTitle, reasonText, timeText } from './ledgerTexts.ts';

const uri = vscode.Uri.from({ scheme: LEDGER_SCHEME, path: '/Redline Ledger' });

/** Serves the whole ledger as a document that nobody can write in. It follows what is resolved while it is open. */
export function registerLedgerDocument(store: PreviewStore): vscode.Disposable {
  const changed = new vscode.EventEmitter<vscode.Uri>();
  const provider: vscode.TextDocumentContentProvider = {
    onDidChange: changed.event,
    provideTextDocumentContent: () => ledgerText(store.ledger()),
  };
  return vscode.Disposable.from(
    changed,
    store.onDidResolve(() => changed.fire(uri)),
    vscode.workspace.registerTextDocumentContentProvider(LEDGER_SCHEME, provider),
  );
}

export async function openLedgerDocument(): Promise<void> {
  await vscode.window.showTextDocument(uri, { preview: true });
}

/** The newest first, one paragraph for each attempt. */
function ledgerText(entries: readonly LedgerEntry[]): string {
  if (entries.length === 0) return `${vscode.l10n.t('Nothing has been applied or discarded yet.')}\n`;
  let day: string | undefined;
  const lines = [...entries].reverse().flatMap(entry => {
    const heading = dayText(entry.at);
    const head = heading === day ? [] : [heading, ''];
    day = heading;
    return [...head, ...paragraph(entry), ''];
  });
  return `${lines.join('\n')}\n`;
}

function paragraph(entry: LedgerEntry): string[] {
  const files = entry.files.map(file => `    ${file.path}  ${short(file.before)} → ${short(file.after)}`);
  const why = reasonText(entry);
  const details = detailsText(entry);
  return [
    `${timeText(entry.at)}  ${outcomeTitle(entry)}: ${oneLine(entry.label)} (${entry.previewId}, ${entry.sourceToolName})`,
    ...(why === undefined ? [] : [`    ${oneLine(why, 2_000)}`]),
    ...(entry.outcome === 'failed' && entry.message !== undefined
      ? [`    ${oneLine(entry.message, 2_000)}`]
      : []),
    ...(details === undefined ? [] : [`    ${oneLine(details, 2_000)}`]),
    ...files,
  ];
}

/** The first figures of a content's hash; a dash for no file. */
function short(hash: string | null): string {
  return hash?.slice(0, 8) ?? '–';
}
