import * as vscode from 'vscode';
import { DisposableStore } from '../../agent/base/disposable.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import { parsePreviewUri, type FileUris } from './previewUri.ts';
import { shownChange } from './shownChange.ts';

/** Marks all lines of a new file as added, and those of a deleted one as removed, where no diff does. */
export class WholeFileMarks implements vscode.Disposable {
  readonly #store: PreviewStore;
  readonly #files: FileUris;
  readonly #owned = new DisposableStore();
  readonly #marks = {
    create: this.#owned.add(markOf('diffEditor.insertedLineBackground')),
    delete: this.#owned.add(markOf('diffEditor.removedLineBackground')),
  };

  constructor(store: PreviewStore, files: FileUris) {
    this.#store = store;
    this.#files = files;
    this.#owned.add(
      vscode.window.onDidChangeVisibleTextEditors(editors => editors.forEach(one => this.#mark(one))),
    );
    this.#owned.add(
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (!parsePreviewUri(document.uri)) return;
        for (const editor of vscode.window.visibleTextEditors)
          if (editor.document === document) this.#mark(editor);
      }),
    );
    for (const editor of vscode.window.visibleTextEditors) this.#mark(editor);
  }

  dispose(): void {
    this.#owned.dispose();
  }

  #mark(editor: vscode.TextEditor): void {
    const { document } = editor;
    const address = parsePreviewUri(document.uri);
    if (!address) return;
    const kind = isAlone(document.uri)
      ? shownChange(this.#store, this.#files, address)?.change.kind
      : undefined;
    const whole = [new vscode.Range(0, 0, document.lineCount - 1, 0)];
    editor.setDecorations(this.#marks.create, kind === 'create' ? whole : []);
    editor.setDecorations(this.#marks.delete, kind === 'delete' ? whole : []);
  }
}

function markOf(color: string): vscode.TextEditorDecorationType {
  const backgroundColor = new vscode.ThemeColor(color);
  return vscode.window.createTextEditorDecorationType({ isWholeLine: true, backgroundColor });
}

/** Whether a tab shows the document by itself: a diff has marks of its own. */
function isAlone(uri: vscode.Uri): boolean {
  return vscode.window.tabGroups.all.some(
    ({ activeTab }) =>
      activeTab?.input instanceof vscode.TabInputText && activeTab.input.uri.toString() === uri.toString(),
  );
}
