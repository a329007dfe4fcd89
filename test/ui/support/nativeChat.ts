import type { Locator } from 'playwright-core';
import type { Workbench } from './workbench.mjs';

/** VS Code's own chat in a window: what a user types, reads and clicks there. */
export class NativeChat {
  readonly #workbench: Workbench;

  /** Shows the chat, and waits until it takes a request and its list of models offers Redline's entry. */
  static async open(workbench: Workbench): Promise<NativeChat> {
    await workbench.runCommand('Chat: Open Chat');
    const chat = new NativeChat(workbench);
    await chat.#input().waitFor();
    await chat.#panel().getByText('Redline', { exact: true }).first().waitFor();
    return chat;
  }

  private constructor(workbench: Workbench) {
    this.#workbench = workbench;
  }

  /**
   * Types a request and sends it. Does not wait for the reply.
   * @param text replaces what is in the input, such as the participant that stays there
   */
  async ask(text: string): Promise<void> {
    const { keyboard } = this.#workbench.page;
    await this.#input().click();
    await keyboard.press('Control+A');
    await keyboard.type(text);
    // The list of suggestions would take the key.
    await keyboard.press('Escape');
    await keyboard.press('Enter');
  }

  /** The last reply. */
  reply(): Locator {
    return this.#panel().locator('.interactive-response').last();
  }

  /** A button on the last reply. */
  button(title: string): Locator {
    return this.reply().locator('.chat-command-button').getByText(title, { exact: true });
  }

  /** A follow-up above the input. */
  followUp(label: string): Locator {
    return this.#panel().locator('.interactive-session-followups').getByText(label, { exact: true });
  }

  #panel(): Locator {
    return this.#workbench.page.locator('.interactive-session');
  }

  #input(): Locator {
    return this.#panel().locator('.interactive-input-part .monaco-editor').first();
  }
}
