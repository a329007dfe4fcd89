import * as l10n from '@vscode/l10n';
import type { CardState, ItemOf, NameList, PartRow } from '../protocol.ts';

type Card = ItemOf<'preview'>;
type Outcome = Pick<PartRow, 'state' | 'reopenedAs'>;

/** The state of a preview, with who resolved it; `undefined` while it is just pending. */
export function stateText({ state, reopenedAs }: Outcome): string | undefined {
  const text = ownStateText(state);
  if (text === undefined || !reopenedAs) return text;
  return reopenedAs.isOpen
    ? l10n.t('{0}, reopened as {1}', text, reopenedAs.id)
    : l10n.t('{0}, as {1}', text, reopenedAs.id);
}

function ownStateText(state: CardState): string | undefined {
  switch (state.kind) {
    case 'pending':
      return undefined;
    case 'applying':
      return state.action === 'apply' ? l10n.t('Applying…') : l10n.t('Discarding…');
    case 'applied':
      if (state.agent !== undefined) return l10n.t('Applied by {0}', state.agent);
      return {
        human: l10n.t('Applied by you'),
        model: l10n.t('Applied by the model'),
        extension: l10n.t('Applied by another extension'),
      }[state.actor];
    case 'discarded':
      if (state.agent !== undefined) return l10n.t('Discarded by {0}', state.agent);
      return {
        human: l10n.t('Discarded by you'),
        model: l10n.t('Discarded by the model'),
        extension: l10n.t('Discarded by another extension'),
      }[state.actor];
    case 'undone':
      return {
        human: l10n.t('Undone by you'),
        model: l10n.t('Undone by the model'),
        extension: l10n.t('Undone by another extension'),
      }[state.actor];
    case 'failed':
      return l10n.t('Applied, and returned an error');
    case 'expired':
      return state.reason === undefined
        ? l10n.t('Expired: this action can no longer run')
        : l10n.t('Expired: {0}', state.reason);
  }
}

/** The reason for the outcome, if one was given. */
export function reasonOf({ state }: Outcome): string | undefined {
  return 'reason' in state && state.kind !== 'expired' ? state.reason : undefined;
}

/** What there is to say of a preview that waits, or of its failure. */
export type CardNote = 'recommendation' | 'conflicts' | 'stale' | 'last-error';

/** What stands on a card beside its state, in this order. */
export function cardNotes(state: CardState): readonly (readonly [CardNote, string])[] {
  if (state.kind === 'failed') return [['last-error', state.error]];
  if (state.kind !== 'pending') return [];
  const { recommendation, conflicts, stale, lastError } = state;
  const notes: [CardNote, string][] = [];
  if (recommendation) {
    const reason = recommendation.reason ?? l10n.t('No reason provided');
    const text =
      recommendation.action === 'apply'
        ? l10n.t('The model recommends Apply: {0}', reason)
        : l10n.t('The model recommends Discard: {0}', reason);
    notes.push(['recommendation', text]);
  }
  if (conflicts) {
    const names = conflicts.files.map(({ path, count }) => l10n.t('{0} in {1}', count, path));
    const all = listOf({ names, more: conflicts.more });
    notes.push(['conflicts', l10n.t('Conflicts to resolve in the proposal: {0}.', all)]);
  } else if (stale)
    notes.push(['stale', l10n.t('Stale: {0} changed after this was proposed.', listOf(stale))]);
  if (lastError !== undefined) notes.push(['last-error', l10n.t('The last attempt failed: {0}', lastError)]);
  return notes;
}

function listOf({ names, more }: NameList): string {
  const shown = names.join(', ');
  return more === 0 ? shown : l10n.t('{0} and {1} more', shown, more);
}

/** `1 applied · 1 discarded · 1 left` */
export function partsText({ counts }: NonNullable<Card['parts']>): string {
  const { applied, discarded, undone, left } = counts;
  const texts = [
    applied > 0 && l10n.t('{0} applied', applied),
    discarded > 0 && l10n.t('{0} discarded', discarded),
    undone > 0 && l10n.t('{0} undone', undone),
    left > 0 && l10n.t('{0} left', left),
  ];
  return texts.filter(text => text !== false).join(' · ');
}

/** `cart.ts, hunk 2`, or the file's name if it is a whole file. */
export function partName({ file, hunk }: PartRow): string {
  if (file === undefined) return l10n.t('The rest');
  return hunk === undefined ? file : l10n.t('{1}, hunk {0}', hunk, file);
}

export function isOpen({ state }: Card): boolean {
  return state.kind === 'pending' || state.kind === 'applying';
}

/** The state of a card, unless its parts tell it. */
export function cardState(card: Card): string | undefined {
  return card.parts && !isOpen(card) ? undefined : stateText(card);
}

/** What a card is called: its label, with its outcome once it has one. */
export function cardName(card: Card): string {
  return [card.label, cardState(card)].filter(text => text !== undefined).join(', ');
}
