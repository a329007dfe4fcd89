import './jitless.ts';
import { hostMessage, type ChatStatus, type HostMessage, type WebviewMessage } from '../protocol.ts';
import { Composer } from './composer.ts';
import { button, el, icon } from './dom.ts';
import { Header } from './header.ts';
import { MessageList } from './messageList.ts';
import type { Port } from './port.ts';

declare function acquireVsCodeApi(): {
  postMessage(message: WebviewMessage): void;
  getState(): unknown;
  setState(state: unknown): void;
};

const vscode = acquireVsCodeApi();
type Snapshot = Extract<HostMessage, { type: 'snapshot' }>;

/** Everything on the screen, made anew for each snapshot. */
class Panel {
  readonly #list: MessageList;
  readonly #header: Header;
  readonly #composer: Composer;
  readonly #empty: HTMLElement;
  readonly #line = el('div', { class: 'status-line', role: 'status' });

  constructor(snapshot: Snapshot, port: Port) {
    this.#empty = emptyState(snapshot, text => this.#composer.setText(text));
    this.#list = new MessageList(port, this.#empty);
    this.#header = new Header(port);
    this.#composer = new Composer(port, readDraft(), {
      draft: text => vscode.setState({ draft: text }),
      send: () => this.#list.scrollToEnd(),
      recall: () => this.#list.last('user')?.text ?? '',
    });
    document.body.replaceChildren(
      this.#header.element,
      this.#list.element,
      el('footer', { class: 'footer' }, this.#line, this.#composer.element),
    );
    this.#list.update({ items: snapshot.items, texts: [], order: snapshot.items.map(item => item.key) });
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
        this.#empty.hidden = this.#list.last('user') !== undefined;
        break;
      case 'focus':
        this.focus();
        break;
      case 'insert':
        this.#composer.insert(message.text);
        break;
    }
  }

  #show(status: ChatStatus): void {
    this.#header.update(status);
    this.#composer.update(status);
    const busy = status.state === 'running' && icon('loading', 'codicon-modifier-spin');
    this.#line.replaceChildren(...(busy ? [busy] : []), status.line);
    this.#line.dataset['state'] = status.state;
    document.body.dataset['state'] = status.state;
    this.#empty.hidden = this.#list.last('user') !== undefined;
  }
}

function emptyState({ strings, examples }: Snapshot, use: (text: string) => void): HTMLElement {
  return el(
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
  );
}

function readDraft(): string {
  const state = vscode.getState();
  const draft = typeof state === 'object' && state !== null && 'draft' in state ? state.draft : '';
  return typeof draft === 'string' ? draft : '';
}

let panel: Panel | undefined;
window.addEventListener('message', (event: MessageEvent<unknown>) => {
  const { data: message } = hostMessage.safeParse(event.data);
  if (!message) return;
  if (message.type !== 'snapshot') {
    panel?.handle(message);
    return;
  }
  const hadFocus = document.activeElement !== null && document.activeElement !== document.body;
  panel = new Panel(message, { strings: message.strings, post: reply => vscode.postMessage(reply) });
  if (hadFocus) panel.focus();
});
vscode.postMessage({ type: 'ready' });
