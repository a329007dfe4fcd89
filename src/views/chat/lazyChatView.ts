import type * as vscode from 'vscode';
import type { Attachment } from '../../agent/model/messages.ts';
import type { ChatView, ChatViewOptions } from './chatView.ts';

/** The chat panel, whose code is loaded when it is first shown: activation does not pay for it. */
export class LazyChatView implements vscode.WebviewViewProvider, vscode.Disposable {
  readonly #options: ChatViewOptions;
  #chat: Promise<ChatView> | undefined;

  constructor(options: ChatViewOptions) {
    this.#options = options;
  }

  async resolveWebviewView(view: vscode.WebviewView): Promise<void> {
    (await this.#load()).resolveWebviewView(view);
  }

  /** Attaches files to the next prompt; the active editor when none are given. */
  async attach(uris: readonly vscode.Uri[]): Promise<void> {
    await (await this.#load()).attach(uris);
  }

  /** Puts a prompt back into the input, before what is typed there. */
  async putBack(text: string, attachments: readonly Attachment[]): Promise<void> {
    await (await this.#load()).putBack(text, attachments);
  }

  /** Shows a message of the trunk. */
  async show(node: number): Promise<void> {
    await (await this.#load()).show(node);
  }

  dispose(): void {
    void this.#chat?.then(chat => chat.dispose());
  }

  /** The panel shows the whole trunk at once, which is read meanwhile. */
  async #make(): Promise<ChatView> {
    const reading = this.#options.session.tree.readAhead();
    const { ChatView } = await import('./chatView.ts');
    await reading;
    return new ChatView(this.#options);
  }

  #load(): Promise<ChatView> {
    return (this.#chat ??= this.#make());
  }
}
