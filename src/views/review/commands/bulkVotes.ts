import * as vscode from 'vscode';
import { detailOf } from '../../../agent/base/errors.ts';
import { HOLD_BACK } from '../../../agent/elsewhere/holdBack.ts';
import type { FileChange } from '../../../agent/preview/fileChange.ts';
import { needsOwnVote, type Preview, type ResolveAction } from '../../../agent/preview/preview.ts';
import type { PreviewStore } from '../../../agent/preview/previewStore.ts';
import { resolvePart } from '../../../agent/preview/resolve/resolvePart.ts';
import { humanReason } from '../../../agent/preview/resolve/resolveTexts.ts';
import { reopenAction } from '../../../agent/preview/undo.ts';
import { countText } from '../../../agent/base/countText.ts';
import { reopenPreview } from '../../ledger/ledgerCommands.ts';
import { showInfo } from '../../toast.ts';
import type { PreviewTarget } from './previewTargets.ts';
import type { Ctx } from '../../ctx.ts';

/** From this many votes on, progress is shown and can be cancelled. */
const PROGRESS_FROM = 25;

/** Resolves many previews, or files of previews, one after another, with one summary at the end. */
export class BulkVotes {
  readonly #ctx: Ctx;

  constructor(ctx: Ctx) {
    this.#ctx = ctx;
  }

