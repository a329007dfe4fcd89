import * as vscode from 'vscode';
import { conflictPaths } from '../../agent/preview/conflictMarkers.ts';
import { revisionsOf, type Preview, type SeenRevisions } from '../../agent/preview/preview.ts';
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

/** What goes into the vote of a person who was asked. */
export interface ApplyConsent {
  readonly chain?: SeenRevisions;
}

/** What a person is told or asked before an Apply that would not do what they see. */
export class ApplyGuard {
  readonly #options: ApplyGuardOptions;

  constructor(options: ApplyGuardOptions) {
    this.#options = options;
  }

  /**
   * What a person consents to: to apply it alone, or with the previews that it is made on as they are now; `undefined` if
   * not at all.
   * @param agreed the previews beneath it that stood on what the person clicked, at the revisions of that time.
   */
  async ask(preview: Preview, agreed: SeenRevisions = {}): Promise<ApplyConsent | undefined> {
    const blockers = this.#options.store.blockersOf(preview);
    const group = [...blockers, preview];
    const edited = group.find(({ id }) => this.#options.edits.hasUnsaved(id));
    if (edited) {
      void showWarning(
        vscode.l10n.t('You are editing the proposal of {0}. Save it first, or revert it.', nameOf(edited)),
      );
      return undefined;
    }
    const unsettled = group.find(({ changes }) => conflictPaths(changes ?? []).length > 0);
    if (unsettled) {
      void this.#offerEdit(unsettled);
      return undefined;
    }
    if (blockers.length === 0) return {};
    if (blockers.every(({ id }) => Object.hasOwn(agreed, id))) return { chain: agreed };
    const chain = revisionsOf(blockers);
    const apply = vscode.l10n.t('Apply {0}', chainText(group));
    const text = vscode.l10n.t('{0} is made on changes that are pending too.', nameOf(preview));
    return (await confirm(text, blockers.map(nameOf).join('\n'), apply)) ? { chain } : undefined;
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
