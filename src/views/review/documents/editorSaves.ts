import * as vscode from 'vscode';

/**
 * Tracks the text that editors save, and whether they have unsaved changes: after every save, VS Code tells extensions that there
 * are none, even if the user typed during the save.
 */
export class EditorSaves {
  /** Text that editors are saving right now, by URI. */
  readonly #saving = new Map<string, string>();
  /** URIs of editors that the user typed into while they were being saved. */
  readonly #typedOn = new Set<string>();

  noteSaving(uri: vscode.Uri, text: string): void {
    this.#saving.set(uri.toString(), text);
  }

  /** @returns whether the user typed into the editor while it was saved; `undefined` if the saved text is not known. */
  noteSaved(document: vscode.TextDocument): boolean | undefined {
    const key = document.uri.toString();
    const saved = this.#saving.get(key);
    this.#saving.delete(key);
    if (saved === undefined) return undefined;
    const isTypedOn = !holds(document, saved);
    if (isTypedOn) this.#typedOn.add(key);
    return isTypedOn;
  }

  /** From now on, VS Code's `isDirty` of this document is right. */
  noteChanged(uri: vscode.Uri): void {
    this.#typedOn.delete(uri.toString());
  }

  noteClosed(uri: vscode.Uri): void {
    this.#saving.delete(uri.toString());
    this.#typedOn.delete(uri.toString());
  }

  isDirty({ isDirty, uri }: vscode.TextDocument): boolean {
    return isDirty || this.#typedOn.has(uri.toString());
  }

  isDirtyAt(uri: vscode.Uri): boolean {
    const document = openDocument(uri);
    return document !== undefined && this.isDirty(document);
  }
}

export function openDocument(uri: vscode.Uri): vscode.TextDocument | undefined {
  const key = uri.toString();
  return vscode.workspace.textDocuments.find(each => each.uri.toString() === key);
}

/** Whether the document would save this text. */
export function holds(document: vscode.TextDocument, text: string): boolean {
  return document.getText().toWellFormed() === text.toWellFormed();
}

/** The URI of the document that a tab shows, if it is the only editable one: of a diff, the right side. */
export function documentIn(tab: vscode.Tab | undefined): string | undefined {
  const input = tab?.input;
  if (input instanceof vscode.TabInputTextDiff) return input.modified.toString();
  return input instanceof vscode.TabInputText ? input.uri.toString() : undefined;
}