  /**
   * Applies each preview after those that it builds on, whichever was staged first. Skips stale and edited ones.
   * Leaves what needs a vote of its own, and says so.
   */
  async applyAll(all: readonly PreviewTarget[]): Promise<void> {
    const { store, edits } = this.#ctx;
    const targets = all.filter(({ id }) => {
      const preview = store.get(id);
      return !preview || !needsOwnVote(preview);
    });
    const isFresh = ({ id }: PreviewTarget): boolean => !this.#isStale(id) && !edits.hasUnsaved(id);
    const skipped = targets.filter(target => !isFresh(target));
    const votes = this.#inApplyOrder(targets.filter(isFresh)).map(target =>
      this.#prepareVote('apply', target),
    );
    const cast = await this.#castAll('apply', votes, '');
    const applied = cast.resolved.length;
    const left = cast.left + skipped.filter(({ id }) => store.get(id)?.state.kind === 'pending').length;
    const done = countText(vscode.l10n.t('Applied 1 preview.|Applied {0} previews.'), vscode.l10n)(applied);
    const rest = countText(
      vscode.l10n.t('1 was not applied and stays pending.|{0} were not applied and stay pending.'),
      vscode.l10n,
    )(left);
    const own = ownVotesText(
      store,
      all.map(({ id }) => id),
    );
    void showInfo([targets.length > 0 ? done : '', left > 0 ? rest : '', own].filter(Boolean).join(' '));
  }

  /**
   * Discards each preview before those that it builds on, which would rebase it otherwise. Then offers to reopen what was discarded, without waiting for the user's answer.
   * @param reason the user's reason for all of them, or empty
   * @returns how many it discarded
   */
  discardAll(targets: readonly PreviewTarget[], reason = ''): Promise<number> {
    return this.prepareDiscards(targets)(reason);
  }

  /**
   * Prepares {@link discardAll} for a reason that the user has yet to type: only what the targets show at this moment will be
   * discarded, not what they change to meanwhile.
   */
  prepareDiscards(targets: readonly PreviewTarget[]): (reason: string) => Promise<number> {
    const { logger } = this.#ctx;
    const votes = targets.map(target => this.#prepareVote('discard', target));
    return async reason => {
      const votesDown = this.#inApplyOrder(votes).reverse();
      const { resolved, left } = await this.#castAll('discard', votesDown, reason);
      const discarded = resolved.reverse();
      this.#offerReopening(discarded, left).catch((error: unknown) => {
        logger.error(`Reopening discarded previews failed: ${detailOf(error)}`);
      });
      return discarded.length;
    };
  }

  #inApplyOrder<T extends { readonly id: string }>(targets: readonly T[]): T[] {
    const order = new Map(this.#ctx.store.list('oldestFirst').map(({ id }, i) => [id, i]));
    const at = ({ id }: T): number => order.get(id) ?? -1;
    return targets.toSorted((one, other) => at(one) - at(other));
  }

  /** @param left how many were not discarded, because their votes were refused or not cast any more */
  async #offerReopening(discarded: readonly Preview[], left: number): Promise<void> {
    const reopenable = discarded.filter(preview => reopenAction(preview) !== undefined);
    const reopen = vscode.l10n.t('Reopen');
    const done = countText(
      vscode.l10n.t('Discarded 1 preview.|Discarded {0} previews.'),
      vscode.l10n,
    )(discarded.length);
    const rest = countText(
      vscode.l10n.t('1 was not discarded and stays pending.|{0} were not discarded and stay pending.'),
      vscode.l10n,
    )(left);
    const own = discarded.some(({ sourceToolName }) => sourceToolName === HOLD_BACK)
      ? vscode.l10n.t('That includes your uncommitted changes, which you can reopen.')
      : '';
    const choice = await showInfo(
      [done, left === 0 ? '' : rest, own].filter(Boolean).join(' '),
      ...(reopenable.length > 0 ? [reopen] : []),
    );
    if (choice === reopen) for (const preview of reopenable) await reopenPreview(this.#ctx, preview);
  }

  /** Failures are logged. */
  async #castAll(action: ResolveAction, votes: readonly PreparedVote[], typed: string): Promise<CastVotes> {
    const reason = humanReason(action, typed);
    if (votes.length < PROGRESS_FROM) return this.#castEach(votes, reason, () => false);
    const title =
      action === 'apply' ? vscode.l10n.t('Applying previews') : vscode.l10n.t('Discarding previews');
    const { Notification: location } = vscode.ProgressLocation;
    return vscode.window.withProgress({ location, title, cancellable: true }, (progress, token) =>
      this.#castEach(votes, reason, done => {
        progress.report({
          increment: 100 / votes.length,
          message: vscode.l10n.t('{0} of {1}', done, votes.length),
        });
        return token.isCancellationRequested;
      }),
    );
  }

  async #castEach(
    votes: readonly PreparedVote[],
    reason: string,
    stopAfter: (done: number) => boolean,
  ): Promise<CastVotes> {
    const { store, logger } = this.#ctx;
    const resolved: Preview[] = [];
    const open = new Set(votes);
    for (const [index, vote] of votes.entries()) {
      const { action, id, cast } = vote;
      try {
        const preview = await cast(reason);
        if (preview?.state.kind === (action === 'apply' ? 'applied' : 'discarded')) {
          resolved.push(preview);
          open.delete(vote);
        }
      } catch (error) {
        logger.warn(`${action} ${id} failed: ${detailOf(error)}`);
      }
      if (stopAfter(index + 1)) break;
    }
    const left = [...open].filter(({ id }) => store.get(id)?.state.kind === 'pending').length;
    return { resolved, left };
  }

  /** A vote on what the target shows at this moment. Casting it gives the resolved preview: for a file, its part. */
  #prepareVote(action: ResolveAction, target: PreviewTarget): PreparedVote {
    const { store, invoker } = this.#ctx;
    const { id, path } = target;
    const changeNow = (): FileChange | undefined =>
      store.get(id)?.changes?.find(change => change.path === path);
    const current = store.get(id)?.revision ?? 0;
    const revision = target.revision ?? current;
    // A row that is out of date showed something else.
    const seen = revision === current ? changeNow() : undefined;
    const cast = async (reason: string): Promise<Preview | undefined> => {
      const request = { id, action, reason, actor: 'human' as const };
      if (path === undefined) {
        await invoker.resolve({ ...request, revision });
        return store.get(id);
      }
      // Votes on other files raise the preview's revision. If this file is unchanged, it is still what the user saw.
      const now = seen && isSameChange(seen, changeNow()) ? (store.get(id)?.revision ?? revision) : revision;
      await resolvePart({ store, invoker }, { ...request, revision: now }, { path });
      const whole = store.get(id);
      return whole?.state.kind === 'pending' ? store.all().findLast(one => isPart(one, id, path)) : whole;
    };
    return { action, id, cast };
  }

  #isStale(id: string): boolean {
    const state: Preview['state'] | undefined = this.#ctx.store.get(id)?.state;
    return state?.kind === 'pending' && state.stale.length > 0;
  }
}

/** The outcome of several votes. */
interface CastVotes {
  /** The previews that were resolved as requested, as they are now. */
  readonly resolved: Preview[];
  /** How many of the others are still pending. */
  readonly left: number;
}

interface PreparedVote {
  readonly action: ResolveAction;
  readonly id: string;
  /** @param reason never empty */
  readonly cast: (reason: string) => Promise<Preview | undefined>;
}

function isSameChange(one: FileChange, other: FileChange | undefined): boolean {
  return one.before?.hash === other?.before?.hash && one.after?.hash === other?.after?.hash;
}

function isPart({ part, changes }: Preview, id: string, path: string): boolean {
  return part?.previewId === id && changes?.some(change => change.path === path) === true;
}

/** Says how many of these previews still wait for a vote of their own; empty if none does. */
export function ownVotesText(store: PreviewStore, ids: readonly string[]): string {
  const waiting = ids.flatMap(id => store.get(id) ?? []).filter(({ state }) => state.kind === 'pending');
  const own = waiting.filter(needsOwnVote).length;
  if (own === 0) return '';
  const forms = vscode.l10n.t(
    '1 command, tool call or plan still needs its own Apply.|{0} commands, tool calls or plans still need their own Apply.',
  );
  return countText(forms, vscode.l10n)(own);
}
