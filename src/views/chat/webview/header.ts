import type { ChatStatus } from '../protocol.ts';
import { button, el } from './dom.ts';
import type { Port } from './port.ts';

const MODES = ['recommend', 'apply', 'none'] as const;

/**
 * The row above the messages: the mode, the plan toggle, the number of pending previews, and New Session.
 *
 * `Plan` is a toggle and not a fourth mode: while it is on, the mode still shows, and sets, what takes effect once the plan
 * is approved.
 */
export class Header {
  readonly element: HTMLElement;
  readonly #port: Port;
  readonly #mode: HTMLSelectElement;
  readonly #plan: HTMLButtonElement;
  readonly #pending = el('span', { class: 'pending-count' });

  constructor(port: Port) {
    const { strings, post } = port;
    this.#port = port;
    const names = { recommend: strings.modeRecommend, apply: strings.modeApply, none: strings.modeNone };
    const options = MODES.map(mode => {
      const option = el('option', { title: this.#hint(mode) }, names[mode]);
      option.value = mode;
      return option;
    });
    this.#mode = el('select', { class: 'mode', aria: { label: strings.modeLabel } }, ...options);
    this.#mode.id = 'mode';
    this.#mode.addEventListener('change', () => {
      const mode = MODES.find(known => known === this.#mode.value);
      if (mode) post({ type: 'setMode', mode });
    });
    this.#plan = button({
      class: 'toggle',
      icon: 'checklist',
      label: strings.plan,
      data: { action: 'plan' },
      onClick: () => post({ type: 'setPlanMode', on: this.#plan.getAttribute('aria-pressed') !== 'true' }),
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
    const title = el('h1', { class: 'hidden' }, strings.title);
    this.element = el('header', { class: 'header' }, title, this.#mode, this.#plan, this.#pending, fresh);
  }

  update({ mode, planMode, pendingLabel }: ChatStatus): void {
    const { strings } = this.#port;
    this.#mode.value = mode;
    this.#mode.title = this.#hint(mode);
    this.#plan.title = planMode ? strings.planOnHint : strings.planOffHint;
    this.#plan.setAttribute('aria-pressed', String(planMode));
    this.#pending.textContent = pendingLabel;
    this.#pending.hidden = pendingLabel === '';
  }

  #hint(mode: ChatStatus['mode']): string {
    const { strings } = this.#port;
    switch (mode) {
      case 'recommend':
        return strings.modeRecommendHint;
      case 'apply':
        return strings.modeApplyHint;
      case 'none':
        return strings.modeNoneHint;
    }
  }
}
