import * as vscode from 'vscode';
import { TEXT_SCHEME } from '../contributions.ts';

/** Shows texts as read-only documents, which live in memory until they are closed. */
export class TextDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #texts = new Map<string, string>();
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #owned = vscode.Disposable.from(
    this.#changed,
    vscode.workspace.registerTextDocumentContentProvider(TEXT_SCHEME, this),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => {
      if (uri.scheme === TEXT_SCHEME) this.#texts.delete(uri.path);
    }),
  );

  readonly onDidChange = this.#changed.event;

  provideTextDocumentContent({ path }: vscode.Uri): string {
    // VS Code opens it again after a reload.
    return this.#texts.get(path) ?? vscode.l10n.t('This text was not stored. Run the command again.');
  }

  /** @param name of the file; by its ending VS Code knows the language. */
  async show(name: string, text: string): Promise<void> {
    const uri = vscode.Uri.from({ scheme: TEXT_SCHEME, path: `/${name}` });
    this.#texts.set(uri.path, text);
    this.#changed.fire(uri);
    await vscode.window.showTextDocument(uri);
  }

  dispose(): void {
    this.#owned.dispose();
  }
}
