import { el } from '../dom.ts';

/** How many lines stay in the document. A screen reader that is slow still finds them. */
const KEPT = 10;

/** A hidden live region that announces changes of cards on the screen. */
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
