import type { ItemOf } from '../../protocol.ts';
import { el } from '../dom.ts';

type Card = ItemOf<'preview'>;

/** How many lines stay in the document. A screen reader that is slow still finds them. */
const KEPT = 10;

/** What a card is called: its label, with its outcome once it has one. */
export function cardName({ label, stateText }: Card): string {
  return stateText === '' ? label : `${label}, ${stateText}`;
}

/**
 * What is new on a card, in one line; empty if a screen reader need not tell it. A card that changes is replaced, and
 * the whole of it, with its files and buttons, would be too much to listen to for each vote.
 */
export function newsOf(before: Card, card: Card): string {
  if (card.state === 'applying') return '';
  const lines = ({ stateText, partsText, recommendation, conflicts, stale, lastError }: Card) => [
    stateText,
    partsText,
    recommendation,
    conflicts,
    stale,
    lastError,
  ];
  const old = lines(before);
  const changed = lines(card).filter((line, i) => line !== '' && line !== old[i]);
  return changed.length === 0 ? '' : [card.label, ...changed].join(', ');
}

/** A live region, not shown, that tells what happened to cards that are on the screen. */
export class CardNews {
  readonly element: HTMLElement = el('div', {
    class: 'hidden card-news',
    aria: { live: 'polite', relevant: 'additions' },
  });

  /** @param text empty to say nothing */
  tell(text: string): void {
    if (text === '') return;
    this.element.append(el('p', {}, text));
    while (this.element.childElementCount > KEPT) this.element.firstElementChild?.remove();
  }
}
