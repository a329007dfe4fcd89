import type { Disposable } from '../../../../base/disposable.ts';

/** A document that an editor has open. It is the same object for as long as it is open. */
export interface OpenDocument {
  /** Its text, in which every line ends with a line feed. */
  readonly text: string;
  readonly isDirty: boolean;
  /**
   * Replaces its text by `to`, in one edit that Undo in the editor takes back.
   * @returns false if its text is no longer `from`, or the editor refuses the edit.
   */
  replace(from: string, to: string): Promise<boolean>;
}

/** `changed`: it was opened, its text changed, or it became dirty or clean. */
export type DocumentEvent = 'changed' | 'saved' | 'closed';

export interface EditorWatch extends Disposable {
  /** Open documents of the file, under every name by which editors know it. */
  readonly documents: readonly OpenDocument[];
}

/** The editors of the window, as far as applied changes depend on them. */
export interface Editors {
  /** Reports the events of the documents of a file, given as a workspace path, until the watch is disposed of. */
  watch(path: string, onEvent: (document: OpenDocument, event: DocumentEvent) => void): EditorWatch;
}

/** For where there are no editors. */
export const NO_EDITORS: Editors = { watch: () => ({ documents: [], dispose: () => undefined }) };

/** Loads them on first use. */
export type LoadEditors = () => Promise<Editors>;
