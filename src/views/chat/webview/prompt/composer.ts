import * as l10n from '@vscode/l10n';
import { endOf } from '../../../../agent/base/cutText.ts';
import { MAX_IMAGE_BYTES } from '../../../../agent/session/model/messages.ts';
import {
  MAX_ATTACHMENTS,
  MAX_PROMPT_CHARS,
  type AttachmentRef,
  type ChatStatus,
  type HostMessage,
} from '../../protocol.ts';
import { Chips } from './chips.ts';
import { Completion, typedBefore } from './completion.ts';
import { button, el, icon } from '../dom.ts';
import { post } from '../host.ts';
import { PromptRecall } from './promptRecall.ts';
import { Suggestions, type Suggestion } from './suggestions.ts';

/** The unsent prompt, which survives a reload of the webview. */
export interface Draft {
  readonly text: string;
  readonly attachments: readonly AttachmentRef[];
}

interface ComposerOptions {
  readonly commands: Extract<HostMessage, { type: 'snapshot' }>['commands'];
  /** More controls for the row below the input. */
  readonly tools: readonly HTMLElement[];
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
  readonly onSend: () => void;
  /** The prompts so far, the oldest first. */
  readonly prompts: () => readonly string[];
}

/** The prompt input: Enter sends, Shift+Enter starts a new line, `/` and `@` open suggestions. */
export class Composer {
  readonly element: HTMLElement;
  readonly #options: ComposerOptions;
  readonly #input: HTMLTextAreaElement;
  readonly #send: HTMLButtonElement;
  readonly #model: HTMLButtonElement;
  readonly #chips: Chips;
  readonly #completion: Completion;
  readonly #suggestions: Suggestions;
  readonly #recall = new PromptRecall();
  #running = false;
  /** How many pasted images the host is still to attach. */
  #awaited = 0;
  /** Whether the user has sent the prompt meanwhile: it goes with them. */
  #goesThen = false;

