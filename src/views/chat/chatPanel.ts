import * as vscode from 'vscode';
import { showInfo } from '../toast.ts';
import type { CommandHandlers } from '../commandRegistry.ts';
import type { ChatView } from './chatView.ts';
import type { ChatCtx } from './hostedCommands.ts';

/** Registers the chat panel with VS Code; its view is loaded when the panel is first opened or used. */
export class ChatPanel implements vscode.WebviewViewProvider, vscode.Disposable {
  readonly #options: ChatCtx;
  #view: Promise<ChatView> | undefined;

  readonly #asking: vscode.Disposable;
  readonly #returning: vscode.Disposable;
  #webview: vscode.WebviewView | undefined;

  constructor(options: ChatCtx) {
    this.#options = options;
    // The question is a row of the chat.
    this.#asking = options.hosts.onDidChange(() => {
      const { question } = options.hosts;
      if (!question || this.isVisible) return;
      const show = vscode.l10n.t('Show');
      void showInfo(vscode.l10n.t('The agent wants to read from {0}.', question.host), show).then(
        clicked => clicked === show && options.execute('redline.chat.focus'),
      );
    });
    // Prompts may also wait that another chat sent, before this view was ever loaded.
    this.#returning = options.session.onDidEmit(event => {
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
    this.#returning.dispose();
    void this.#view?.then(view => view.dispose());
  }

  async #load(): Promise<ChatView> {
    const reading = this.#options.session.tree.readAhead();
    const { ChatView } = await import('./chatView.ts');
    await reading;
    return new ChatView(this.#options);
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
