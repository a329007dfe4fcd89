import { fill, type ChatStatus } from '../protocol.ts';
import { button, el, icon, svg } from './dom.ts';
import type { Port } from './port.ts';

/** A ring that is filled clockwise from the top. It is drawn in the color of its text, and hidden from screen readers. */
class Ring {
  readonly element: SVGElement;
  readonly #filled: SVGElement;

  constructor() {
    const circle = { cx: '8', cy: '8', r: '6', pathLength: '100' };
    this.#filled = svg('circle', { ...circle, class: 'ring-filled' });
    this.element = svg(
      'svg',
      { viewBox: '0 0 16 16', class: 'ring', 'aria-hidden': 'true' },
      svg('circle', { ...circle, class: 'ring-track' }),
      this.#filled,
    );
  }

  /** @param percent how much of the ring is filled. */
  update(percent: number): void {
    this.element.dataset['percent'] = String(percent);
    // An empty dash would still show its round ends.
    this.#filled.toggleAttribute('hidden', percent === 0);
    this.#filled.setAttribute('stroke-dasharray', `${percent} 100`);
  }
}

/**
 * The lines above the composer: the current activity, how full the context window is and the token use, whose
 * details a click shows, and which instructions of the project are in use.
 */
export class StatusRow {
  readonly element: HTMLElement;
  readonly #port: Port;
  readonly #line = el('div', { class: 'status-line', role: 'status' });
  readonly #usage: HTMLButtonElement;
  readonly #ring = new Ring();
  readonly #detail = el('div', { class: 'usage-detail' });
  readonly #instructions = el('div', { class: 'instructions' });
  #shown: string | undefined;

  constructor(port: Port) {
    this.#port = port;
    this.#usage = button({
      class: 'usage',
      label: '',
      data: { action: 'usage' },
      aria: { expanded: 'false', controls: 'usage-detail' },
      onClick: () => {
        this.#detail.hidden = !this.#detail.hidden;
        this.#usage.setAttribute('aria-expanded', String(!this.#detail.hidden));
      },
    });
    this.#usage.prepend(this.#ring.element);
    this.#detail.id = 'usage-detail';
    this.#detail.hidden = true;
    this.element = el(
      'div',
      { class: 'status' },
      el('div', { class: 'status-row' }, this.#line, this.#usage),
      this.#detail,
      this.#instructions,
    );
  }

  update({ state, line, usage, context, instructions }: ChatStatus): void {
    const { strings } = this.#port;
    this.#instructions.hidden = instructions === '';
    this.#instructions.textContent = instructions;
    this.#instructions.title = instructions;
    const detail = [context?.detail, usage.detail].filter(Boolean).join('\n');
    this.#usage.hidden = detail === '';
    this.#usage.title = detail;
    const labels = [
      ...(context ? [fill(strings.contextLabel, context.percent)] : []),
      ...(usage.label === '' ? [] : [fill(strings.usage, usage.label)]),
    ];
    this.#usage.setAttribute('aria-label', labels.join('. '));
    this.#usage.classList.toggle('nearly-full', context?.isNearlyFull === true);
    this.#ring.element.toggleAttribute('hidden', !context);
    this.#ring.update(context?.percent ?? 0);
    const label = this.#usage.querySelector('span');
    if (label) label.textContent = usage.label;
    this.#detail.textContent = detail;
    // A live region that is rewritten is announced again.
    if (this.#shown === `${state} ${line}`) return;
    this.#shown = `${state} ${line}`;
    const busy = state === 'running' && icon('loading', 'codicon-modifier-spin');
    this.#line.replaceChildren(...(busy ? [busy] : []), line);
  }
}
