import * as vscode from 'vscode';
import { countText } from '../../../agent/base/countText.ts';
import { needsOwnVote } from '../../../agent/preview/preview.ts';
import type { PreviewStore } from '../../../agent/preview/previewStore.ts';

/** The sentence about how many of these previews still need a vote each; empty if none does. */
export function ownVotesText(store: Pick<PreviewStore, 'get'>, ids: readonly string[]): string {
  const waiting = ids.flatMap(id => store.get(id) ?? []).filter(({ state }) => state.kind === 'pending');
  const own = waiting.filter(needsOwnVote).length;
  if (own === 0) return '';
  const forms = vscode.l10n.t(
    '1 command, tool call or plan still needs its own Apply.|{0} commands, tool calls or plans still need their own Apply.',
  );
  return countText(forms, vscode.l10n)(own);
}
