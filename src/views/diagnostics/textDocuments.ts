import * as vscode from 'vscode';
import { TEXT_SCHEME } from '../contributions.ts';

/** Shows texts as read-only documents, which live in memory until they are closed. */
export class TextDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #texts = new Map<string, string>();
  #shown = 0;
  readonly #owned = vscode.Disposable.from(
    vscode.workspace.registerTextDocumentContentProvider(TEXT_SCHEME, this),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => {
      if (uri.scheme === TEXT_SCHEME) this.#texts.delete(uri.toString());
    }),
  );

  provideTextDocumentContent(uri: vscode.Uri): string {
    // VS Code opens it again after a reload.
    return (
      this.#texts.get(uri.toString()) ?? vscode.l10n.t('This text was not stored. Run the command again.')
    );
  }

  /** @param name of the file; VS Code tells the language by its extension. */
  async show(name: string, text: string): Promise<void> {
    await vscode.window.showTextDocument(this.hold(name, text));
  }

  /** The address of a text, for an editor to open. @param name see {@link show} */
  hold(name: string, text: string): vscode.Uri {
    // Each text gets its own address: an open document keeps the text that it was opened with.
    const uri = vscode.Uri.from({ scheme: TEXT_SCHEME, path: `/${name}`, query: String(++this.#shown) });
    this.#texts.set(uri.toString(), text);
    return uri;
  }

  dispose(): void {
    this.#owned.dispose();
  }
}
