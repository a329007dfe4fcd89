import { fill, type ChatStatus } from '../protocol.ts';
import { button, el } from './dom.ts';
import type { Port } from './port.ts';

const MODES = ['recommend', 'apply', 'none'] as const;

/** The row above the messages: who resolves, the model, how much is pending, and a new session. */
export class Header {
  readonly element: HTMLElement;
  readonly #port: Port;
  readonly #mode: HTMLSelectElement;
  readonly #model: HTMLButtonElement;
  readonly #pending = el('span', { class: 'pending-count' });

  constructor(port: Port) {
    const { strings, post } = port;
    this.#port = port;
    const names = { recommend: strings.modeRecommend, apply: strings.modeApply, none: strings.modeNone };
    const hints = {
      recommend: strings.modeRecommendHint,
      apply: strings.modeApplyHint,
      none: strings.modeNoneHint,
    };
    const options = MODES.map(mode => {
      const option = el('option', { title: hints[mode] }, names[mode]);
      option.value = mode;
      return option;
    });
    this.#mode = el('select', { class: 'mode', aria: { label: strings.modeLabel } }, ...options);
    this.#mode.id = 'mode';
    this.#mode.addEventListener('change', () => {
      const mode = MODES.find(known => known === this.#mode.value);
      if (mode) post({ type: 'setMode', mode });
    });
    this.#model = button({
      class: 'model',
      label: '',
      onClick: () => post({ type: 'action', name: 'openSettings' }),
    });
    const fresh = button({
      class: 'icon-button',
      icon: 'add',
      title: strings.newSession,
      aria: { label: strings.newSession },
      data: { action: 'new' },
      onClick: () => post({ type: 'new' }),
    });
    this.#pending.id = 'pending';
    this.element = el('header', { class: 'header' }, this.#mode, this.#model, this.#pending, fresh);
  }

  update({ mode, model, pendingLabel }: ChatStatus): void {
    const { strings } = this.#port;
    const hints = {
      recommend: strings.modeRecommendHint,
      apply: strings.modeApplyHint,
      none: strings.modeNoneHint,
    };
    this.#mode.value = mode;
    this.#mode.title = hints[mode];
    const text = this.#model.querySelector('span');
    if (text) text.textContent = model;
    this.#model.title = fill(strings.modelLabel, model);
    this.#model.setAttribute('aria-label', fill(strings.modelLabel, model));
    this.#pending.textContent = pendingLabel;
    this.#pending.hidden = pendingLabel === '';
  }
}
