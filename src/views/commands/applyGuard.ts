import * as vscode from 'vscode';
import { conflictPaths } from '../../agent/preview/conflictMarkers.ts';
import type { Preview } from '../../agent/preview/preview.ts';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import { chainText } from '../preview/chainText.ts';
import type { ProposalEdits } from '../preview/proposalEdits.ts';
import { oneLine } from '../plainText.ts';
import { confirm, showWarning } from '../toast.ts';
import { execute } from './registerCommand.ts';

export interface ApplyGuardOptions {
  readonly store: Pick<PreviewStore, 'blockersOf'>;
  readonly edits: Pick<ProposalEdits, 'hasUnsaved'>;
}

/** What a person is told or asked before an Apply that would not do what they see. */
export class ApplyGuard {
  readonly #options: ApplyGuardOptions;

  constructor(options: ApplyGuardOptions) {
    this.#options = options;
  }

  /**
   * Whether to apply: alone, or with the previews that it is made on, or not at all.
   * @param agreed the person clicked on what names the whole chain.
   */
  async ask(preview: Preview, agreed = false): Promise<'alone' | 'chain' | 'no'> {
    const blockers = this.#options.store.blockersOf(preview);
    const group = [...blockers, preview];
    const edited = group.find(({ id }) => this.#options.edits.hasUnsaved(id));
    if (edited) {
      void showWarning(
        vscode.l10n.t('You are editing the proposal of {0}. Save it first, or revert it.', nameOf(edited)),
      );
      return 'no';
    }
    const unsettled = group.find(({ changes }) => conflictPaths(changes ?? []).length > 0);
    if (unsettled) {
      void this.#offerEdit(unsettled);
      return 'no';
    }
    if (blockers.length === 0) return 'alone';
    if (agreed) return 'chain';
    const apply = vscode.l10n.t('Apply {0}', chainText(group));
    const text = vscode.l10n.t('{0} is made on changes that are pending too.', nameOf(preview));
    return (await confirm(text, blockers.map(nameOf).join('\n'), apply)) ? 'chain' : 'no';
  }

  async #offerEdit(preview: Preview): Promise<void> {
    const edit = vscode.l10n.t('Edit');
    const text = vscode.l10n.t('{0} still holds conflict markers. Settle them and save.', nameOf(preview));
    if ((await showWarning(text, edit)) === edit) await execute('redline.preview.edit', preview.id);
  }
}

function nameOf({ id, label }: Preview): string {
  return `${id} (${oneLine(label, 80)})`;
}
