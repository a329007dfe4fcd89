import { Owner } from '../base/disposable.ts';
import type { Fact } from '../hold/preview/feed.ts';
import type { LedgerEntry } from '../hold/preview/ledger.ts';
import { isOpen, isStale, type Preview } from '../hold/preview/preview.ts';
import { reasonGiven } from '../hold/preview/resolve/resolveTexts.ts';
import { conflictCount } from '../hold/preview/rebase/conflictMarkers.ts';
import { isReviewed, type ReviewedSince } from './conversation/conversationPreviews.ts';
import type { SessionMessage } from './model/messages.ts';
import { factMessage } from './outcomes.ts';
import type { SessionContext } from './sessionOptions.ts';
import { hasOpenSteps } from './tools/todo.ts';

/**
 * Puts the actions of the user and other extensions on the previews of the open conversation into the inbox, and knows when the
 * model is needed: see {@link Review.needsModel}.
 */
export class Review extends Owner {
  readonly #ctx: SessionContext;
  readonly #onOutcome: () => void;
  /** The facts that the messages in the inbox tell, by key. */
  readonly #waiting = new Map<string, Fact>();

  /** @param onOutcome called after each resolution or expiry, whether or not it concerns the open conversation. */
  constructor(ctx: SessionContext, onOutcome: () => void) {
    super();
    this.#ctx = ctx;
    this.#onOutcome = onOutcome;
    this.own(ctx.store.onDidStage(preview => this.#followStaged(preview)));
    this.own(ctx.store.feed.onDidHappen(facts => this.#follow(facts)));
  }

  /** Whether a preview of this conversation can still be resolved. */
  get hasOpen(): boolean {
    return this.#ctx.conversation().previews.hasOpen;
  }

  /**
   * True if the waiting messages should wake the model now: because it can go on with one of them or, once nothing is left to
   * resolve, because they are outcomes of previews staged since the last prompt. If the model has nothing left to do, it is not
   * woken just because the user applied all that it recommended, and never by a discard without a reason.
   */
  get needsModel(): boolean {
    const { store, inbox, conversation, settings, planMode } = this.#ctx;
    const { directives } = this.#ctx.choices;
    if (!settings().continueAfterReview) return false;
    const { previews, tree } = conversation();
    const waiting = [...inbox.ofKind('outcome'), ...inbox.ofKind('revision')];
    const facts = waiting.flatMap(({ tells = [] }) => tells.flatMap(key => this.#waiting.get(key) ?? []));
    const since = (fact: Fact): ReviewedSince | undefined => previews.reviewedSince(fact.previewId);
    const isHeard = (fact: Fact): boolean =>
      // A conversation that was opened again is woken only by somebody's action, not by anything its opening finds out.
      since(fact) === 'restored' ? fact.kind === 'attempt' && !fact.entry.lost : since(fact) !== undefined;
    const owesVote = directives.votesAtEnd && !planMode() && directives.isForcing;
    const isUrgentNow = (fact: Fact): boolean => isUrgent(fact, store.get(fact.previewId), owesVote);
    if (facts.some(fact => isHeard(fact) && isUrgentNow(fact))) return true;
    if (previews.hasOpen) return false;
    const ends = facts.flatMap(fact =>
      fact.kind === 'attempt' && since(fact) === 'prompt' && fact.entry.outcome !== 'discarded'
        ? fact.entry
        : [],
    );
    const hasVote = settings().modelAuthority !== 'none';
    const isAsWanted = (entry: LedgerEntry): boolean =>
      hasVote ? isAsRecommended(entry) : isAsProposed(entry, store.get(entry.previewId));
    return ends.some(entry => !isAsWanted(entry)) || (ends.length > 0 && goesOn(tree.messages, hasVote));
  }

  /** Another conversation is opened: nothing that has happened so far wakes it. */
  clear(): void {
    this.#waiting.clear();
  }

  #followStaged(preview: Preview): void {
    const { id } = preview;
    const conversation = this.#ctx.conversation();
    // A tool may still run after its conversation or branch was left.
    if (!conversation.previews.concerns(id)) return;
    conversation.recordStaged(id);
    if (isReviewed(preview)) conversation.previews.addToReview(id);
  }

  #follow(facts: readonly Fact[]): void {
    const { store, inbox, conversation } = this.#ctx;
    conversation().recordResolutions(facts.flatMap(fact => (fact.kind === 'attempt' ? fact.entry : [])));
    const { previews } = conversation();
    if (inbox.messages.length === 0) this.#waiting.clear();
    for (const fact of facts) {
      // The result of the running call tells the model.
      if (fact.kind === 'revision' && fact.by === 'amend') continue;
      const message = factMessage(fact, store, previews);
      if (!message) continue;
      if (fact.kind === 'revision' && fact.partId !== undefined) this.#addPart(fact.previewId, fact.partId);
      this.#waiting.set(fact.key, fact);
      inbox.addFact(message, fact);
    }
    if (facts.some(fact => fact.kind !== 'revision' || fact.by === 'rebase')) this.#onOutcome();
  }

  #addPart(wholeId: string, partId: string): void {
    const { previews } = this.#ctx.conversation();
    const since = previews.reviewedSince(wholeId);
    if (since !== undefined) previews.addToReview(partId, since);
    // Recorded too, because a part may outlive the preview that it was split off from.
    this.#ctx.conversation().recordStaged(partId);
  }
}

/**
 * Whether the model can go on with the fact while other previews wait: a plan was decided; a command or call has run, or someone
 * else has discarded it so that it no longer holds up the model's vote; someone else's discard came with a reason; or a preview has
 * expired, is stale, or conflicts with the files as they are now.
 */
function isUrgent(fact: Fact, preview: Preview | undefined, owesVote: boolean): boolean {
  if (!preview) return false;
  switch (fact.kind) {
    case 'expiry':
      return true;
    case 'stale':
      return isStale(preview);
    case 'fresh':
      return false;
    case 'revision':
      return (
        fact.by === 'rebase' &&
        isOpen(preview) &&
        (preview.changes ?? []).some(change => conflictCount(change) > 0)
      );
    case 'attempt':
      if (fact.entry.outcome === 'failed') return isStale(preview);
      if (preview.kind !== 'files')
        return preview.kind === 'plan'
          ? !isOpen(preview)
          : (owesVote && fact.entry.actor !== 'model') ||
              fact.entry.action === 'apply' ||
              hasReason(fact.entry);
      return hasReason(fact.entry);
  }
}

/** Whether it is an apply of exactly the revision that the model recommended. */
function isAsRecommended({ outcome, recommendation }: LedgerEntry): boolean {
  return outcome === 'applied' && recommendation?.action === 'apply'; // an edit by the user drops the recommendation
}

/** Where the model has no vote: whether exactly what it proposed was applied, with no reason given. */
function isAsProposed(entry: LedgerEntry, preview: Preview | undefined): boolean {
  return entry.outcome === 'applied' && reasonGiven(entry) === undefined && preview?.editedByUser !== true;
}

/** Whether the model has more to do after an apply: its list has open steps or, if it has a vote, its turn did not end with one. */
function goesOn(messages: readonly SessionMessage[], hasVote: boolean): boolean {
  const last = messages.findLast(({ role }) => role === 'assistant' || role === 'tool');
  return (hasVote && last?.role === 'assistant') || hasOpenSteps(messages);
}

function hasReason(entry: LedgerEntry): boolean {
  return entry.actor !== 'model' && entry.action === 'discard' && reasonGiven(entry) !== undefined;
}
