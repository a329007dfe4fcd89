import * as z from 'zod/mini';
import {
  attachmentRef,
  hostMessage,
  type ChatStatus,
  type HostMessage,
  type WebviewMessage,
} from '../protocol.ts';
import { Composer, type Draft } from './prompt/composer.ts';
import { button, el } from './dom.ts';
import './jitless.ts';
import { MessageList } from './messageList.ts';
import { ModeSwitch } from './prompt/modeSwitch.ts';
import type { Port } from './port.ts';
import { ReviewBar } from './reviewBar.ts';
import { StatusRow } from './statusRow.ts';

declare function acquireVsCodeApi(): {
  postMessage(message: WebviewMessage): void;
  getState(): unknown;
  setState(state: unknown): void;
};

const vscode = acquireVsCodeApi();
type Snapshot = Extract<HostMessage, { type: 'snapshot' }>;

/** Everything on the screen, rebuilt for each snapshot. */
class Panel {
  readonly #port: Port;
  readonly #list: MessageList;
  readonly #mode: ModeSwitch;
  readonly #review: ReviewBar;
  readonly #composer: Composer;
  readonly #empty: EmptyState;
  readonly #status: StatusRow;
  #isRunning = false;

  constructor(snapshot: Snapshot, port: Port) {
    this.#port = port;
    this.#empty = new EmptyState(snapshot, port, text => this.#composer.setText(text));
    this.#list = new MessageList(port, this.#empty.element);
    this.#mode = new ModeSwitch(port);
    this.#review = new ReviewBar(port);
    this.#status = new StatusRow(port);
    this.#composer = new Composer({
      port,
      commands: snapshot.commands,
      tools: this.#mode.elements,
      draft: readDraft(),
      onDraft: draft => vscode.setState(draft),
      onSend: () => this.#list.scrollToEnd(),
      prompts: () => this.#list.all('user').map(({ text }) => text),
    });
    this.#list.element.prepend(el('h1', { class: 'hidden' }, snapshot.strings.title));
    document.body.replaceChildren(
      this.#list.element,
      el('footer', { class: 'footer' }, this.#review.element, this.#status.element, this.#composer.element),
    );
    this.#list.open(snapshot.items);
    this.#show(snapshot.status);
  }

  focus(): void {
    this.#composer.focus();
  }

  handle(message: Exclude<HostMessage, Snapshot>): void {
    switch (message.type) {
      case 'delta':
        this.#list.update(message);
        if (message.status) this.#show(message.status);
        this.#empty.element.hidden = !this.#list.isEmpty;
        break;
      case 'focus':
        this.focus();
        break;
      case 'attached':
        this.#composer.attach(message.refs);
        break;
      case 'putBack':
        this.#composer.putBack(message.text, message.refs);
        break;
      case 'show':
        this.#list.show(message.key);
        break;
      case 'files':
        this.#composer.answer(message);
        break;
    }
  }

  /** Escape stops the model, except where it closes something. */
  handleKey(event: KeyboardEvent): void {
    if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing || !this.#isRunning) return;
    if (event.target instanceof HTMLInputElement) return;
    event.preventDefault();
    this.#port.post({ type: 'stop' });
  }

  #show(status: ChatStatus): void {
    this.#isRunning = status.state === 'running';
    this.#mode.update(status);
    this.#review.update(status);
    this.#composer.update(status);
    this.#status.update(status);
    this.#empty.update(status);
    document.body.dataset['state'] = status.state;
    this.#empty.element.hidden = !this.#list.isEmpty;
  }
}

/** What is shown while there is nothing else. */
class EmptyState {
  readonly element: HTMLElement;
  readonly #connect: HTMLElement;

  constructor({ strings, examples }: Snapshot, { post }: Port, use: (text: string) => void) {
    this.#connect = button({
      class: 'button secondary',
      label: strings.connectModel,
      data: { action: 'selectModel' },
      onClick: () => post({ type: 'action', name: 'selectModel' }),
    });
    this.element = el(
      'section',
      { class: 'empty' },
      el('p', { class: 'empty-title' }, strings.emptyTitle),
      el('p', { class: 'empty-hint' }, strings.emptyHint),
      el(
        'ul',
        { class: 'examples', aria: { label: strings.examples } },
        ...examples.map(text =>
          el('li', {}, button({ class: 'example', label: text, onClick: () => use(text) })),
        ),
      ),
      this.#connect,
    );
  }

  update({ offline }: ChatStatus): void {
    this.#connect.hidden = !offline;
  }
}

const draftState = z.object({ text: z.string(), attachments: z.array(attachmentRef) });

function readDraft(): Draft {
  return draftState.safeParse(vscode.getState()).data ?? { text: '', attachments: [] };
}

let panel: Panel | undefined;
window.addEventListener('message', (event: MessageEvent<unknown>) => {
  const { data: message } = hostMessage.safeParse(event.data);
  if (!message) return;
  if (message.type !== 'snapshot') {
    panel?.handle(message);
    return;
  }
  panel = new Panel(message, { strings: message.strings, post: reply => vscode.postMessage(reply) });
  // The panel may have got the focus before there was anything to focus.
  if (document.hasFocus()) panel.focus();
});
window.addEventListener('keydown', event => panel?.handleKey(event));
// A click focuses what was clicked right after this.
window.addEventListener('focus', () => {
  if (document.activeElement === document.body) panel?.focus();
});
vscode.postMessage({ type: 'ready' });
