import * as vscode from 'vscode';
import type { LedgerEntry } from '../../agent/preview/ledger.ts';
import type { Actor } from '../../agent/preview/preview.ts';
import { humanReason } from '../../agent/preview/resolveTexts.ts';

/** Who resolved, for a person. */
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

/** What came of an attempt, by whom: `Applied by you`. */
export function outcomeTitle({ outcome, action, actor }: LedgerEntry): string {
  switch (outcome) {
    case 'applied':
      return vscode.l10n.t('Applied by {0}', actorText(actor));
    case 'discarded':
      return vscode.l10n.t('Discarded by {0}', actorText(actor));
    case 'failed':
      return action === 'apply'
        ? vscode.l10n.t('Apply by {0} failed', actorText(actor))
        : vscode.l10n.t('Discard by {0} failed', actorText(actor));
  }
}

export function timeText(at: string): string {
  return new Date(at).toLocaleTimeString(vscode.env.language, { hour: '2-digit', minute: '2-digit' });
}

export function dayText(at: string): string {
  return new Date(at).toLocaleDateString(vscode.env.language, { dateStyle: 'full' });
}

/** The reason that was given; `undefined` for a click without words. */
export function reasonText({ actor, action, reason }: LedgerEntry): string | undefined {
  return actor === 'human' && reason === humanReason(action) ? undefined : reason;
}
