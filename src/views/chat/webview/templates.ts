import { html, nothing, type TemplateResult } from 'lit-html';
import type { LineStat } from '../protocol.ts';

/** A codicon, hidden from screen readers. */
export function icon(name: string, extra = ''): TemplateResult {
  return html`<span class="codicon codicon-${name} ${extra}" aria-hidden="true"></span>`;
}

/** A line on a card, after its icon. */
export function note(kind: string, name: string, text: string): TemplateResult {
  return html`<div class="card-note ${kind}">${icon(name)}<span>${text}</span></div>`;
}

/** The line above the title of a card, which a long title cannot push away. */
export function first(text: string | undefined): TemplateResult | typeof nothing {
  return text === undefined ? nothing : html`<div class="card-first">${text}</div>`;
}

export interface ButtonParts {
  readonly label: string;
  /** For screen readers: the label, with its object. */
  readonly of: string;
  readonly action: string;
  /** The preview that the action applies to, if the button may stand for several. */
  readonly target?: string;
  readonly style?: 'primary' | 'secondary';
  readonly onClick: (event: Event) => void;
}

export function button({
  label,
  of,
  action,
  target,
  style = 'secondary',
  onClick,
}: ButtonParts): TemplateResult {
  return html`<button
    type="button"
    class="button ${style}"
    data-action=${action}
    data-of=${target ?? nothing}
    aria-label=${of}
    @click=${onClick}
  >
    <span>${label}</span>
  </button>`;
}

/** `+3 −1`, without zeros, and with a `~` if the texts were too different to count exactly. */
export function stat({ added, removed, exact }: LineStat): TemplateResult {
  const shown = (sign: string, count: number): string =>
    count === 0 ? '' : `${sign}${exact ? '' : '~'}${count}`;
  return html`<span class="stat"
    ><span class="added">${shown('+', added)}</span> <span class="removed">${shown('−', removed)}</span></span
  >`;
}
