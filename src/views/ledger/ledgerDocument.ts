import * as vscode from 'vscode';
import type { LedgerEntry } from '../../agent/preview/ledger.ts';
import type { Actor } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import { humanReason } from '../../agent/preview/resolve/resolveTexts.ts';
import { LEDGER_SCHEME } from '../contributions.ts';
import { detailsText } from '../detailsText.ts';
import { oneLine } from '../plainText.ts';

const uri = vscode.Uri.from({ scheme: LEDGER_SCHEME, path: '/Redline Ledger' });

/** Serves the whole ledger as a read-only document, which is updated when previews are resolved. */
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

/** One paragraph for each attempt, newest first. */
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
  const files = entry.files.map(
    file => `    ${oneLine(file.path, Infinity)}  ${short(file.before)} → ${short(file.after)}`,
  );
  const why = reasonText(entry);
  const details = detailsText(entry);
  return [
    `${timeText(entry.at)}  ${outcomeTitle(entry)}: ${oneLine(entry.label)} (${entry.previewId}, ${oneLine(entry.sourceToolName)})`,
    ...(why === undefined ? [] : [`    ${oneLine(why, 2_000)}`]),
    ...(isError(entry) && entry.message !== undefined ? [`    ${oneLine(entry.message, 2_000)}`] : []),
    ...(details === undefined ? [] : [`    ${oneLine(details, 2_000)}`]),
    ...files,
  ];
}

/** The start of a content hash; a dash if there is no file. */
function short(hash: string | null): string {
  return hash?.slice(0, 8) ?? '–';
}

/** Who resolved, as the user reads it. */
function actorText(actor: Actor): string {
  switch (actor) {
    case 'human':
      return vscode.l10n.t('you');
    case 'model':
      return vscode.l10n.t('the model');
    case 'extension':
      return vscode.l10n.t('another extension');
  }
}

/** Whether the message of the attempt is an error. */
export function isError({ outcome }: LedgerEntry): boolean {
  return outcome === 'failed' || outcome === 'returnedError';
}

/** The outcome of an attempt and who made it: `Applied by you`. */
export function outcomeTitle({ outcome, action, actor }: LedgerEntry): string {
  switch (outcome) {
    case 'applied':
      return vscode.l10n.t('Applied by {0}', actorText(actor));
    case 'returnedError':
      return vscode.l10n.t('Applied by {0}, and returned an error', actorText(actor));
    case 'discarded':
      return vscode.l10n.t('Discarded by {0}', actorText(actor));
    case 'failed':
      return action === 'apply'
        ? vscode.l10n.t('Apply by {0} failed, and the preview was not applied', actorText(actor))
        : vscode.l10n.t('Discard by {0} failed, and the preview was not discarded', actorText(actor));
  }
}

export function timeText(at: string): string {
  return new Date(at).toLocaleTimeString(vscode.env.language, { hour: '2-digit', minute: '2-digit' });
}

export function dayText(at: string): string {
  return new Date(at).toLocaleDateString(vscode.env.language, { dateStyle: 'full' });
}

/** The given reason; `undefined` if the user clicked without giving one. */
export function reasonText({ actor, action, reason }: LedgerEntry): string | undefined {
  return actor === 'human' && reason === humanReason(action) ? undefined : reason;
}
