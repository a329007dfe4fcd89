import { el, icon } from '../dom.ts';

/** One line of the suggestion list. */
export interface Suggestion {
  /** Text that is inserted. */
  readonly text: string;
  readonly label: string;
  readonly detail: string;
  readonly icon: string;
}

/**
 * The suggestion list above the composer. The focus stays in the text field, which refers to the selected line as its
 * active descendant.
 */
export class Suggestions {
  readonly element: HTMLElement;
  readonly #field: HTMLElement;
  readonly #onAccept: (suggestion: Suggestion) => void;
  #items: readonly Suggestion[] = [];
  #at = 0;

  constructor(field: HTMLElement, label: string, onAccept: (suggestion: Suggestion) => void) {
    this.#field = field;
    this.#onAccept = onAccept;
    // Scrollable, so it has to be focusable; in practice the focus stays in the field while the list is open.
    this.element = el('ul', { class: 'suggestions', role: 'listbox', aria: { label }, tabIndex: 0 });
    this.element.addEventListener('mousedown', event => event.preventDefault());
    this.element.id = 'suggestions';
    this.element.hidden = true;
    field.setAttribute('aria-autocomplete', 'list');
    field.setAttribute('aria-controls', this.element.id);
  }

  get isOpen(): boolean {
    return this.#items.length > 0;
  }

  get selected(): Suggestion | undefined {
    return this.#items[this.#at];
  }

  /** Shows these suggestions with the first one selected; hides the list if there are none. */
  show(items: readonly Suggestion[]): void {
    this.#items = items;
    this.element.replaceChildren(...items.map((item, i) => this.#row(item, i)));
    this.element.hidden = items.length === 0;
    this.#select(0);
  }

  hide(): void {
    if (this.isOpen) this.show([]);
  }

  /** Moves the selection down or up, wrapping around. */
  move(by: 1 | -1): void {
    this.#select((this.#at + by + this.#items.length) % this.#items.length);
  }

  #row(item: Suggestion, index: number): HTMLElement {
    const row = el(
      'li',
      { class: 'suggestion', role: 'option', title: item.label },
      icon(item.icon),
      el('span', { class: 'suggestion-label' }, item.label),
      el('span', { class: 'suggestion-detail' }, item.detail),
    );
    row.id = `suggestion-${index}`;
    row.addEventListener('click', () => this.#onAccept(item));
    return row;
  }

  #select(index: number): void {
    this.#at = index;
    [...this.element.children].forEach((row, i) => {
      row.setAttribute('aria-selected', String(i === index));
      if (i === index) row.scrollIntoView({ block: 'nearest' });
    });
    const row = this.element.children[index];
    if (row) this.#field.setAttribute('aria-activedescendant', row.id);
    else this.#field.removeAttribute('aria-activedescendant');
  }
}
