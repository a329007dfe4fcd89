import type { ChatStatus, ReviewAction } from '../protocol.ts';
import { button, el, statOf } from './dom.ts';
import type { Port } from './port.ts';

/** The bar above the prompt while something is pending: how much, and the buttons for all of it. */
export class ReviewBar {
  readonly element: HTMLElement;
  readonly #summary = el('span', { class: 'review-summary' });

  constructor({ strings, post }: Port) {
    const one = (name: ReviewAction, label: string, style: string): HTMLButtonElement =>
      button({
        class: `button ${style}`,
        label,
        data: { action: name },
        onClick: () => post({ type: 'review', action: name }),
      });
    this.element = el(
      'div',
      { class: 'review-bar', role: 'group', aria: { label: strings.pendingChanges } },
      this.#summary,
      el(
        'div',
        { class: 'buttons' },
        one('open', strings.review, 'primary'),
        one('applyAll', strings.applyAll, 'secondary'),
        one('discardAll', strings.discardAll, 'secondary'),
      ),
    );
  }

  update({ review }: ChatStatus): void {
    this.element.hidden = review === undefined;
    this.#summary.replaceChildren(review?.label ?? '', ...(review?.stat ? [' · ', statOf(review.stat)] : []));
  }
}
