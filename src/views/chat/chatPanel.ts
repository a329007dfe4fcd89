import * as vscode from 'vscode';
import { oneLine } from '../plainText.ts';
import { showInfo } from '../toast.ts';
import type { CommandHandlers } from '../commandRegistry.ts';
import type { ChatView } from './chatView.ts';
import type { ChatCtx } from './hostedCommands.ts';
import { LiveTurn } from './transcript/liveTurn.ts';

/** Registers the chat panel with VS Code; its view is loaded when the panel is first opened or used. */
export class ChatPanel implements vscode.WebviewViewProvider, vscode.Disposable {
  readonly #options: ChatCtx;
  #view: Promise<ChatView> | undefined;
  /** The running turn, which may have begun before the view is loaded and follows it. */
  #live: LiveTurn | undefined = new LiveTurn();

  readonly #asking: vscode.Disposable;
  readonly #following: vscode.Disposable;
  #webview: vscode.WebviewView | undefined;

  constructor(options: ChatCtx) {
    this.#options = options;
    // Waits for a moment, since VS Code's own chat immediately ends a question that it cannot show.
    this.#asking = options.questions.onDidChange(() => queueMicrotask(() => this.#tellOfQuestion()));
    this.#following = options.session.onDidEmit(event => {
      this.#live?.follow(event);
      // Prompts that another chat sent may be returned before this view was ever loaded.
      if (event.type === 'prompts_returned') void this.view().then(view => view.putBack(event.prompts));
    });
  }

  /** Whether the user sees the panel, unless another window covers this one. */
  get isVisible(): boolean {
    return this.#webview?.visible === true;
  }

  async resolveWebviewView(view: vscode.WebviewView): Promise<void> {
    this.#webview = view;
    view.onDidDispose(() => {
      if (this.#webview === view) this.#webview = undefined;
    });
    (await this.view()).resolveWebviewView(view);
  }

  /** The loaded view. The first call reads the whole trunk ahead, because the view shows all of it at once. */
  view(): Promise<ChatView> {
    return (this.#view ??= this.#load());
  }

  dispose(): void {
    this.#asking.dispose();
    this.#following.dispose();
    void this.#view?.then(view => view.dispose());
  }

  /** The question is a row of the chat. */
  #tellOfQuestion(): void {
    const { open } = this.#options.questions;
    if (!open || this.isVisible) return;
    const show = vscode.l10n.t('Show');
    const text =
      open.about === 'host'
        ? vscode.l10n.t('The agent wants to read from {0}.', open.host)
        : vscode.l10n.t('The agent asks: {0}', oneLine(open.text));
    void showInfo(text, show).then(
      clicked => clicked === show && this.#options.execute('redline.chat.focus'),
    );
  }

  async #load(): Promise<ChatView> {
    const reading = this.#options.session.tree.readAhead();
    const { ChatView } = await import('./chatView.ts');
    await reading;
    const live = this.#live;
    this.#live = undefined;
    return new ChatView(this.#options, live);
  }
}

/** The commands that act on the chat. */
export function chatCommands(chat: ChatPanel): CommandHandlers {
  return {
    // The explorer passes the clicked file and all selected ones, an editor only its own file, which is the active one.
    'redline.chat.attach': async (_clicked, selected) =>
      (await chat.view()).attach(
        Array.isArray(selected) ? selected.filter(uri => uri instanceof vscode.Uri) : [],
      ),
  };
}
