import * as vscode from 'vscode';
import type { FileChange } from '../../../agent/hold/preview/fileChange.ts';
import {
  isOpen,
  needsOwnVote,
  titleOf,
  type Preview,
  type ResolveAction,
  type SeenRevisions,
} from '../../../agent/hold/preview/preview.ts';
import { setVotes } from '../../../agent/hold/preview/setVotes.ts';
import { humanReason } from '../../../agent/hold/preview/resolve/resolveTexts.ts';
import { planOf } from '../../../agent/hold/preview/plan.ts';
import { oneLine } from '../../plainText.ts';
import { allText } from '../../texts/previewWords.ts';
import { confirm, showInfo } from '../../toast.ts';
import { ApplyGuard, askReason, askReasonFor } from './applyGuard.ts';
import { BulkVotes, ownVotesText } from './bulkVotes.ts';
import { askImports, revisionNow } from './importGuard.ts';
import { PartCommands } from './partCommands.ts';
import type { PreviewTarget, PreviewTargets } from './previewTargets.ts';
import { seenNow } from './seenNow.ts';
import type { Ctx } from '../../ctx.ts';

/** Whether the dialog that confirms Apply All or Discard All is open. */
let isAsking = false;

/** The user's Apply and Discard of whole previews, from a command's arguments to the invoker. */
export class PreviewVotes {
  readonly #ctx: Ctx;
  readonly #targets: PreviewTargets;
  readonly #guard: ApplyGuard;
  readonly #bulk: BulkVotes;
  readonly #parts: PartCommands;

  constructor(ctx: Ctx, targets: PreviewTargets) {
    this.#ctx = ctx;
    this.#targets = targets;
    this.#guard = new ApplyGuard(ctx);
    this.#bulk = new BulkVotes(ctx);
    this.#parts = new PartCommands(ctx);
  }

