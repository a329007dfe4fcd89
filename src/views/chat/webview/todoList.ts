import * as l10n from '@vscode/l10n';
import type { ChatStatus } from '../protocol.ts';
import { todoStateText, todoText } from '../words/statusWords.ts';
import { el, icon } from './dom.ts';

type Item = NonNullable<ChatStatus['todo']>[number];

const ICONS: Readonly<Record<Item['state'], string>> = {
  open: 'circle-large-outline',
  doing: 'circle-large-filled',
  done: 'pass-filled',
};

/** The model's to-do list above the prompt: one line that says how far it is, and opens to all steps. */
export class TodoList {
  readonly element: HTMLElement;
  readonly #summary = el('span', { class: 'todo-summary' });
  readonly #list = el('ol', { class: 'todo-items', aria: { label: l10n.t('To-do list') } });
  /** Announces changes to screen readers. */
  readonly #news = el('div', { class: 'hidden', role: 'status' });
  #shown = '';

  constructor() {
    const details = el(
      'details',
      { class: 'todo-details' },
      el('summary', {}, icon('checklist'), this.#summary),
      this.#list,
    );
    this.element = el('div', { class: 'todo' }, details, this.#news);
    this.element.hidden = true;
  }

  update({ todo = [] }: ChatStatus): void {
    const key = JSON.stringify(todo);
    if (key === this.#shown) return;
    this.#shown = key;
    this.element.hidden = todo.length === 0;
    const text = todo.length === 0 ? '' : todoText(todo);
    this.#summary.textContent = text;
    this.#summary.title = text;
    this.#news.textContent = text;
    this.#list.replaceChildren(
      ...todo.map(({ text: step, state }) =>
        el(
          'li',
          { class: `todo-item ${state}`, data: { state } },
          icon(ICONS[state]),
          el('span', { class: 'todo-text' }, step),
          el('span', { class: 'hidden' }, ` (${todoStateText(state)})`),
        ),
      ),
    );
  }
}
