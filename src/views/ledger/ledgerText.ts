import * as vscode from 'vscode';
import type { LedgerEntry } from '../../agent/preview/ledger.ts';
import { humanReason } from '../../agent/preview/resolve/resolveTexts.ts';
import { agentLabel } from '../agentLabel.ts';
import { detailsText } from '../detailsText.ts';
import { oneLine } from '../plainText.ts';

/** One paragraph for each attempt, newest first. */
export function ledgerText(entries: readonly LedgerEntry[]): string {
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
  const agent = entry.agent ? [agentLabel(entry.agent)] : [];
  const about = [entry.previewId, oneLine(entry.sourceToolName), ...agent].join(', ');
  return [
    `${timeText(entry.at)}  ${outcomeTitle(entry)}: ${oneLine(entry.label)} (${about})`,
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
function actorText({ actor, agent }: LedgerEntry): string {
  switch (actor) {
    case 'human':
      return vscode.l10n.t('you');
    case 'model':
      return agent ? agentLabel(agent) : vscode.l10n.t('the model');
    case 'extension':
      return vscode.l10n.t('another extension');
  }
}

/** Whether the message of the attempt is an error. */
export function isError({ outcome }: LedgerEntry): boolean {
  return outcome === 'failed' || outcome === 'returnedError';
}

/** The outcome of an attempt and who made it: `Applied by you`. */
export function outcomeTitle(entry: LedgerEntry): string {
  const { outcome, action } = entry;
  const actor = actorText(entry);
  switch (outcome) {
    case 'applied':
      return vscode.l10n.t('Applied by {0}', actor);
    case 'returnedError':
      return vscode.l10n.t('Applied by {0}, and returned an error', actor);
    case 'discarded':
      return vscode.l10n.t('Discarded by {0}', actor);
    case 'failed':
      return action === 'apply'
        ? vscode.l10n.t('Apply by {0} failed, and the preview was not applied', actor)
        : vscode.l10n.t('Discard by {0} failed, and the preview was not discarded', actor);
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
