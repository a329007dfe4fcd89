import * as l10n from '@vscode/l10n';
import { html, nothing, render } from 'lit-html';
import type { ChatStatus, ReviewAction } from '../protocol.ts';
import { allText } from '../../texts/previewWords.ts';
import { reviewText } from '../words/statusWords.ts';
import { post } from './host.ts';
import { button, el } from './dom.ts';
import { stat } from './templates.ts';
import { checkList } from './checkList.ts';

/** The bar above the prompt while something is pending: how much, and the buttons for all of it. */
export class ReviewBar {
  readonly element: HTMLElement;
  readonly #summary = el('span', { class: 'review-summary' });
  readonly #checks = el('div', { class: 'review-checks' });
  readonly #runChecks = button({
    class: 'button secondary',
    label: l10n.t('Run Checks'),
    data: { action: 'runChecks' },
    onClick: () => post({ type: 'runChecks' }),
  });

  readonly #applyAll = reviewButton('applyAll', '', 'secondary');
  readonly #discardAll = reviewButton('discardAll', '', 'secondary');

  constructor() {
    this.element = el(
      'div',
      { class: 'review-bar', role: 'group', aria: { label: l10n.t('Pending changes') } },
      this.#summary,
      this.#checks,
      el(
        'div',
        { class: 'buttons' },
        reviewButton('open', l10n.t('Review'), 'primary'),
        this.#applyAll,
        this.#discardAll,
        this.#runChecks,
      ),
    );
  }

  update({ review, hasChecks }: ChatStatus): void {
    this.element.hidden = review === undefined;
    if (!review) return;
    setLabel(this.#applyAll, allText('apply', review.apply));
    setLabel(this.#discardAll, allText('discard', review.discard));
    this.#applyAll.hidden = review.apply === 0;
    this.#discardAll.hidden = review.discard === 0;
    const lines = review.stat ? html` · ${stat(review.stat)}` : nothing;
    render(html`${reviewText(review)}${lines}`, this.#summary);
    this.#checks.hidden = review.checks === undefined;
    this.#runChecks.hidden = hasChecks !== true;
    render(checkList(review.checks, 'all'), this.#checks);
  }
}

function reviewButton(name: ReviewAction, label: string, style: string): HTMLButtonElement {
  return button({
    class: `button ${style}`,
    label,
    data: { action: name },
    onClick: () => post({ type: 'review', action: name }),
  });
}

/** Names how many a button is for. */
function setLabel(of: HTMLButtonElement, label: string): void {
  const text = of.querySelector('span');
  if (text && text.textContent !== label) text.textContent = label;
}
