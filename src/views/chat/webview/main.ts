import * as l10n from '@vscode/l10n';
import * as z from 'zod/mini';
import { attachmentRef, hostMessage, type ChatStatus, type HostMessage } from '../protocol.ts';
import { Composer, type Draft } from './prompt/composer.ts';
import { button, el } from './dom.ts';
import { actionButton } from './items.ts';
import './jitless.ts';
import { MessageList } from './messageList.ts';
import { ModeSwitch } from './prompt/modeSwitch.ts';
import { keep, kept, post, setSession } from './host.ts';
import { StatusRow } from './statusRow.ts';
import { TodoList } from './todoList.ts';

type Snapshot = Extract<HostMessage, { type: 'snapshot' }>;

/** Example prompts that work without a model, in any workspace. */
const OFFLINE_EXAMPLES = ['/tour', '/write notes.md :: Hello', '/help'];

/** Everything on the screen, rebuilt for each snapshot. */
class Panel {
  readonly #list: MessageList;
  readonly #mode: ModeSwitch;
  readonly #todo: TodoList;
  readonly #composer: Composer;
  readonly #empty: EmptyState;
  readonly #status: StatusRow;
  #isRunning = false;

  constructor(snapshot: Snapshot) {
    this.#empty = new EmptyState(text => this.#composer.setText(text));
    this.#list = new MessageList(this.#empty.element);
    this.#mode = new ModeSwitch();
    this.#todo = new TodoList();
    this.#status = new StatusRow();
    this.#composer = new Composer({
      commands: snapshot.commands,
      tools: this.#mode.elements,
      draft: readDraft(),
      onDraft: keep,
      onSend: () => this.#list.scrollToEnd(),
      prompts: () => this.#list.all('user').map(({ text }) => text),
    });
    this.#list.element.prepend(el('h1', { class: 'hidden' }, l10n.t('Redline Chat')));
    document.body.replaceChildren(
      this.#list.element,
      el('footer', { class: 'footer' }, this.#todo.element, this.#status.element, this.#composer.element),
    );
    this.#list.open(snapshot.items);
    this.#show(snapshot.status);
  }

  focus(): void {
    this.#composer.focus();
  }

  handle(message: Exclude<HostMessage, { type: 'language' | 'snapshot' }>): void {
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
        this.#composer.attach(message.refs, message.isPasted);
        break;
      case 'putBack':
        this.#composer.putBack(message.text, message.refs);
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
    post({ type: 'stop' });
  }

  #show(status: ChatStatus): void {
    this.#isRunning = status.state === 'running';
    this.#mode.update(status);
    this.#todo.update(status);
    this.#composer.update(status);
    this.#status.update(status);
    this.#empty.update(status);
    document.body.dataset['state'] = status.state;
    this.#empty.element.hidden = !this.#list.isEmpty;
  }
}

/** Placeholder shown while there are no messages. */
class EmptyState {
  readonly element: HTMLElement;
  readonly #examples: HTMLElement;
  readonly #connect: HTMLElement;
  readonly #use: (text: string) => void;

  constructor(use: (text: string) => void) {
    this.#use = use;
    this.#examples = el('ul', { class: 'examples', aria: { label: l10n.t('Examples') } });
    this.#connect = actionButton('selectModel', l10n.t('Connect a Model'));
    this.element = el(
      'section',
      { class: 'empty' },
      el('p', { class: 'empty-title' }, l10n.t('Ask for a change, then review it as a diff.')),
      el('p', { class: 'empty-hint' }, l10n.t('Nothing is written to your files until you apply it.')),
      this.#examples,
      el('div', { class: 'buttons' }, actionButton('agents.connect'), this.#connect),
    );
  }

  update({ offline }: ChatStatus): void {
    this.#connect.hidden = !offline;
    const examples = offline
      ? OFFLINE_EXAMPLES
      : [l10n.t('What does this workspace do?'), l10n.t('Find a bug and propose a fix'), '/help'];
    this.#examples.replaceChildren(
      ...examples.map(text =>
        el('li', {}, button({ class: 'example', label: text, onClick: () => this.#use(text) })),
      ),
    );
  }
}

const draftState = z.object({ text: z.string(), attachments: z.array(attachmentRef) });

function readDraft(): Draft {
  return draftState.safeParse(kept()).data ?? { text: '', attachments: [] };
}

/** A held key presses a button or sends once, because the focus may be elsewhere by then. It goes on typing. */
function ignoreHeld(event: KeyboardEvent): void {
  const { key, repeat, target, shiftKey } = event;
  if (!repeat || (key !== 'Enter' && key !== ' ')) return;
  const isPrompt = target instanceof HTMLTextAreaElement;
  const isTyped = key === ' ' ? isPrompt || target instanceof HTMLInputElement : isPrompt && shiftKey;
  if (isTyped) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

let panel: Panel | undefined;
window.addEventListener('message', (event: MessageEvent<unknown>) => {
  const { data: message } = hostMessage.safeParse(event.data);
  if (!message) return;
  if (message.type === 'language') return l10n.config({ contents: message.texts });
  if (message.type !== 'snapshot') return panel?.handle(message);
  setSession(message.session);
  panel = new Panel(message);
  // The panel may have received the focus before it had anything to focus.
  if (document.hasFocus()) panel.focus();
});
// Before anything else handles the key.
window.addEventListener('keydown', ignoreHeld, { capture: true });
window.addEventListener('keydown', event => panel?.handleKey(event));
// A click focuses its target right after this.
window.addEventListener('focus', () => {
  post({ type: 'focused' });
  if (document.activeElement === document.body) panel?.focus();
});
post({ type: 'ready' });
