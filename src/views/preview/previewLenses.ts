import * as vscode from 'vscode';
import { DisposableStore } from '../../agent/base/disposable.ts';
import { hunksOfChange } from '../../agent/preview/hunks.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import { fileLenses, hunkLenses, previewLenses } from './lensCommands.ts';
import type { ProposalEdits } from './proposalEdits.ts';
import { parsePreviewUri, type FileUris, type PreviewAddress } from './previewUri.ts';
import { shownChange } from './shownChange.ts';

/**
 * Buttons above the changed lines of a proposal: for the preview and the file above the first hunk, where the diff opens,
 * and above each hunk for that hunk where there are several. Each carries the revision that it stands in.
 */
export class PreviewLenses implements vscode.CodeLensProvider, vscode.Disposable {
  readonly #store: PreviewStore;
  readonly #files: FileUris;
  readonly #edits: ProposalEdits;
  readonly #owned = new DisposableStore();
  readonly #changed = this.#owned.add(new vscode.EventEmitter<void>());
  readonly onDidChangeCodeLenses = this.#changed.event;

  constructor(store: PreviewStore, files: FileUris, edits: ProposalEdits) {
    this.#store = store;
    this.#files = files;
    this.#edits = edits;
    this.#owned.add(store.onDidChange(() => this.#changed.fire()));
    this.#owned.add(edits.onDidChange(() => this.#changed.fire()));
    // A diff that comes back to the front may show the lenses that VS Code kept of it, of before something changed.
    this.#owned.add(
      vscode.window.onDidChangeVisibleTextEditors(editors => {
        if (editors.some(({ document }) => parsePreviewUri(document.uri))) this.#changed.fire();
      }),
    );
  }

  async provideCodeLenses(document: vscode.TextDocument): Promise<vscode.CodeLens[]> {
    const address = parsePreviewUri(document.uri);
    if (!address || address.side === 'base') return [];
    if (this.#isEdited(document) && this.#store.get(address.previewId)?.state.kind === 'pending')
      return [lens(0, note(vscode.l10n.t('$(edit) Edited: save it to propose this')))];
    const last = document.lineCount - 1;
    const lenses = (await this.#lenses(address)).map(([line, command]) =>
      lens(Math.min(line, last), command),
    );
    if (this.#edits.isOpen(document.uri)) {
      const editable = note(vscode.l10n.t('$(edit) Editable: save what you type to propose it'));
      lenses.push(lens(lenses[0]?.range.start.line ?? 0, editable));
    }
    return lenses;
  }

  dispose(): void {
    this.#owned.dispose();
  }

  /** Lines are those of the proposal as it is stored, which an edited document no longer has. */
  #isEdited({ isDirty, uri }: vscode.TextDocument): boolean {
    return isDirty || this.#edits.draftOf(uri) !== undefined;
  }

  async #lenses(address: PreviewAddress): Promise<[line: number, command: vscode.Command][]> {
    const opaque = this.#store.get(address.previewId);
    if (opaque && !opaque.changes) return previewLenses(opaque, this.#store).map(command => [0, command]);
    const shown = shownChange(this.#store, this.#files, address);
    if (!shown) return [];
    const { preview, change } = shown;
    const hunks = await hunksOfChange(change);
    const first = change.before && change.after ? (hunks[0]?.afterStart ?? 0) : 0;
    const above = [...previewLenses(preview, this.#store), ...fileLenses(preview, change)];
    return [
      ...above.map((command): [number, vscode.Command] => [first, command]),
      ...hunks.flatMap((hunk, index) =>
        hunkLenses(preview, change, index, hunks.length).map((command): [number, vscode.Command] => [
          hunk.afterStart,
          command,
        ]),
      ),
    ];
  }
}

function lens(line: number, command: vscode.Command): vscode.CodeLens {
  return new vscode.CodeLens(new vscode.Range(line, 0, line, 0), command);
}

function note(title: string): vscode.Command {
  return { title, command: '' };
}
