import { fill } from '../../../agent/base/localiser.ts';
import type { ChatStatus } from '../protocol.ts';
import { button, el, icon, svg } from './dom.ts';
import type { Port } from './port.ts';

/** Two countdowns that end this close to each other are the same one, in milliseconds: whole seconds are sent. */
const SAME_MS = 1_100;

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
  #counting: ReturnType<typeof setInterval> | undefined;
  /** When the countdown that is shown ends, and its text. */
  #count: { readonly end: number; readonly text: string } | undefined;

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

  update({ state, line, usage, context, instructions, countdown }: ChatStatus): void {
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
    this.#countDown(countdown, state, line);
  }

  /** Counts the seconds down, without the host; then the line itself is shown. */
  #countDown(countdown: ChatStatus['countdown'], state: ChatStatus['state'], line: string): void {
    const end = Date.now() + (countdown?.seconds ?? 0) * 1_000;
    // The same one again, with something else that changed: it goes on.
    if (countdown?.text === this.#count?.text && Math.abs(end - (this.#count?.end ?? 0)) < SAME_MS) return;
    clearInterval(this.#counting);
    this.#count = countdown && { end, text: countdown.text };
    if (!countdown) return this.#showLine(state, line);
    const left = (): number => Math.ceil((end - Date.now()) / 1_000);
    const seen = el('span', { aria: { hidden: 'true' } });
    const tick = (): void => {
      seen.textContent = fill(countdown.text, left());
      if (left() > 0) return;
      clearInterval(this.#counting);
      this.#count = undefined;
      this.#showLine(state, line);
    };
    // Announced once, with the whole time.
    this.#showLine(
      state,
      `${countdown.text} ${end}`,
      el('span', { class: 'hidden' }, fill(countdown.text, countdown.seconds)),
      seen,
    );
    tick();
    this.#counting = setInterval(tick, 1_000);
  }

  #showLine(state: ChatStatus['state'], line: string, ...content: HTMLElement[]): void {
    // A live region that is rewritten is announced again.
    if (this.#shown === `${state} ${line}`) return;
    this.#shown = `${state} ${line}`;
    const busy = state === 'running' && icon('loading', 'codicon-modifier-spin');
    this.#line.replaceChildren(...(busy ? [busy] : []), ...(content.length > 0 ? content : [line]));
  }
}
