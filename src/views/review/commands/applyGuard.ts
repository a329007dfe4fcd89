import * as vscode from 'vscode';
import {
  revisionsOf,
  titleOf,
  type Preview,
  type SeenRevisions,
} from '../../../agent/hold/preview/preview.ts';
import { conflictPaths } from '../../../agent/hold/preview/rebase/conflictMarkers.ts';
import { planOf } from '../../../agent/hold/preview/plan.ts';
import { execute } from '../../commandRegistry.ts';
import { oneLine, plural } from '../../plainText.ts';
import { allText } from '../../texts/previewWords.ts';
import { confirm, showWarning } from '../../toast.ts';
import type { Ctx } from '../../ctx.ts';

/** The user's consent; it becomes part of the request to the invoker. */
export interface ApplyConsent {
  readonly chain?: SeenRevisions;
}

/** Warns or asks the user before an Apply that would do something other than what they see. */
export class ApplyGuard {
  readonly #ctx: Ctx;

  constructor(ctx: Ctx) {
    this.#ctx = ctx;
  }

  /**
   * Asks for consent where it is needed: to apply the preview alone, or together with the previews that it depends on, as
   * they are now. `undefined` if the user declines, or has to do something else first.
   * @param agreed the previews that the clicked button already named, at the revisions that it was shown with.
   */
  async ask(preview: Preview, agreed: SeenRevisions = {}): Promise<ApplyConsent | undefined> {
    const blockers = this.#ctx.store.open.blockersOf(preview);
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
    const forms = vscode.l10n.t(
      '{1} builds on another change that is still pending. Apply both?|{1} builds on {0} changes that are still pending. Apply all of them?',
    );
    const text = plural(forms, blockers.length, quoted(preview));
    const apply = allText('apply', group.length);
    return (await confirm(text, group.map(quoted).join('\n'), apply)) ? { chain } : undefined;
  }

  /** Whether one of these has unsaved edits. If so, the user is told. */
  refusesUnsaved(group: readonly Preview[]): boolean {
    const edited = group.find(({ id }) => this.#ctx.edits.hasUnsaved(id));
    if (!edited) return false;
    void showWarning(
      vscode.l10n.t('{0} has edits that you have not saved. Save or revert them first.', quoted(edited)),
    );
    return true;
  }

  /** The same for what the user may have begun to type meanwhile, into the preview or one that is applied with it. */
  refusesTyped(preview: Preview): boolean {
    return this.refusesUnsaved([...this.#ctx.store.open.blockersOf(preview), preview]);
  }

  async #offerEdit(preview: Preview): Promise<void> {
    const edit = vscode.l10n.t('Edit');
    const text = vscode.l10n.t(
      '{0} still has conflicts. Accept one side of each, or edit it.',
      quoted(preview),
    );
    if ((await showWarning(text, edit)) === edit) await execute('redline.preview.edit', preview.id);
  }
}

function quoted(preview: Preview): string {
  return `“${oneLine(titleOf(preview), 80)}”`;
}

/** The user's reason for discarding a preview, or the changes asked of a plan; `undefined` if they cancel. */
export function askReasonFor(preview: Preview): Thenable<string | undefined> {
  const plan = planOf(preview);
  if (!plan) return askReason(vscode.l10n.t('Discard {0}', oneLine(titleOf(preview))));
  return ask(
    vscode.l10n.t('Send back the plan “{0}”', oneLine(plan.title)),
    vscode.l10n.t('What should change? (sent to the model, which revises the plan)'),
  );
}

/** The user's reason for a discard that the title names; `undefined` if they cancel. */
export function askReason(title: string): Thenable<string | undefined> {
  return ask(title, vscode.l10n.t('Reason (sent to the model)'));
}

/** The box stays while the user looks something up in the code, so that nothing that they have typed is lost. */
function ask(title: string, prompt: string): Thenable<string | undefined> {
  return vscode.window.showInputBox({ title, prompt, ignoreFocusOut: true });
}
