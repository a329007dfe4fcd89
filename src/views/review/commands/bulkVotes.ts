import * as vscode from 'vscode';
import { detailOf } from '../../../agent/base/errors.ts';
import type { FileChange } from '../../../agent/hold/preview/fileChange.ts';
import { isUnsuccessful } from '../../../agent/hold/preview/ledger.ts';
import {
  needsOwnVote,
  titleOf,
  type Preview,
  type ResolveAction,
  isReopenable,
} from '../../../agent/hold/preview/preview.ts';
import type { PreviewStore } from '../../../agent/hold/preview/previewStore.ts';
import { seenPart } from '../../../agent/hold/preview/resolve/ownParts.ts';
import { resolvePart } from '../../../agent/hold/preview/resolve/resolvePart.ts';
import { humanReason } from '../../../agent/hold/preview/resolve/resolveTexts.ts';
import { reopenPreview } from '../ledger/ledgerCommands.ts';
import { showInfo } from '../../toast.ts';
import { leftText, type Left } from './leftText.ts';
import { OwnMoves } from './ownMoves.ts';
import type { PreviewTarget } from './previewTargets.ts';
import type { Ctx } from '../../ctx.ts';
import { plural } from '../../plainText.ts';

/** With this many votes or more, progress is shown at once, with a Cancel button; with fewer, after `PROGRESS_AFTER_MS`. */
const PROGRESS_FROM = 25;
const PROGRESS_AFTER_MS = 1_000;
/** How long a discard, which may run foreign code, may take before the next one begins, in milliseconds. */
const TURN_MS = 1_000;
/** How long to wait at the end for previews that have not answered. */
const PATIENCE_MS = 10_000;
/** The most unanswered previews that a message names. */
const MAX_NAMED = 3;

/**
 * Resolves many previews, or files of previews, with one summary at the end: file changes one after another, then everything that
 * runs external code at once. A preview that does not answer in time does not hold up the others; until it answers, its state is
 * still applying or discarding.
 */
export class BulkVotes {
  readonly #ctx: Ctx;

  constructor(ctx: Ctx) {
    this.#ctx = ctx;
  }