  constructor(options: ComposerOptions) {
    const { draft, commands, tools } = options;
    this.#options = options;
    this.#input = el('textarea', { class: 'prompt', aria: { label: l10n.t('Prompt') } });
    this.#input.id = 'prompt';
    this.#input.rows = 1;
    this.#input.placeholder = l10n.t('Ask for a change. / for commands, @ for files');
    this.#input.value = draft.text;
    this.#completion = new Completion(commands);
    this.#suggestions = new Suggestions(this.#input, l10n.t('Suggestions'), one => this.#accept(one));
    this.#chips = new Chips(draft.attachments, {
      change: () => this.#changed(),
      leave: () => this.focus(),
    });
    this.#input.addEventListener('input', () => {
      this.#changed();
      this.#suggest();
    });
    this.#input.addEventListener('keydown', event => this.#handleKey(event));
    this.#input.addEventListener('paste', event => this.#takeImages(event, event.clipboardData));
    // Otherwise the browser does not let files be dropped here.
    this.#input.addEventListener('dragover', event => {
      if (event.dataTransfer?.types.includes('Files') === true) event.preventDefault();
    });
    this.#input.addEventListener('drop', event => this.#takeImages(event, event.dataTransfer));
    this.#input.addEventListener('blur', () => this.#suggestions.hide());
    const attach = button({
      class: 'icon-button',
      icon: 'attach',
      title: l10n.t('Attach a File or the Selection'),
      aria: { label: l10n.t('Attach a File or the Selection') },
      data: { action: 'attach' },
      onClick: () => post({ type: 'attach' }),
    });
    this.#model = button({
      class: 'model',
      label: '',
      onClick: () => post({ type: 'action', name: 'selectModel' }),
    });
    this.#send = button({ class: 'send', icon: 'send', onClick: () => this.#handleSendClick() });
    this.#send.id = 'send';
    this.element = el(
      'div',
      { class: 'composer' },
      this.#suggestions.element,
      this.#chips.element,
      this.#input,
      el('div', { class: 'composer-tools' }, attach, ...tools, this.#model, this.#send),
    );
    this.#changed();
  }

  focus(): void {
    this.#input.focus();
  }

  /** Replaces the draft's text. */
  setText(text: string): void {
    this.#input.value = text;
    this.#changed();
    this.#input.focus();
  }

  /** Puts a reverted prompt before the typed text, which stays. */
  putBack(text: string, refs: readonly AttachmentRef[]): void {
    const typed = this.#input.value.trim();
    this.#chips.putBack(refs);
    this.setText(typed === '' || typed === text.trim() ? text : `${text}\n\n${this.#input.value}`);
    this.#input.setSelectionRange(text.length, text.length);
  }

  /** @param isPasted whether these are the answer to a pasted image */
  attach(refs: readonly AttachmentRef[], isPasted = false): void {
    this.#chips.add(refs);
    if (isPasted && this.#awaited > 0) this.#noteAttached(refs.length > 0);
  }

  /** If an image could not be attached, the user decides whether to send the prompt without it. */
  #noteAttached(isThere: boolean): void {
    this.#awaited--;
    this.#goesThen &&= isThere;
    if (this.#awaited === 0 && this.#goesThen) this.#submit();
  }

  /** Shows the files that the host has found for the typed word. */
  answer(message: Extract<HostMessage, { type: 'files' }>): void {
    const found = this.#completion.answer(message);
    if (found && document.activeElement === this.#input) this.#suggestions.show(found);
  }

  update({ state, model }: ChatStatus): void {
    this.#running = state === 'running';
    const text = this.#model.querySelector('span');
    if (text) text.textContent = model;
    this.#model.title = l10n.t('Model: {0}. Choose another', model);
    this.#model.setAttribute('aria-label', this.#model.title);
    this.#changed();
  }

  #handleKey(event: KeyboardEvent): void {
    if (event.isComposing) return;
    const { key } = event;
    const handled = this.#suggestions.isOpen && !event.altKey && this.#handleListKey(event);
    if (handled) return event.preventDefault();
    if (key === 'Enter' && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      const isEmpty = this.#input.value.trim() === '';
      if (isEmpty && (event.ctrlKey || event.metaKey)) post({ type: 'applyShown' });
      else this.#submit();
    } else if (key === 'ArrowUp' || key === 'ArrowDown') {
      const recalled = this.#recall.step(
        key === 'ArrowUp' ? -1 : 1,
        this.#input.value,
        this.#options.prompts(),
      );
      if (recalled === undefined) return;
      event.preventDefault();
      this.setText(recalled);
    }
  }

  /** @returns whether the list handled the key */
  #handleListKey({ key, shiftKey }: KeyboardEvent): boolean {
    const { selected } = this.#suggestions;
    switch (key) {
      case 'ArrowDown':
      case 'ArrowUp':
        this.#suggestions.move(key === 'ArrowDown' ? 1 : -1);
        return true;
      case 'Enter':
      case 'Tab':
        if (!selected || shiftKey) {
          this.#suggestions.hide();
          return false;
        }
        // A command that is typed in full and needs no arguments is sent, not completed.
        if (
          key === 'Enter' &&
          selected.text === this.#input.value &&
          this.#completion.isComplete(selected.text)
        )
          return false;
        this.#accept(selected);
        return true;
      case 'Escape':
        this.#suggestions.hide();
        return true;
      default:
        return false;
    }
  }

  #suggest(): void {
    const found = this.#completion.find(this.#typed());
    if (found) this.#suggestions.show(found);
  }

  #typed() {
    const { value, selectionStart, selectionEnd } = this.#input;
    return selectionStart === selectionEnd ? typedBefore(value, selectionStart) : undefined;
  }

  /** Completes the word; a file is also attached to the prompt. */
  #accept({ text }: Suggestion): void {
    const typed = this.#typed();
    this.#suggestions.hide();
    if (!typed) return;
    const { value } = this.#input;
    const space = /^\s/.test(value.slice(typed.end)) ? '' : ' ';
    this.#input.setRangeText(text + space, typed.start, typed.end, 'end');
    if (typed.kind === 'file') this.#chips.add([{ path: text.slice(1) }]);
    this.#changed();
    this.#input.focus();
  }

  /** Hands pasted and dropped images to the host, which attaches them. Text is pasted and dropped as always. */
  #takeImages(event: Event, transfer: DataTransfer | null): void {
    const files = [...(transfer?.files ?? [])].filter(({ type }) => type.startsWith('image/'));
    if (files.length === 0) return;
    event.preventDefault();
    this.#awaited += files.length;
    for (const file of files) this.#sendImage(file).catch(() => this.#noteAttached(false));
  }

  async #sendImage(file: File): Promise<void> {
    // Browsers call every pasted picture image.png.
    const name = file.name === 'image.png' ? l10n.t('Pasted image') : endOf(file.name, 200);
    const data = file.size > MAX_IMAGE_BYTES ? '' : await base64Of(file);
    post({ type: 'pasteImage', name, data, bytes: file.size });
  }

  #handleSendClick(): void {
    if (this.#running) post({ type: 'stop' });
    else this.#submit();
  }

  #submit(): void {
    this.#goesThen = this.#awaited > 0;
    if (this.#goesThen) return;
    const { onSend } = this.#options;
    const typed = this.#input.value.trimStart();
    // Trailing whitespace of a command may be part of a file's content.
    const text = typed.startsWith('/') ? typed : typed.trimEnd();
    if (text === '') return;
    if (text.length > MAX_PROMPT_CHARS) return post({ type: 'promptTooLong' });
    // A command takes no attachments: they stay for the next prompt.
    const attachments = this.#completion.isCommand(text) ? [] : [...this.#chips.refs];
    if (attachments.length > MAX_ATTACHMENTS) return post({ type: 'tooManyAttached' });
    post({ type: 'prompt', text, ...(attachments.length > 0 ? { attachments } : {}) });
    this.#input.value = '';
    // Also drops the files that the host is still looking for.
    this.#suggest();
    if (attachments.length > 0) this.#chips.clear();
    this.#changed();
    onSend();
    this.#input.focus();
  }

  #changed(): void {
    const { onDraft } = this.#options;
    onDraft({ text: this.#input.value, attachments: this.#chips.refs });
    const label = this.#running ? l10n.t('Stop') : l10n.t('Send');
    const role = this.#running ? 'stop' : 'send';
    this.#send.disabled = !this.#running && this.#input.value.trim() === '';
    if (this.#send.dataset['action'] === role) return;
    this.#send.dataset['action'] = role;
    this.#send.title = label;
    this.#send.setAttribute('aria-label', label);
    this.#send.replaceChildren(icon(this.#running ? 'debug-stop' : 'send'));
  }
}

function base64Of(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => {
      const url = typeof reader.result === 'string' ? reader.result : '';
      resolve(url.slice(url.indexOf(',') + 1));
    });
    reader.addEventListener('error', () => reject(new Error('The image could not be read.')));
    reader.readAsDataURL(file);
  });
}
