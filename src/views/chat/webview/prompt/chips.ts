import { attachmentLabel, attachmentName, withoutDuplicates } from '../../attachments/attachmentRefs.ts';
import { fill } from '../../../../agent/base/localiser.ts';
import { MAX_ATTACHMENTS, type AttachmentRef } from '../../protocol.ts';
import { button, el, icon, thumbnail } from '../dom.ts';
import type { Port } from '../port.ts';

/** The attachments of the next prompt, as chips that can be removed. */
export class Chips {
  readonly element: HTMLElement;
  readonly #port: Port;
  readonly #onChange: () => void;
  /** Moves the focus elsewhere when the last chip is removed. */
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

  /** Adds what is not attached yet, up to the limit. */
  add(refs: readonly AttachmentRef[]): void {
    this.#set(withoutDuplicates([...this.#refs, ...refs]).slice(0, MAX_ATTACHMENTS));
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
          { class: 'chip', title: attachmentName(ref) },
          ref.image
            ? thumbnail(ref.image.src, fill(this.#port.strings.imageLabel, attachmentLabel(ref)))
            : icon(ref.startLine === undefined ? 'file' : 'list-selection'),
          el('span', { class: 'chip-label' }, attachmentLabel(ref)),
          button({
            class: 'chip-remove',
            icon: 'close',
            title: fill(this.#port.strings.remove, attachmentName(ref)),
            aria: { label: fill(this.#port.strings.remove, attachmentName(ref)) },
            onClick: () => this.#remove(i),
          }),
        ),
      ),
    );
  }
}
