import { refLabel, refName } from '../attachmentRef.ts';
import { fill, MAX_ATTACHMENTS, type AttachmentRef } from '../protocol.ts';
import { button, el, icon } from './dom.ts';
import type { Port } from './port.ts';

/** What goes with the next prompt, as chips that can be removed. */
export class Chips {
  readonly element: HTMLElement;
  readonly #port: Port;
  readonly #onChange: () => void;
  /** Where the keyboard goes when the last chip is gone. */
  readonly #leave: () => void;
  #refs: readonly AttachmentRef[];

  constructor(
    port: Port,
    refs: readonly AttachmentRef[],
    on: { readonly change: () => void; readonly leave: () => void },
  ) {
    this.#port = port;
    this.#refs = refs;
    this.#onChange = on.change;
    this.#leave = on.leave;
    this.element = el('ul', { class: 'chips', aria: { label: port.strings.attached } });
    this.#render();
  }

  get refs(): readonly AttachmentRef[] {
    return this.#refs;
  }

  /** Adds what is not there yet, up to the bound. */
  add(refs: readonly AttachmentRef[]): void {
    const byName = new Map([...this.#refs, ...refs].map(ref => [refName(ref), ref]));
    this.#set([...byName.values()].slice(0, MAX_ATTACHMENTS));
  }

  clear(): void {
    this.#set([]);
  }

  #set(refs: readonly AttachmentRef[]): void {
    this.#refs = refs;
    this.#render();
    this.#onChange();
  }

  #remove(index: number): void {
    this.#set(this.#refs.filter((_, i) => i !== index));
    const buttons = this.element.querySelectorAll('button');
    const next = buttons[Math.min(index, buttons.length - 1)];
    if (next) next.focus();
    else this.#leave();
  }

  #render(): void {
    this.element.hidden = this.#refs.length === 0;
    this.element.replaceChildren(
      ...this.#refs.map((ref, i) =>
        el(
          'li',
          { class: 'chip', title: refName(ref) },
          icon(ref.startLine === undefined ? 'file' : 'list-selection'),
          el('span', { class: 'chip-label' }, refLabel(ref)),
          button({
            class: 'chip-remove',
            icon: 'close',
            title: fill(this.#port.strings.remove, refName(ref)),
            aria: { label: fill(this.#port.strings.remove, refName(ref)) },
            onClick: () => this.#remove(i),
          }),
        ),
      ),
    );
  }
}
