import type { ChatStatus } from '../protocol.ts';
import { button, el, icon } from './dom.ts';
import type { Port } from './port.ts';

/** Where prompts are typed: Enter sends, Shift+Enter begins a new line. A draft outlives the webview. */
export class Composer {
  readonly element: HTMLElement;
  readonly #port: Port;
  readonly #input: HTMLTextAreaElement;
  readonly #send: HTMLButtonElement;
  readonly #onDraft: (draft: string) => void;
  readonly #onSend: () => void;
  #running = false;

  constructor(
    port: Port,
    draft: string,
    on: { readonly draft: (text: string) => void; readonly send: () => void; readonly recall: () => string },
  ) {
    this.#port = port;
    this.#onDraft = on.draft;
    this.#onSend = on.send;
    this.#input = el('textarea', { class: 'prompt', aria: { label: port.strings.promptLabel } });
    this.#input.id = 'prompt';
    this.#input.rows = 1;
    this.#input.placeholder = port.strings.placeholder;
    this.#input.value = draft;
    this.#input.addEventListener('input', () => this.#changed());
    this.#input.addEventListener('keydown', event => {
      if (event.isComposing) return;
      if (event.key === 'Enter' && !event.shiftKey && !event.altKey) {
        event.preventDefault();
        this.#submit();
      } else if (event.key === 'ArrowUp' && this.#input.value === '') {
        event.preventDefault();
        this.setText(on.recall());
      }
    });
    this.#send = button({ class: 'send', icon: 'send', onClick: () => this.#clicked() });
    this.#send.id = 'send';
    this.element = el('div', { class: 'composer' }, this.#input, this.#send);
    this.#changed();
  }

  focus(): void {
    this.#input.focus();
  }

  /** Replaces the draft. */
  setText(text: string): void {
    this.#input.value = text;
    this.#changed();
    this.#input.focus();
  }

  /** Puts text where the cursor is, apart from the words around it. */
  insert(text: string): void {
    const { selectionStart, selectionEnd, value } = this.#input;
    const space = selectionStart > 0 && !/\s$/.test(value.slice(0, selectionStart)) ? ' ' : '';
    this.#input.setRangeText(space + text, selectionStart, selectionEnd, 'end');
    this.#changed();
    this.#input.focus();
  }

  update({ state }: ChatStatus): void {
    this.#running = state === 'running';
    this.#changed();
  }

  #clicked(): void {
    if (this.#running) this.#port.post({ type: 'stop' });
    else this.#submit();
  }

  #submit(): void {
    const text = this.#input.value.trim();
    if (text === '') return;
    this.#port.post({ type: 'prompt', text });
    this.#input.value = '';
    this.#changed();
    this.#onSend();
    this.#input.focus();
  }

  #changed(): void {
    this.#onDraft(this.#input.value);
    const { strings } = this.#port;
    const label = this.#running ? strings.stop : strings.send;
    const role = this.#running ? 'stop' : 'send';
    this.#send.disabled = !this.#running && this.#input.value.trim() === '';
    if (this.#send.dataset['action'] === role) return;
    this.#send.dataset['action'] = role;
    this.#send.title = label;
    this.#send.setAttribute('aria-label', label);
    this.#send.replaceChildren(icon(this.#running ? 'debug-stop' : 'send'));
  }
}