  /**
   * Applies each preview after those that it builds on, whichever was staged first. Skips stale and edited previews, leaves
   * those that need a vote of their own, and says so.
   * @param imports previews that these import, applied first; if one fails, none of these is applied
   * @returns whether all of them are applied
   */
  async applyAll(named: readonly PreviewTarget[], imports: readonly PreviewTarget[] = []): Promise<boolean> {
    const { store, edits } = this.#ctx;
    const all = [...imports, ...named];
    const targets = all.filter(({ id }) => {
      const preview = store.get(id);
      return !preview || !needsOwnVote(preview);
    });
    const isFresh = ({ id }: PreviewTarget): boolean => !this.#isStale(id) && !edits.hasUnsaved(id);
    const fresh = targets.filter(isFresh);
    const chosen = imports.every(each => fresh.includes(each)) ? fresh : [];
    const skipped = targets.filter(target => !chosen.includes(target));
    const isFirst = (target: PreviewTarget): boolean => imports.includes(target);
    const votes = [isFirst, (target: PreviewTarget) => !isFirst(target)].flatMap(which =>
      this.#inApplyOrder(chosen.filter(which)).map(target => this.#prepareVote('apply', target)),
    );
    const cast = await this.#castAll('apply', votes, '', imports.length);
    const last = new Map(store.ledger().map(entry => [entry.previewId, entry]));
    const failed = cast.resolved.filter(({ id }) => isUnsuccessful(last.get(id) ?? { outcome: 'applied' }));
    const applied = cast.resolved.length - failed.length;
    const left = [...cast.left, ...this.#stillPending(skipped).map(id => ({ id }))];
    const done = plural(vscode.l10n.t('Applied 1 preview.|Applied {0} previews.'), applied);
    const rest = plural(
      vscode.l10n.t('1 was not applied and stays pending.|{0} were not applied and stay pending.'),
      left.length,
    );
    const own = ownVotesText(
      store,
      all.map(({ id }) => id),
    );
    const why = left.length > 0 ? [rest, leftText(left, this.#ctx)] : [];
    const unsuccessful = plural(vscode.l10n.t('1 returned an error.|{0} returned an error.'), failed.length);
    const parts = [
      targets.length > 0 ? done : '',
      failed.length > 0 ? unsuccessful : '',
      ...why,
      waitingText(cast.unanswered),
      own,
    ];
    void showInfo(parts.filter(Boolean).join(' '));
    return applied === all.length;
  }

  /**
   * Discards each preview before those that it builds on: the other way round, it would be rebased first. Then offers to reopen the
   * discarded ones, without waiting for the user's answer.
   * @returns how many it discarded
   */
  discardAll(targets: readonly PreviewTarget[]): Promise<number> {
    return this.prepareDiscards(targets)('');
  }

  /**
   * Prepares {@link discardAll} for a reason that the user has yet to type: it will discard only the revisions that the targets
   * show at this moment.
   */
  prepareDiscards(targets: readonly PreviewTarget[]): (reason: string) => Promise<number> {
    const { logger } = this.#ctx;
    const votes = targets.map(target => this.#prepareVote('discard', target));
    return async reason => {
      const votesDown = this.#inApplyOrder(votes).reverse();
      const { resolved, left, unanswered } = await this.#castAll('discard', votesDown, reason);
      const discarded = resolved.toReversed();
      this.#offerReopening(discarded, left, unanswered).catch((error: unknown) => {
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

  /** @param left targets that were not discarded, because their votes were refused or never cast */
  async #offerReopening(
    discarded: readonly Preview[],
    left: readonly Left[],
    unanswered: readonly Preview[],
  ): Promise<void> {
    const reopenable = discarded.filter(isReopenable);
    const reopen = vscode.l10n.t('Reopen');
    const done = plural(vscode.l10n.t('Discarded 1 preview.|Discarded {0} previews.'), discarded.length);
    const rest = plural(
      vscode.l10n.t('1 was not discarded and stays pending.|{0} were not discarded and stay pending.'),
      left.length,
    );
    const why = left.length > 0 ? [rest, leftText(left, this.#ctx)] : [];
    const own = discarded.some(({ purpose }) => purpose === 'holdBack')
      ? vscode.l10n.t('That includes your uncommitted changes, which you can reopen.')
      : '';
    const choice = await showInfo(
      [done, ...why, waitingText(unanswered), own].filter(Boolean).join(' '),
      ...(reopenable.length > 0 ? [reopen] : []),
    );
    if (choice !== reopen) return;
    // The message stays until it is clicked: some may have been reopened, and decided again.
    const reopened = new Set(this.#ctx.store.all().map(({ reopens }) => reopens));
    for (const preview of reopenable) if (!reopened.has(preview.id)) await reopenPreview(this.#ctx, preview);
  }

  /** Failures are logged. */
  async #castAll(
    action: ResolveAction,
    votes: readonly PreparedVote[],
    typed: string,
    needed = 0,
  ): Promise<CastVotes> {
    const stopping = new AbortController();
    let so: CastSoFar = { done: 0, unanswered: [] };
    let show = (): void => undefined;
    const reason = humanReason(action, typed);
    const casting = this.#castEach({ votes, reason, needed }, stopping.signal, now => {
      so = now;
      show();
    });
    let isOver = false;
    void casting.then(() => (isOver = true));
    if (votes.length < PROGRESS_FROM) await settled(casting, PROGRESS_AFTER_MS, stopping.signal);
    if (isOver) return casting;
    const title =
      action === 'apply' ? vscode.l10n.t('Applying previews') : vscode.l10n.t('Discarding previews');
    const { Notification: location } = vscode.ProgressLocation;
    return vscode.window.withProgress({ location, title, cancellable: true }, (progress, token) => {
      token.onCancellationRequested(() => stopping.abort());
      let shown = 0;
      show = () => {
        const count = vscode.l10n.t('{0} of {1}', so.done, votes.length);
        const message = [count, waitingText(so.unanswered)].filter(Boolean).join('. ');
        progress.report({ increment: (100 * (so.done - shown)) / votes.length, message });
        shown = so.done;
      };
      show();
      return casting;
    });
  }

  /** @param signal stops further votes, and the wait for running ones. */
  async #castEach(
    { votes, reason, needed }: VotesToCast,
    signal: AbortSignal,
    report: (so: CastSoFar) => void,
  ): Promise<CastVotes> {
    const { store, logger, rebaser, edits } = this.#ctx;
    const resolved = new Map<PreparedVote, Preview>();
    const failures = new Map<PreparedVote, unknown>();
    const own = new OwnMoves(store);
    const waiting = new Map<PreparedVote, Promise<void>>();
    let done = 0;
    let isEnd = false;
    const unanswered = (): Preview[] => [...waiting.keys()].flatMap(({ id }) => store.get(id) ?? []);
    const cast = async (vote: PreparedVote): Promise<void> => {
      const { action, id } = vote;
      try {
        const preview = await vote.cast(reason, own);
        if (preview?.state.kind === (action === 'apply' ? 'applied' : 'discarded')) {
          resolved.set(vote, preview);
          own.note(preview);
        }
      } catch (error) {
        failures.set(vote, error);
        logger.warn(`${action} ${id} failed: ${detailOf(error)}`);
      }
      waiting.delete(vote);
      done++;
      report({ done, unanswered: isEnd ? unanswered() : [] });
    };
    const begin = (vote: PreparedVote): Promise<void> => {
      const casting = cast(vote);
      waiting.set(vote, casting);
      return casting;
    };
    const isForeign = ({ id }: PreparedVote): boolean => store.get(id)?.kind === 'action';
    const lacksNeeded = (): boolean => votes.slice(0, needed).some(vote => !resolved.has(vote));
    for (const [n, vote] of votes.filter(one => !isForeign(one)).entries()) {
      if (signal.aborted || (n >= needed && lacksNeeded())) break;
      // We await a commit, because it ends. Previews that build on it, or change the same files, need its outcome.
      if (vote.action === 'apply') {
        await rebaser.refresh([]);
        // The user may have begun to type into it meanwhile, which its apply would leave out.
        if (!edits.hasUnsaved(vote.id)) await begin(vote);
      } else await settled(begin(vote), TURN_MS, signal);
    }
    if (!signal.aborted && !lacksNeeded()) for (const vote of votes.filter(isForeign)) void begin(vote);
    isEnd = true;
    report({ done, unanswered: unanswered() });
    await settled(Promise.all(waiting.values()), PATIENCE_MS, signal);
    own.dispose();
    const left = votes.filter(vote => !resolved.has(vote) && store.get(vote.id)?.state.kind === 'pending');
    return {
      resolved: votes.flatMap(vote => resolved.get(vote) ?? []),
      left: left.map(vote => ({
        id: vote.id,
        error: failures.get(vote),
        isOutdated: own.moved(vote.id, vote.revision) !== store.get(vote.id)?.revision,
      })),
      unanswered: unanswered(),
    };
  }

  /**
   * A vote on the target as it is shown at this moment. Casting the vote returns the resolved preview; for a file, that is its
   * part.
   */
  #prepareVote(action: ResolveAction, target: PreviewTarget): PreparedVote {
    const { store, invoker } = this.#ctx;
    const { id, path } = target;
    const changeNow = (): FileChange | undefined =>
      store.get(id)?.changes?.find(change => change.path === path);
    const preview = store.get(id);
    const current = preview?.revision ?? 0;
    const isOwn = preview && seenPart(store, preview, target.revision ?? current).kind === 'same';
    const revision = isOwn ? current : (target.revision ?? current);
    // An outdated row showed something else.
    const seen = revision === current ? changeNow() : undefined;
    const cast = async (reason: string, own: OwnMoves): Promise<Preview | undefined> => {
      const request = { id, action, reason, actor: 'human' as const };
      if (path === undefined) {
        await invoker.resolve({ ...request, revision: own.moved(id, revision) });
        return store.get(id);
      }
      // Votes on other files raise the preview's revision. If this file is unchanged, the user saw it as it is.
      const now = seen && isSameChange(seen, changeNow()) ? (store.get(id)?.revision ?? revision) : revision;
      await resolvePart({ store, invoker, l10n: vscode.l10n }, { ...request, revision: now }, { path });
      const whole = store.get(id);
      return whole?.state.kind === 'pending' ? store.all().findLast(one => isPart(one, id, path)) : whole;
    };
    return { action, id, revision, cast };
  }

  /** Filters the targets down to those still pending. */
  #stillPending(targets: readonly PreviewTarget[]): readonly string[] {
    const { store } = this.#ctx;
    return targets.map(({ id }) => id).filter(id => store.get(id)?.state.kind === 'pending');
  }

  #isStale(id: string): boolean {
    const state: Preview['state'] | undefined = this.#ctx.store.get(id)?.state;
    return state?.kind === 'pending' && state.stale.length > 0;
  }
}

interface VotesToCast {
  readonly votes: readonly PreparedVote[];
  readonly reason: string;
  /** How many votes at the start must succeed before the others are cast. */
  readonly needed: number;
}

interface CastSoFar {
  readonly done: number;
  /** The previews still to answer; empty until all votes have begun. */
  readonly unanswered: readonly Preview[];
}

/** The outcome of several votes. */
interface CastVotes {
  /** The previews that were resolved as requested, as they are now. */
  readonly resolved: readonly Preview[];
  /** The others that are still pending. */
  readonly left: readonly Left[];
  /** Previews whose external code has not answered. They are being applied or discarded. */
  readonly unanswered: readonly Preview[];
}

interface PreparedVote {
  readonly action: ResolveAction;
  readonly id: string;
  /** The revision that the user saw. */
  readonly revision: number;
  /** @param reason never empty */
  readonly cast: (reason: string, own: OwnMoves) => Promise<Preview | undefined>;
}

/** Names the previews that have not answered; empty if all have. */
function waitingText(unanswered: readonly Preview[]): string {
  if (unanswered.length === 0) return '';
  const named = unanswered
    .slice(0, MAX_NAMED)
    .map(preview => `“${titleOf(preview)}” (${preview.sourceToolName})`);
  const more = unanswered.length > MAX_NAMED ? ', …' : '';
  return vscode.l10n.t('No answer yet from {0}.', `${named.join(', ')}${more}`);
}

/** Waits until the work has settled, the time is up or the signal fires. */
async function settled(work: Promise<unknown>, milliseconds: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  signal.addEventListener('abort', () => resolve(), { once: true });
  if (signal.aborted) resolve();
  await Promise.race([work, promise]);
  clearTimeout(timer);
}

function isSameChange(one: FileChange, other: FileChange | undefined): boolean {
  return one.before?.hash === other?.before?.hash && one.after?.hash === other?.after?.hash;
}

function isPart({ part, changes }: Preview, id: string, path: string): boolean {
  return part?.previewId === id && changes?.some(change => change.path === path) === true;
}

/** The sentence about how many of these previews still need a vote each; empty if none does. */
export function ownVotesText(store: PreviewStore, ids: readonly string[]): string {
  const waiting = ids.flatMap(id => store.get(id) ?? []).filter(({ state }) => state.kind === 'pending');
  const own = waiting.filter(needsOwnVote).length;
  if (own === 0) return '';
  const forms = vscode.l10n.t(
    '1 command, tool call or plan still needs its own Apply.|{0} commands, tool calls or plans still need their own Apply.',
  );
  return plural(forms, own);
}
