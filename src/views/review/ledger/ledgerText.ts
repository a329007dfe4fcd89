import * as vscode from 'vscode';
import type { LedgerEntry, LostFile } from '../../../agent/hold/preview/ledger.ts';
import type { PreviewStore } from '../../../agent/hold/preview/previewStore.ts';
import { reasonGiven } from '../../../agent/hold/preview/resolve/resolveTexts.ts';
import type { Actor } from '../../../agent/hold/preview/preview.ts';
import { agentLabel, detailsText, escapeProse, oneLine, plural } from '../../plainText.ts';
import { byText, outcomeText, recommendationText, runText } from '../../texts/previewWords.ts';
import { ledgerRows, type LedgerRow } from './ledgerRows.ts';
import { checksText } from '../../texts/checkWords.ts';

/** One paragraph for each attempt, newest first. */
export async function ledgerText(store: PreviewStore): Promise<string> {
  const rows = ledgerRows(store, await store.wholeLedger());
  if (rows.length === 0) return `${vscode.l10n.t('Nothing has been applied or discarded yet.')}\n`;
  let day: string | undefined;
  const lines = rows.flatMap(row => {
    const heading = dayText(row.entry.at);
    const head = heading === day ? [] : [heading, ''];
    day = heading;
    return [...head, ...paragraph(row), ''];
  });
  return `${lines.join('\n')}\n`;
}

function paragraph({ entry, title, undoneBy }: LedgerRow): string[] {
  const files = entry.files.map(
    file => `    ${oneLine(file.path, Infinity)}  ${short(file.before)} → ${short(file.after)}`,
  );
  const why = reasonGiven(entry);
  const details = detailsText(entry);
  const agent = entry.agent ? [agentLabel(entry.agent)] : [];
  const by = isError(entry) ? [byText(entry.actor, entry.agent && agentLabel(entry.agent))] : [];
  const about = [entry.previewId, oneLine(entry.sourceToolName), ...agent, ...by].join(', ');
  return [
    `${timeText(entry.at)}  ${outcomeTitle(entry, undoneBy)}: ${oneLine(title)} (${about})`,
    ...(why === undefined ? [] : [`    ${oneLine(why, 2_000)}`]),
    ...whyTexts(entry).map(text => `    ${oneLine(text, 2_000)}`),
    ...errorTexts(entry).map(text => `    ${oneLine(text, 2_000)}`),
    ...(details === undefined ? [] : [`    ${oneLine(details, 2_000)}`]),
    ...(entry.checks ? [`    ${checksLine(entry)}`] : []),
    ...files,
  ];
}

/** Checks that had a result on it, passed or failed. Empty for none. */
export function checksLine({ checks = [] }: LedgerEntry): string {
  const marks = checks.map(({ name, outcome, failures, changed, seconds }) => ({
    name,
    state: outcome,
    failures,
    changed,
    seconds,
    isCurrent: true,
    problems: 0,
    isFlaky: false,
  }));
  const others = new Set(checks.flatMap(({ together = [] }) => together));
  const text = checksText(marks, oneLine);
  const forms = vscode.l10n.t('{1}, together with 1 other change|{1}, together with {0} other changes');
  return others.size === 0 ? text : plural(forms, others.size, text);
}

/** The start of a content hash; a dash if there is no file. */
function short(hash: string | null): string {
  return hash?.slice(0, 8) ?? '–';
}

/** Errors, each as a sentence. */
export function errorTexts(entry: LedgerEntry): readonly string[] {
  if (entry.lost) return entry.lost.map(lostText);
  return isError(entry) && entry.message !== undefined ? [entry.message] : [];
}

/** Why an applied change did not stay in a file: `cart.ts: …`. */
export function lostText({ path, why }: LostFile): string {
  const { l10n } = vscode;
  const name = escapeProse(path);
  switch (why) {
    case 'sameLines':
      return l10n.t('{0}: you changed the same lines in the editor at the same moment.', name);
    case 'savedOver':
      return l10n.t('{0}: its editor saved what it had held before.', name);
    case 'notSaved':
      return l10n.t('{0}: its editor was closed or reverted without saving it.', name);
  }
}

/** Whether the message of the attempt is an error. */
export function isError({ outcome }: LedgerEntry): boolean {
  return outcome === 'failed' || outcome === 'returnedError';
}

/** The outcome of an attempt: `Applied by you`. For a failed attempt, {@link byText} says whose it was. */
export function outcomeTitle(entry: LedgerEntry, undoneBy?: Actor): string {
  const { outcome, action, actor, agent, run, kind } = entry;
  const { l10n } = vscode;
  if (undoneBy) return outcomeText('undone', undoneBy, undefined);
  switch (outcome) {
    case 'applied':
    case 'discarded':
      if (run) return [runText(run), byText(actor, agent && agentLabel(agent))].join(' · ');
      return outcomeText(outcome, actor, agent && agentLabel(agent), kind === 'plan');
    case 'returnedError':
      return l10n.t('Applied, and returned an error');
    case 'failed':
      if (entry.lost) return l10n.t('Applied, but it did not stay');
      return action === 'apply'
        ? l10n.t('Apply failed, and the preview was not applied')
        : l10n.t('Discard failed, and the preview was not discarded');
  }
}

/** Place of a change: `cart.ts, hunk 2`, `cart.ts` or `3 files`. */
export function placeOf({ files, hunk }: LedgerEntry): readonly string[] {
  const [first, ...others] = new Set(files.map(({ path }) => path));
  if (first === undefined) return [];
  if (others.length > 0) return [plural(vscode.l10n.t('1 file|{0} files'), others.length + 1)];
  const name = first.slice(first.lastIndexOf('/') + 1);
  return [hunk === undefined ? name : vscode.l10n.t('{1}, hunk {0}', hunk, name)];
}

/** Reasons for a decision, each as a sentence or a few words. */
export function whyTexts({ recommendation, editedByUser, prompt }: LedgerEntry): readonly string[] {
  const { l10n } = vscode;
  return [
    ...(editedByUser ? [l10n.t('edited by you')] : []),
    ...(recommendation ? [recommendationText(recommendation, escapeProse)] : []),
    ...(prompt === undefined ? [] : [l10n.t('Prompt: {0}', escapeProse(prompt))]),
  ];
}

export function timeText(at: string): string {
  return new Date(at).toLocaleTimeString(vscode.env.language, { hour: '2-digit', minute: '2-digit' });
}

export function dayText(at: string): string {
  return new Date(at).toLocaleDateString(vscode.env.language, { dateStyle: 'full' });
}

/** The day and the time. */
export function momentText(at: string): string {
  return new Date(at).toLocaleString(vscode.env.language, { dateStyle: 'medium', timeStyle: 'short' });
}
