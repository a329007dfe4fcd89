import * as vscode from 'vscode';
import { DisposableStore } from '../../agent/base/disposable.ts';
import { trimCommonLines } from '../../agent/preview/lineDiff.ts';
import type { Preview } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import { commandOf } from '../commands/commandOf.ts';
import { withoutIcons } from '../plainText.ts';
import { parsePreviewUri, type FileUris } from './previewUri.ts';

/** Apply and Discard above the first changed line of a proposal, where the diff opens. */
export class PreviewLenses implements vscode.CodeLensProvider, vscode.Disposable {
  readonly #store: PreviewStore;
  readonly #files: FileUris;
  readonly #owned = new DisposableStore();
  readonly #changed = this.#owned.add(new vscode.EventEmitter<void>());
  readonly onDidChangeCodeLenses = this.#changed.event;

  constructor(store: PreviewStore, files: FileUris) {
    this.#store = store;
    this.#files = files;
    this.#owned.add(store.onDidChange(() => this.#changed.fire()));
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const address = parsePreviewUri(document.uri);
    const preview = address?.side === 'proposal' ? this.#store.get(address.previewId) : undefined;
    if (!preview || !address) return [];
    const line = Math.min(this.#firstChangedLine(preview, address.path), document.lineCount - 1);
    const range = new vscode.Range(line, 0, line, 0);
    return lensCommands(preview, this.#store.openCount).map(command => new vscode.CodeLens(range, command));
  }

  dispose(): void {
    this.#owned.dispose();
  }

  #firstChangedLine(preview: Preview, path: string): number {
    const change = preview.changes?.find(candidate => this.#files(candidate.path).path === path);
    return change?.before && change.after ? trimCommonLines(change.before.text, change.after.text).start : 0;
  }
}

function lensCommands(preview: Preview, pending: number): vscode.Command[] {
  const { id, revision, state } = preview;
  switch (state.kind) {
    case 'applying':
      return [note(vscode.l10n.t('$(sync~spin) Resolving…'))];
    case 'applied':
      return [
        note(vscode.l10n.t('$(check) Applied')),
        ...(preview.changes ? [commandOf(vscode.l10n.t('Undo Apply'), 'redline.preview.undo', id)] : []),
      ];
    case 'discarded':
      return [
        note(vscode.l10n.t('$(discard) Discarded')),
        ...(preview.changes ? [commandOf(vscode.l10n.t('Reopen'), 'redline.preview.reopen', id)] : []),
      ];
    case 'expired':
      return [note(vscode.l10n.t('Expired: what it would have run is gone'))];
    case 'pending': {
      const files = preview.changes?.length ?? 1;
      const suffix = files === 1 ? '' : ` ${vscode.l10n.t('({0} files)', files)}`;
      const lenses = [
        commandOf(
          `$(check) ${vscode.l10n.t('Apply')}${suffix}`,
          'redline.preview.apply',
          id,
          undefined,
          revision,
        ),
        commandOf(
          `$(discard) ${vscode.l10n.t('Discard')}${suffix}`,
          'redline.preview.discard',
          id,
          undefined,
          revision,
        ),
      ];
      if (pending > 1) lenses.push(commandOf(vscode.l10n.t('Next'), 'redline.preview.next'));
      if (state.stale.length > 0)
        lenses.push(
          note(vscode.l10n.t('$(warning) Stale: {0} changed since', withoutIcons(state.stale.join(', ')))),
        );
      else if (state.lastError !== undefined)
        lenses.push(note(vscode.l10n.t('$(error) Apply failed: {0}', withoutIcons(state.lastError))));
      if (state.recommendation) {
        const { action, reason } = state.recommendation;
        const text =
          action === 'apply'
            ? vscode.l10n.t('model recommends Apply: {0}', withoutIcons(reason))
            : vscode.l10n.t('model recommends Discard: {0}', withoutIcons(reason));
        lenses.push(note(text));
      }
      return lenses;
    }
  }
}

/** A lens that only says something. */
function note(title: string): vscode.Command {
  return { title, command: '' };
}
