import * as l10n from '@vscode/l10n';
import { attachmentLabel, attachmentName, withoutDuplicates } from '../../attachments/attachmentRefs.ts';
import { MAX_ATTACHMENTS, type AttachmentRef } from '../../protocol.ts';
import { button, el, icon, thumbnail } from '../dom.ts';

/** The attachments of the next prompt, as chips that can be removed. */
export class Chips {
  readonly element: HTMLElement;
  readonly #onChange: () => void;
  /** Moves the focus elsewhere when the last chip is removed. */
  readonly #leave: () => void;
  #refs: readonly AttachmentRef[];

  constructor(
    refs: readonly AttachmentRef[],
    on: { readonly change: () => void; readonly leave: () => void },
  ) {
    this.#refs = refs;
    this.#onChange = on.change;
    this.#leave = on.leave;
    this.element = el('ul', { class: 'chips', aria: { label: l10n.t('Attached') } });
    this.#render();
  }

  get refs(): readonly AttachmentRef[] {
    return this.#refs;
  }

  /** Adds those not attached yet, up to the limit. */
  add(refs: readonly AttachmentRef[]): void {
    const all = withoutDuplicates([...this.#refs, ...refs]);
    this.#set(all.slice(0, Math.max(MAX_ATTACHMENTS, this.#refs.length)));
  }

  /** Adds the attachments of prompts that came back. None is dropped, even beyond the limit. */
  putBack(refs: readonly AttachmentRef[]): void {
    this.#set(withoutDuplicates([...this.#refs, ...refs]));
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
            ? thumbnail(ref.image.src, l10n.t('Image: {0}', attachmentLabel(ref)))
            : icon(ref.startLine === undefined ? 'file' : 'list-selection'),
          el('span', { class: 'chip-label' }, attachmentLabel(ref)),
          button({
            class: 'chip-remove',
            icon: 'close',
            title: l10n.t('Remove {0}', attachmentName(ref)),
            aria: { label: l10n.t('Remove {0}', attachmentName(ref)) },
            onClick: () => this.#remove(i),
          }),
        ),
      ),
    );
  }
}
