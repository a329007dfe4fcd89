import type { ItemOf } from '../../protocol.ts';
import { cardNotes, cardState, partsText } from '../../words/cardWords.ts';
import { el } from '../dom.ts';

type Card = ItemOf<'preview'>;

/** How many lines stay in the document. A screen reader that is slow still finds them. */
const KEPT = 10;

/**
 * What is new on a card, in one line; empty if a screen reader need not tell it. A card that changes is not read out again:
 * the whole of it, with its files and buttons, would be too much to listen to for each vote.
 */
export function newsOf(before: Card, card: Card): string {
  if (card.state.kind === 'applying') return '';
  const lines = (one: Card): (string | undefined)[] => [
    cardState(one),
    one.parts && partsText(one.parts),
    ...cardNotes(one.state).map(([, text]) => text),
  ];
  const old = new Set(lines(before));
  const changed = lines(card).filter(line => line !== undefined && !old.has(line));
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
