import { fill, type ChatStatus } from '../protocol.ts';
import { button, el, icon } from './dom.ts';
import type { Port } from './port.ts';

/**
 * The lines above the composer: the current activity, the token use, whose details a click shows, and which instructions of
 * the project are in use.
 */
export class StatusRow {
  readonly element: HTMLElement;
  readonly #port: Port;
  readonly #line = el('div', { class: 'status-line', role: 'status' });
  readonly #usage: HTMLButtonElement;
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

  update({ state, line, usage, instructions }: ChatStatus): void {
    this.#instructions.hidden = instructions === '';
    this.#instructions.textContent = instructions;
    this.#instructions.title = instructions;
    this.#usage.hidden = usage.label === '';
    this.#usage.title = usage.detail;
    this.#usage.setAttribute('aria-label', fill(this.#port.strings.usage, usage.label));
    const label = this.#usage.querySelector('span');
    if (label) label.textContent = usage.label;
    this.#detail.textContent = usage.detail;
    // A live region that is rewritten is announced again.
    if (this.#shown === `${state} ${line}`) return;
    this.#shown = `${state} ${line}`;
    const busy = state === 'running' && icon('loading', 'codicon-modifier-spin');
    this.#line.replaceChildren(...(busy ? [busy] : []), line);
  }
}
