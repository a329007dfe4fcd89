import * as vscode from 'vscode';
import { revisionsOf, titleOf, type Preview, type SeenRevisions } from '../../../agent/preview/preview.ts';
import type { PreviewStore } from '../../../agent/preview/previewStore.ts';
import { conflictPaths } from '../../../agent/preview/rebase/conflictMarkers.ts';
import { execute } from '../../commandRegistry.ts';
import { idList, oneLine } from '../../plainText.ts';
import { confirm, showWarning } from '../../toast.ts';
import type { ProposalEdits } from '../documents/proposalEdits.ts';

export interface ApplyGuardOptions {
  readonly store: Pick<PreviewStore, 'blockersOf'>;
  readonly edits: Pick<ProposalEdits, 'hasUnsaved'>;
}

/** What the user agreed to; it becomes part of the request to the invoker. */
export interface ApplyConsent {
  readonly chain?: SeenRevisions;
}

/** Warns or asks the user before an Apply that would do something other than what they see. */
export class ApplyGuard {
  readonly #options: ApplyGuardOptions;

  constructor(options: ApplyGuardOptions) {
    this.#options = options;
  }

  /**
   * Asks for consent where it is needed: to apply the preview alone, or together with the previews that it depends on, as
   * they are now. `undefined` if the user declines, or has to do something else first.
   * @param agreed the previews that the clicked button already named, at the revisions that it was shown with.
   */
  async ask(preview: Preview, agreed: SeenRevisions = {}): Promise<ApplyConsent | undefined> {
    const blockers = this.#options.store.blockersOf(preview);
    const group = [...blockers, preview];
    if (this.refusesUnsaved(group)) return undefined;
    const conflicted = group.find(({ changes }) => conflictPaths(changes ?? []).length > 0);
    if (conflicted) {
      void this.#offerEdit(conflicted);
      return undefined;
    }
    if (blockers.length === 0) return {};
    if (blockers.every(({ id }) => Object.hasOwn(agreed, id))) return { chain: agreed };
    const chain = revisionsOf(blockers);
    const apply = vscode.l10n.t('Apply {0}', idList(group));
    const text =
      blockers.length === 1
        ? vscode.l10n.t(
            '{0} builds on {1}, which is still pending. Apply both?',
            preview.id,
            idList(blockers),
          )
        : vscode.l10n.t(
            '{0} builds on {1}, which are still pending. Apply all of them?',
            preview.id,
            idList(blockers),
          );
    return (await confirm(text, group.map(nameOf).join('\n'), apply)) ? { chain } : undefined;
  }

  /** Whether one of these has edits that the user has not saved. If so, the user is told. */
  refusesUnsaved(group: readonly Preview[]): boolean {
    const edited = group.find(({ id }) => this.#options.edits.hasUnsaved(id));
    if (!edited) return false;
    void showWarning(
      vscode.l10n.t('{0} has edits that you have not saved. Save or revert them first.', nameOf(edited)),
    );
    return true;
  }

  async #offerEdit(preview: Preview): Promise<void> {
    const edit = vscode.l10n.t('Edit');
    const text = vscode.l10n.t(
      '{0} still has conflicts. Accept one side of each, or edit it.',
      nameOf(preview),
    );
    if ((await showWarning(text, edit)) === edit) await execute('redline.preview.edit', preview.id);
  }
}

function nameOf(preview: Preview): string {
  return `${preview.id} (${oneLine(titleOf(preview), 80)})`;
}
