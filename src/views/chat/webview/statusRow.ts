import * as l10n from '@vscode/l10n';
import type { ChatStatus } from '../protocol.ts';
import {
  activityText,
  contextText,
  instructionsText,
  percentOf,
  retryText,
  usageDetail,
  usageLabel,
} from '../words/statusWords.ts';
import { button, el, icon, svg } from './dom.ts';

type Retry = Extract<NonNullable<ChatStatus['activity']>, { kind: 'retrying' }>;

/** The share of the context window from which the ring warns, in percent. */
const NEARLY_FULL = 80;

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
  readonly #line = el('div', { class: 'status-line', role: 'status' });
  readonly #usage: HTMLButtonElement;
  readonly #ring = new Ring();
  readonly #detail = el('div', { class: 'usage-detail' });
  readonly #instructions = el('div', { class: 'instructions' });
  #shown: string | undefined;
  #counting: ReturnType<typeof setInterval> | undefined;
  /** End of the countdown that is shown, and its code. */
  #count: { readonly end: number; readonly code: Retry['code'] } | undefined;

  constructor() {
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

  update(status: ChatStatus): void {
    const { usage, context, activity } = status;
    const { lang } = document.documentElement;
    const instructions = instructionsText(status.instructions);
    this.#instructions.hidden = instructions === '';
    this.#instructions.textContent = instructions;
    this.#instructions.title = instructions;
    const percent = context ? percentOf(context) : 0;
    const usageText = usage ? usageLabel(usage, lang) : '';
    const detail = [context && contextText(context, lang), usage && usageDetail(usage, lang)]
      .filter(Boolean)
      .join('\n');
    this.#usage.hidden = detail === '';
    this.#usage.title = detail;
    const labels = [
      ...(context ? [l10n.t('Context window: {0}% full', percent)] : []),
      ...(usage ? [l10n.t('Token use: {0}', usageText)] : []),
    ];
    this.#usage.setAttribute('aria-label', labels.join('. '));
    this.#usage.classList.toggle('nearly-full', percent >= NEARLY_FULL);
    this.#ring.element.toggleAttribute('hidden', !context);
    this.#ring.update(percent);
    const label = this.#usage.querySelector('span');
    if (label) label.textContent = usageText;
    this.#detail.textContent = detail;
    this.#countDown(activity?.kind === 'retrying' ? activity : undefined, status.state, activityText(status));
  }

  /** Counts down to the retry, without the host, and then shows `line`; without a retry, shows it at once. */
  #countDown(retry: Retry | undefined, state: ChatStatus['state'], line: string): void {
    const end = Date.now() + (retry?.seconds ?? 0) * 1_000;
    // The same countdown, sent again with another change: keep it running.
    if (retry?.code === this.#count?.code && Math.abs(end - (this.#count?.end ?? 0)) < SAME_MS) return;
    clearInterval(this.#counting);
    this.#count = retry && { end, code: retry.code };
    if (!retry) return this.#showLine(state, line);
    const left = (): number => Math.ceil((end - Date.now()) / 1_000);
    const seen = el('span', { aria: { hidden: 'true' } });
    const tick = (): void => {
      seen.textContent = retryText(retry.code, left());
      if (left() > 0) return;
      clearInterval(this.#counting);
      this.#count = undefined;
      this.#showLine(state, line);
    };
    // Announced once, with the whole time.
    this.#showLine(
      state,
      `${retry.code} ${end}`,
      el('span', { class: 'hidden' }, retryText(retry.code, retry.seconds)),
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