  /**
   * Resolves each preview, or file, that was named. If none was, the head opens instead. A single preview that somebody else has
   * changed since the user saw it is shown again instead.
   */
  async vote(
    action: ResolveAction,
    args: readonly unknown[],
    named: readonly PreviewTarget[],
  ): Promise<unknown> {
    const [first] = named;
    if (first?.isOfAll) return action === 'apply' ? this.applyAll(true) : this.discardAll(true);
    if (named.length > 1) {
      const before = action === 'apply' ? await askImports(this.#ctx.store, this.#changesOf(named)) : [];
      return (
        before &&
        this.#together<unknown>(bulk =>
          action === 'apply' ? bulk.applyAll(named, before) : bulk.discardAll(named),
        )
      );
    }
    if (first?.path !== undefined)
      return this.#parts.voteOnFile(action, [first.id, first.path, first.revision], undefined);
    const { store, invoker } = this.#ctx;
    const preview = first && store.get(first.id);
    if (!preview) return this.#targets.openHead();
    if (!isOpen(preview)) return void showInfo(alreadyText(preview));
    const { revision } = preview;
    await seenNow(this.#ctx, preview, first.revision ?? revision);
    const consent = action === 'apply' ? await this.#guard.ask(preview, seenRevisions(args[3])) : {};
    if (!consent) return undefined;
    const typed = typeof args[1] === 'string' ? args[1] : undefined;
    const asks = action === 'discard' && typed === undefined && planOf(preview) !== undefined;
    const reason = asks ? await askReasonFor(preview) : (typed ?? '');
    if (reason === undefined) return undefined;
    const vote = { action, reason: humanReason(action, reason), actor: 'human' } as const;
    const changes = preview.changes ?? [];
    const before = action === 'apply' ? await askImports(store, changes) : [];
    if (!before) return undefined;
    if (before.length > 0 && !(await this.#together(bulk => bulk.applyAll(before)))) return undefined;
    if (before.length > 0 && this.#guard.refusesTyped(preview)) return undefined;
    const now = before.length > 0 ? revisionNow(store, preview, changes) : revision;
    // VS Code sends the result of a command to the window: do not return the previews.
    return (await invoker.resolve({ id: preview.id, revision: now, ...vote, ...consent })).kind;
  }

  /** Asks for a reason, then discards the revisions shown when it asked. */
  async discardWithReason(named: readonly PreviewTarget[]): Promise<unknown> {
    const [first] = named;
    const preview = first && this.#ctx.store.get(first.id);
    if (!preview) return this.#targets.openHead();
    if (named.length > 1) {
      const discard = this.#bulk.prepareDiscards(named);
      const reason = await askReason(vscode.l10n.t('Discard {0} selected previews and files', named.length));
      return reason === undefined ? undefined : this.#ctx.opener.together(() => discard(reason));
    }
    if (first.path !== undefined)
      return this.#parts.discardFileWithReason([first.id, first.path, first.revision], undefined);
    const reason = await askReasonFor(preview);
    if (reason === undefined) return undefined;
    const target = { id: preview.id, revision: first.revision ?? preview.revision };
    return this.vote('discard', [preview.id, reason], [target]);
  }

  /** @param asks the person confirms it in a dialog; a second call meanwhile, as by a double click, does nothing */
  async applyAll(asks = false): Promise<unknown> {
    const chosen = await this.#whichOfAll('apply');
    if (!chosen || (asks && !(await this.#confirmsAll('apply')))) return undefined;
    return this.#together(bulk => bulk.applyAll(chosen));
  }

  /**
   * Also ends the review: a user who discards everything does not want the session to continue on its own.
   * @param asks see {@link applyAll}
   */
  async discardAll(asks = false): Promise<unknown> {
    const chosen = await this.#whichOfAll('discard');
    if (asks && !(await this.#confirmsAll('discard'))) return undefined;
    if (chosen) this.#ctx.session.endReview();
    return chosen && this.#together(bulk => bulk.discardAll(chosen));
  }

  /**
   * The previews that “all” means: all that are pending, as they are now. `undefined` if none of them can be resolved together
   * with others.
   */
  async #whichOfAll(action: ResolveAction): Promise<readonly PreviewTarget[] | undefined> {
    const pending = this.#targets.pending();
    // The summary of the votes names previews that are left for another reason.
    if (action === 'discard' || !pending.every(needsOwnVote)) return pending.map(targetOf);
    await this.#targets.openHead();
    const own = ownVotesText(
      this.#ctx.store,
      pending.map(({ id }) => id),
    );
    return own === '' ? undefined : void showInfo(own);
  }

  async #confirmsAll(action: ResolveAction): Promise<boolean> {
    const { store, edits } = this.#ctx;
    if (isAsking) return false;
    isAsking = true;
    try {
      const count = setVotes(store.open, { isEdited: id => edits.hasUnsaved(id) })[action];
      const button = action === 'apply' ? vscode.l10n.t('Apply') : vscode.l10n.t('Discard');
      return await confirm(allText(action, count), '', button);
    } finally {
      isAsking = false;
    }
  }

  #changesOf(targets: readonly PreviewTarget[]): readonly FileChange[] {
    return targets.flatMap(({ id, path }) =>
      (this.#ctx.store.get(id)?.changes ?? []).filter(change => path === undefined || change.path === path),
    );
  }

  async #together<T>(resolveAll: (bulk: BulkVotes) => Promise<T>): Promise<T> {
    return this.#ctx.opener.together(() => resolveAll(this.#bulk));
  }
}

function targetOf({ id, revision }: Preview): PreviewTarget {
  return { id, revision };
}

/** The argument as revisions; `undefined` for anything else that VS Code or a link may pass. */
function seenRevisions(argument: unknown): SeenRevisions | undefined {
  if (typeof argument !== 'object' || argument === null || Array.isArray(argument)) return undefined;
  return Object.values(argument).every(value => typeof value === 'number')
    ? (argument as SeenRevisions)
    : undefined;
}

/** Why the preview can no longer be resolved. */
function alreadyText(preview: Preview): string {
  const { id, state } = preview;
  const name = `${oneLine(titleOf(preview))} (${id})`;
  switch (state.kind) {
    case 'applied':
      return vscode.l10n.t('{0} is already applied: {1}', name, oneLine(state.by.reason));
    case 'discarded':
      return vscode.l10n.t('{0} is already discarded: {1}', name, oneLine(state.by.reason));
    case 'expired':
      return vscode.l10n.t('{0} has expired and can no longer run.', name);
    case 'pending':
    case 'applying':
      return vscode.l10n.t('{0} is still pending.', name);
  }
}
