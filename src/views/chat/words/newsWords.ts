import * as l10n from '@vscode/l10n';
import type { ItemOf, ViewItem } from '../protocol.ts';
import { cardNotes, cardState, partsText } from './cardWords.ts';
import { rowStateText, turnName, turnStateText } from './turnWords.ts';

type Card = ItemOf<'preview'> | ItemOf<'turn'>;

/**
 * A card's news in one line; empty if a screen reader need not tell it. A card that changes is not read out again: the whole
 * of it, with its files and buttons, would be too much to listen to for each vote.
 */
export function newsOf(before: Card, card: Card): string {
  if (card.kind === 'preview' && card.state.kind === 'applying') return '';
  const old = new Set(cardLines(before));
  const changed = cardLines(card).filter(line => !old.has(line));
  return changed.length === 0 ? '' : [cardName(card), ...changed].join(', ');
}

/** Whether an item is a card, whose changes are announced. */
export function isCard(item: ViewItem): item is Card {
  return item.kind === 'preview' || item.kind === 'turn';
}

function cardName(card: Card): string {
  return card.kind === 'turn' ? turnName({ ...card, state: 'pending' }) : card.label;
}

function cardLines(card: Card): string[] {
  const lines =
    card.kind === 'turn'
      ? [turnStateText(card), ...card.rows.map(row => newsOfRow(row))]
      : [cardState(card), card.parts && partsText(card.parts), ...cardNotes(card).map(([, text]) => text)];
  return lines.filter(line => line !== undefined);
}

function newsOfRow(row: ItemOf<'turn'>['rows'][number]): string | undefined {
  const state = rowStateText(row);
  return state === undefined ? undefined : l10n.t('{0}: {1}', row.path, state);
}
