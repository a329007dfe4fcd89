import { setTimeout as delay } from 'node:timers/promises';
import * as vscode from 'vscode';
import type { Round } from './rounds.ts';

/**
 * A person who types words into the editor in front, and who knows which of them must still be there: all that the editor has
 * shown, but for those that an undo took away.
 */
export class Typist implements vscode.Disposable {
  static #words = 0;
  readonly #due = new Set<string>();
  readonly #listener: vscode.Disposable;
  /** Whether an undo took a text away that {@link watches} names. */
  isUndone = false;

  /** @param watched a text that is to be applied. */
  constructor(watched: string) {
    const held = new Map<vscode.TextDocument, string>();
    for (const document of vscode.workspace.textDocuments) held.set(document, document.getText());
    this.#listener = vscode.workspace.onDidChangeTextDocument(({ document, contentChanges, reason }) => {
      if (document.uri.scheme !== 'file') return;
      const [before, now] = [held.get(document) ?? '', document.getText()];
      held.set(document, now);
      for (const { text } of contentChanges)
        for (const [word] of text.matchAll(/«\d+»/g)) this.#due.add(word);
      if (reason === undefined) return;
      if (before.includes(watched) && !now.includes(watched)) this.isUndone = true;
      for (const word of this.#due) if (before.includes(word) && !now.includes(word)) this.#due.delete(word);
    });
  }

  /** Settles after the last key. */
  async type({ gaps, undoAfter }: Round['typing']): Promise<void> {
    for (const [n, gap] of gaps.entries()) {
      await vscode.commands.executeCommand('type', { text: `«${++Typist.#words}»` });
      if (n === undoAfter) await vscode.commands.executeCommand('undo');
      await delay(gap);
    }
  }

  /** The words that none of these texts has, although one must. */
  missingIn(texts: readonly string[]): readonly string[] {
    return [...this.#due].filter(word => !texts.some(text => text.includes(word)));
  }

  dispose(): void {
    this.#listener.dispose();
  }
}
