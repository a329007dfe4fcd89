import type { ChatStatus } from '../../protocol.ts';
import { button, el } from '../dom.ts';
import type { Port } from '../port.ts';

const MODES = ['recommend', 'apply', 'none'] as const;

/**
 * Who resolves previews, and the plan toggle, in the row of the prompt.
 *
 * `Plan` is a toggle and not a fourth mode: while it is on, the mode still shows, and sets, what takes effect once the plan
 * is approved.
 */
export class ModeSwitch {
  readonly elements: readonly HTMLElement[];
  readonly #port: Port;
  readonly #mode: HTMLSelectElement;
  readonly #plan: HTMLButtonElement;

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
    this.elements = [this.#mode, this.#plan];
  }

  update({ mode, planMode }: ChatStatus): void {
    const { strings } = this.#port;
    this.#mode.value = mode;
    this.#mode.title = this.#hint(mode);
    this.#plan.title = planMode ? strings.planOnHint : strings.planOffHint;
    this.#plan.setAttribute('aria-pressed', String(planMode));
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
