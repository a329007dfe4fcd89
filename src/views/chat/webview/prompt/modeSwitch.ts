import * as l10n from '@vscode/l10n';
import type { ChatStatus } from '../../protocol.ts';
import { button, el } from '../dom.ts';
import { post, sessionId } from '../host.ts';

const MODES = ['recommend', 'checked', 'apply', 'none'] as const;

/**
 * The mode, which says who resolves previews, and the plan toggle, in the row of the prompt.
 *
 * `Plan` is a toggle and not a mode of its own: while it is on, the mode still shows, and sets, what takes effect once the plan
 * is approved.
 */
export class ModeSwitch {
  readonly elements: readonly HTMLElement[];
  readonly #mode: HTMLSelectElement;
  readonly #plan: HTMLButtonElement;

  constructor() {
    const names = {
      recommend: l10n.t('Ask Me'),
      checked: l10n.t('Auto if Checks Pass'),
      apply: l10n.t('Auto'),
      none: l10n.t('Manual'),
    };
    const options = MODES.map(mode => {
      const option = el('option', { title: hint(mode) }, names[mode]);
      option.value = mode;
      return option;
    });
    this.#mode = el('select', { class: 'mode', aria: { label: l10n.t('Who decides') } }, ...options);
    this.#mode.id = 'mode';
    this.#mode.addEventListener('change', () => {
      const mode = MODES.find(known => known === this.#mode.value);
      if (mode) post({ type: 'setMode', mode });
    });
    this.#plan = button({
      class: 'toggle',
      icon: 'checklist',
      label: l10n.t('Plan'),
      data: { action: 'plan' },
      onClick: () => {
        const on = this.#plan.getAttribute('aria-pressed') !== 'true';
        post({ type: 'setPlanMode', session: sessionId(), on });
      },
    });
    this.elements = [this.#mode, this.#plan];
  }

  update({ mode, planMode }: ChatStatus): void {
    this.#mode.value = mode;
    this.#mode.title = hint(mode);
    this.#plan.title = planMode
      ? l10n.t(
          'Plan mode is on: the model only reads until you approve its plan. Then the mode next to this button takes effect.',
        )
      : l10n.t('Plan first: the model only reads until you approve its plan.');
    this.#plan.setAttribute('aria-pressed', String(planMode));
  }
}

function hint(mode: ChatStatus['mode']): string {
  switch (mode) {
    case 'recommend':
      return l10n.t('Ask Me: the model recommends, and you apply.');
    case 'apply':
      return l10n.t('Auto: the model applies and discards by itself.');
    case 'checked':
      return l10n.t(
        'Auto if Checks Pass: the model applies what all checks have passed on. The rest waits for you.',
      );
    case 'none':
      return l10n.t('Manual: only you apply and discard. The model is not asked.');
  }
}
