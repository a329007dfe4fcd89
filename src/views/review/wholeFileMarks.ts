import * as vscode from 'vscode';
import { Owner } from '../../agent/base/disposable.ts';
import type { PreviewStore } from '../../agent/hold/preview/previewStore.ts';
import { parsePreviewUri, type FileUris } from '../workspace/previewUri.ts';
import { shownChange } from './shownChange.ts';

/** Marks all lines of a new file as added, and those of a deleted one as removed, where no diff does. */
export class WholeFileMarks extends Owner {
  readonly #store: PreviewStore;
  readonly #files: FileUris;
  readonly #marks = {
    create: this.own(markOf('inserted', 'M8 3v10M3 8h10')),
    delete: this.own(markOf('removed', 'M3 8h10')),
  };

  constructor(store: PreviewStore, files: FileUris) {
    super();
    this.#store = store;
    this.#files = files;
    this.own(vscode.window.onDidChangeVisibleTextEditors(editors => editors.forEach(one => this.#mark(one))));
    this.own(
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (!parsePreviewUri(document.uri)) return;
        for (const editor of vscode.window.visibleTextEditors)
          if (editor.document === document) this.#mark(editor);
      }),
    );
    for (const editor of vscode.window.visibleTextEditors) this.#mark(editor);
  }

  #mark(editor: vscode.TextEditor): void {
    const { document } = editor;
    const address = parsePreviewUri(document.uri);
    if (!address) return;
    const kind = isAlone(document.uri)
      ? shownChange(this.#store, this.#files, address)?.change.kind
      : undefined;
    // After the last line feed, VS Code shows a line that the file does not have.
    const last = document.lineCount - 1;
    const end = last > 0 && document.lineAt(last).text === '' ? last - 1 : last;
    const whole = [new vscode.Range(0, 0, end, 0)];
    editor.setDecorations(this.#marks.create, kind === 'create' ? whole : []);
    editor.setDecorations(this.#marks.delete, kind === 'delete' ? whole : []);
  }
}

/**
 * Lines as a diff shows them: with a colour, or with a border in high contrast.
 * @param sign the path of a plus or minus beside each line
 */
function markOf(kind: 'inserted' | 'removed', sign: string): vscode.TextEditorDecorationType {
  return vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor(`diffEditor.${kind}LineBackground`),
    // Only themes of high contrast have this colour.
    border: '1px dashed',
    borderColor: new vscode.ThemeColor(`diffEditor.${kind}TextBorder`),
    gutterIconSize: '60%',
    dark: { gutterIconPath: signOf(sign, 'white') },
    light: { gutterIconPath: signOf(sign, 'black') },
  });
}

function signOf(path: string, color: string): vscode.Uri {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="${path}" stroke="${color}" stroke-width="1.6"/></svg>`;
  return vscode.Uri.parse(`data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`);
}

/** Whether a tab shows the document by itself: a diff has marks of its own. */
function isAlone(uri: vscode.Uri): boolean {
  return vscode.window.tabGroups.all.some(
    ({ activeTab }) =>
      activeTab?.input instanceof vscode.TabInputText && activeTab.input.uri.toString() === uri.toString(),
  );
}
