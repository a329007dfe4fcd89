import { untilAborted } from '../../base/async.ts';
import { ToolError } from '../../base/errors.ts';
import { BlockedPreviewError, StalePreviewError } from '../../hold/preview/errors.ts';
import { Emitter, type Event } from '../../base/event.ts';
import type { ConversationPreviews } from '../conversation/conversationPreviews.ts';
import type { AgentToolResult } from '../../hold/preview/pendingAction.ts';
import { isOpen, type CallRef, type Preview, type ResolveAction } from '../../hold/preview/preview.ts';
import type { PreviewStore } from '../../hold/preview/previewStore.ts';
import { type Invoker } from '../../hold/preview/resolve/invoker.ts';
import {
  withDetails,
  type Handled,
  type ResolveSource,
  type Resolved,
} from '../../hold/preview/resolve/resolved.ts';
import type { NoteShown, ShownPart } from '../../hold/preview/shownDiffs.ts';
import { messageText, type SessionMessage } from '../model/messages.ts';
import type { ToolChoiceQueue } from './toolChoiceQueue.ts';

const loadRefusals = () => import('./refusedVotes.ts');
const loadTexts = () => import('../../hold/preview/resolve/refusedVoteTexts.ts');

/** How many votes on a revision are answered with more of its diff; the next one is recorded. */
const MAX_REFUSALS = 3;

/** A call of `resolve` by the model. */
export interface ResolveCall {
  readonly action: ResolveAction;
  readonly reason: string;
  readonly extra?: Record<string, unknown>;
  readonly id?: string;
  /** All previews that the call votes on, one after the other; absent if it names one by itself, or none. */
  readonly voteOn?: readonly string[];
  /** The place of the call in the conversation; absent if no message contains it. */
  readonly call?: CallRef;
  readonly signal?: AbortSignal;
  /** Notes the diff that the refusal of the vote shows; see {@link ModelResolver.noteShown}. */
  readonly noteShown?: NoteShown;
  /** Notes that the refusal of the vote says that the preview is stale. */
  readonly noteStale?: (id: string) => void;
}

/** A part of the diff of one revision that a message shows the model. */
interface Shown extends ShownPart {
  readonly id: string;
  readonly revision: number;
  /** The text in the last request that contains it whole. */
  sentIn: string | undefined;
}

/** Handles `resolve` calls when there is no preview to resolve; see `Session.setStandingResolveHandler`. */
export type StandingResolveHandler = (call: ResolveCall) => Promise<AgentToolResult>;

/**
 * Takes the plans that the model submits while plan mode is on: like a {@link StandingResolveHandler}, but it comes before
 * the previews.
 */
export interface ModeResolveHandler extends Required<ResolveSource> {
  handle(call: ResolveCall): Promise<AgentToolResult>;
}

export type ResolveQueue = ToolChoiceQueue<ResolveCall, Resolved | Handled>;

/**
 * Finds the preview that the model's `resolve` means, and votes on the revision that the model has seen: the one that was current
 * when its request was made. Votes on a preview that was staged since then, or in another conversation, are refused, because the
 * model has not seen it. If the preview was resolved since then, the model is told its outcome; the vote never goes to the next
 * preview instead.
 *
 * In an answer to a request that was made in plan mode, a call without an id is about the plan; in any other, it is about a
 * preview. While plan mode is on, votes on previews are only recorded, also those of requests that were made before.
 *
 * An apply of lines that the model has neither written itself nor been shown is refused with their diff, in every mode. A diff of
 * which nobody knows that it was shown, as after a reload or a revert, counts as not shown.
 */
export class ModelResolver {
  readonly #store: PreviewStore;
  readonly #invoker: Invoker;
  readonly #queue: ResolveQueue;
  readonly #previews: () => ConversationPreviews;
  /** The revisions that the model knows: it saw them in its last request, or made them since by amending previews. */
  #seen = new Map<string, number>();
  /** The diffs in its last request, and those in results since. */
  #shown: readonly Shown[] = [];
  /** How many votes were refused for that, by id and revision. */
  readonly #refusals = new Map<string, number>();
  /** The previews that it has since tried and failed to amend. */
  readonly #unamended = new Set<string>();
  /** The previews that calls without an id mean, in this order: the ones that were open at the last request. */
  #candidates: string[] = [];
  #standing: StandingResolveHandler | undefined;
  #mode: ModeResolveHandler | undefined;
  /** Whether the last request was made in plan mode. */
  #asksForPlan = false;
  /** The previews that the last request forces an answer about and that have none yet. */
  #expected: readonly string[] = [];
  /** The previews that the model would be asked about at the end of its turn, if it was reminded of none of them. */
  #atEnd: readonly string[] = [];
  readonly #voted = new Emitter<string>();
  readonly #blocked = new Emitter<string>();

  /** Fires with the id when the model votes on a preview that it has seen, before the vote is executed. */
  readonly onDidVote: Event<string> = this.#voted.event;

  /**
   * Fires with the id after a vote was refused because others must be applied first, the preview is stale, or the model must see the
   * diff.
   */
  readonly onDidMeetBlocked: Event<string> = this.#blocked.event;

  /** @param previews of the current conversation. */
  constructor(
    store: PreviewStore,
    invoker: Invoker,
    queue: ResolveQueue,
    previews: () => ConversationPreviews,
  ) {
    this.#store = store;
    this.#invoker = invoker;
    this.#queue = queue;
    this.#previews = previews;
  }

  /** A request is being made: the model now sees the previews as they are. */
  beginTurn(): void {
    this.#asksForPlan = this.isPlanning;
    this.#expected = [];
    this.#atEnd = [];
    const { openForModel, reminded } = this.#previews();
    this.#unamended.clear();
    this.#seen = new Map(openForModel.map(preview => [preview.id, preview.revision]));
    this.#candidates = reminded.filter(id => this.#seen.has(id)).reverse();
  }

  /**
   * The request is built: a diff that it does not contain whole, since it was shortened or summarized, or is not on the trunk, counts
   * as not shown.
   */
  noteRequest(messages: readonly SessionMessage[]): void {
    const texts = new Set(messages.map(messageText));
    this.#shown = this.#shown.filter(part => {
      const preview = this.#store.get(part.id);
      if (!preview || !isOpen(preview)) return false;
      if (part.sentIn === undefined || !texts.has(part.sentIn))
        part.sentIn = [...texts].find(text => text.includes(part.text));
      // A diff in the report of a command is told once that has ended.
      return part.sentIn !== undefined || this.#previews().isOfRunning(preview);
    });
  }

  /** The request is made once more, forced or not. It shows the model the same previews as before. */
  repeatTurn({ isForced }: { readonly isForced: boolean }): void {
    this.#asksForPlan = this.isPlanning;
    if (!isForced) this.#expected = [];
  }

  /** The request being made forces an answer about these previews: a call without an id means all of them. */
  expectAnswersTo(ids: readonly string[]): void {
    this.#candidates = [...ids, ...this.#candidates.filter(candidate => !ids.includes(candidate))];
    this.#expected = ids;
  }

  /** The request being made asks about nothing; at the end of the turn, the model would be asked about these previews. */
  expectVotesAtEnd(ids: readonly string[]): void {
    if (!this.#candidates.some(id => ids.includes(id))) this.#atEnd = ids;
  }

  /**
   * The request being made forces an answer about this preview.
   * @returns false if the last reminder named another preview, so that the model might think of that one.
   */
  expectAnswerTo(id: string): boolean {
    const named = this.#previews().reminded.findLast(reminded => this.#seen.has(reminded));
    this.expectAnswersTo([id]);
    return named === id;
  }

  /** The revision of a preview that the model knows: the one that it was shown, or made since by amending it. */
  known(id: string): number | undefined {
    return this.#seen.get(id);
  }

  /** The model has amended the preview: a vote after that, also in the same message, is for the revision that it has written. */
  noteAmended({ id, revision }: Preview): void {
    this.#unamended.delete(id);
    this.#seen.set(id, revision);
  }

  /** The next request is to show the model this part of the preview's diff. It counts if all before it is shown, too. */
  readonly noteShown: NoteShown = ({ id, revision }, part) => {
    const text = part.text.toWellFormed(); // as in the result
    this.#shown = [...this.#shown, { ...part, text, id, revision, sentIn: undefined }];
  };

  /** Whether the next request will have shown the model all that its vote to apply the preview would write. */
  isShown(preview: Preview): boolean {
    return preview.kind !== 'files' || this.#shownEnd(preview) === Infinity;
  }

  /** The model tried to amend the preview and failed: an apply in the same message is meant for the amended one, and is refused. */
  noteUnamended(id: string): void {
    this.#unamended.add(id);
  }

  setStanding(handler: StandingResolveHandler | null): void {
    this.#standing = handler ?? undefined;
  }

  /** Switches plan mode on, with the handler that takes the plan, or off with `null`. */
  setMode(handler: ModeResolveHandler | null): void {
    this.#mode = handler ?? undefined;
  }

  /** Whether plan mode is on. */
  get isPlanning(): boolean {
    return this.#mode !== undefined;
  }

  /** Forgets which revisions the model saw, because the conversation changed. */
  clear(): void {
    this.#seen.clear();
    this.#shown = [];
    this.#refusals.clear();
    this.#unamended.clear();
    this.#candidates = [];
    this.#expected = [];
    this.#atEnd = [];
    this.#asksForPlan = false;
  }

  /**
   * Executes a call: votes on the preview that it means, or passes it to a handler.
   * @throws ToolError if there is nothing to resolve, the preview was not seen yet, or its apply fails; the abort error when
   *   the call's signal fires.
   */
  resolve(call: ResolveCall): Promise<Resolved | Handled> {
    return untilAborted(call.signal, () => this.#resolve(call));
  }

  /** See `ToolContext.meant`. */
  meant(ids: readonly string[] | undefined): readonly string[] | undefined {
    if (!ids && (this.#asksForPlan || this.#expected.length < 2)) return undefined;
    const places = new Map(this.#store.list('oldestFirst').map(({ id }, place) => [id, place]));
    const placeOf = (id: string): number => places.get(id) ?? -1;
    return [...new Set(ids ?? this.#expected)].sort((a, b) => placeOf(a) - placeOf(b));
  }

  async #resolve(call: ResolveCall): Promise<Resolved | Handled> {
    if (call.id !== undefined) return this.resolvePreview(call.id, call);
    if (this.#asksForPlan) return this.#submit(call);
    const inFlight = this.#queue.peekInFlightInvoker();
    if (inFlight && this.#queue.inspect().inFlight?.invoked === false) return inFlight(call);
    // The directive was withdrawn after the request was made, for example because the user was faster.
    const [expected] = this.#expected;
    if (expected !== undefined) return this.resolvePreview(expected, call);
    const staged = this.#stagedSince();
    if (staged) throw await this.#unseenError(staged);
    const [due, ...others] = this.#atEnd;
    if (due !== undefined && others.length === 0) return this.resolvePreview(due, call);
    if (due !== undefined)
      throw new ToolError(
        (await loadTexts()).severalText(this.#atEnd.flatMap(id => this.#store.get(id) ?? [])),
      );
    // A second call in a message means the next preview. If none is left, it is told the outcome of the first.
    const [next] = this.#candidates;
    if (next !== undefined) return this.resolvePreview(next, call);
    if (inFlight) return inFlight(call);
    if (this.#standing) {
      const { action, reason, extra } = call;
      const result = await this.#standing({ action, reason, ...(extra ? { extra } : {}) });
      return handled(result, call);
    }
    const unseen = this.#previews().reminded.findLast(id => this.#isUnseen(id));
    if (unseen !== undefined) return this.resolvePreview(unseen, call);
    const { notYoursText } = await loadTexts();
    throw new ToolError(notYoursText(this.#previews().open));
  }

  async #submit(call: ResolveCall): Promise<Handled> {
    if (!this.#mode) throw new ToolError((await loadTexts()).PLAN_MODE_ENDED);
    const { sourceToolName, label } = this.#mode;
    return handled(await this.#mode.handle(call), call, { sourceToolName, label });
  }

  /** Votes on one preview; the invoker of the queue's directives. */
  async resolvePreview(id: string, resolveCall: ResolveCall): Promise<Resolved> {
    this.#candidates = this.#candidates.filter(candidate => candidate !== id);
    this.#expected = this.#expected.filter(expected => expected !== id);
    this.#atEnd = this.#atEnd.filter(due => due !== id);
    const preview = this.#store.get(id);
    if (preview && this.#isUnseen(id)) throw await this.#unseenError(preview);
    let revision = this.#seen.get(id);
    const { action, reason, extra, voteOn, call, signal } = resolveCall;
    if (preview && isOpen(preview) && action === 'apply' && this.#unamended.has(id))
      throw new ToolError((await loadTexts()).unamendedText(preview));
    const isFiles = preview?.kind === 'files' && preview.state.kind === 'pending' && !preview.editedByUser;
    let isUnread = false;
    if (isFiles && action === 'apply') {
      const shown = this.#shownEnd(preview, true);
      const about = `${id} ${preview.revision}`;
      const refusals = this.#refusals.get(about) ?? 0;
      isUnread =
        shown < Infinity && (refusals >= MAX_REFUSALS || preview.state.recommendation?.isUnread === true);
      if (shown < Infinity && !isUnread) {
        this.#refusals.set(about, refusals + 1);
        const { unshownError } = await loadRefusals();
        const error = await unshownError(
          preview,
          shown,
          resolveCall,
          resolveCall.noteShown ?? this.noteShown,
        );
        this.#blocked.fire(id);
        throw error;
      }
      revision = preview.revision;
    }
    this.#voted.fire(id);
    const vote = this.#invoker.resolve({
      id,
      ...(revision === undefined ? {} : { revision }),
      action,
      reason,
      ...(extra === undefined ? {} : { extra }),
      ...(voteOn === undefined ? {} : { voteOn }),
      ...(isUnread ? { isUnread } : {}),
      actor: 'model',
      isPlanning: () => this.isPlanning,
      ...(call === undefined ? {} : { call }),
      ...(signal === undefined ? {} : { signal }),
    });
    return vote.catch((error: unknown) => {
      if (error instanceof StalePreviewError) resolveCall.noteStale?.(id);
      if (error instanceof BlockedPreviewError || error instanceof StalePreviewError) this.#blocked.fire(id);
      throw error;
    });
  }

  /**
   * Up to where in the preview's diff the model was shown it; `Infinity` if it was shown all of it, or wrote it itself.
   * @param isSent whether only diffs in its last request count
   */
  #shownEnd(preview: Preview, isSent = false): number {
    const parts = this.#shown
      .filter(part => part.id === preview.id && (part.sentIn !== undefined || !isSent))
      .sort((a, b) => a.from - b.from);
    const endOf = (revision: number): number =>
      parts.reduce(
        (end, part) => (part.revision === revision && part.from <= end ? Math.max(end, part.end) : end),
        0,
      );
    const isWhole =
      parts.some(({ revision }) => endOf(revision) === Infinity && this.#addsNothing(preview, revision)) ||
      (this.#previews().isOwnText(preview) && this.#addsNothing(preview, 1));
    return isWhole ? Infinity : endOf(preview.revision);
  }

  /**
   * Whether all that the preview changes was in this revision, or was written by the model since: a rebase only moves lines, unless
   * it creates or deletes another text. A split takes some away; the model must have been told of it, since its vote was on all of
   * them.
   */
  #addsNothing({ id, revision }: Preview, since: number): boolean {
    const told = this.#seen.get(id) ?? 0;
    const { facts } = this.#store.feed;
    let left = revision - since;
    for (let at = facts.length - 1; left > 0; at--) {
      const fact = facts[at];
      if (!fact) return false;
      if (fact.kind !== 'revision' || fact.previewId !== id) continue;
      const { by, call, isWider } = fact;
      if (fact.revision <= since || by === 'user' || (by === 'split' && fact.revision > told)) return false;
      if (isWider && by !== 'amend') return false;
      if (by === 'amend' && call && !this.#previews().isOwnAmendment(call)) return false;
      left--;
    }
    return true;
  }

  async #unseenError(preview: Preview): Promise<ToolError> {
    return (await loadRefusals()).unseenError(preview, this.#previews(), this.#invoker);
  }

  /** A preview that a tool call staged since the last request: then a vote without an id is ambiguous. */
  #stagedSince(): Preview | undefined {
    return this.#previews().openForModel.findLast(({ id, origin }) => origin?.call && !this.#seen.has(id));
  }

  /** Whether the preview is open but was not shown to the model: staged since its last request, or in another conversation. */
  #isUnseen(id: string): boolean {
    const preview = this.#store.get(id);
    return preview !== undefined && isOpen(preview) && !this.#seen.has(id);
  }
}

function handled(result: AgentToolResult, call: ResolveCall, source?: ResolveSource): Handled {
  return { kind: 'handled', result: withDetails(result, call, source) };
}
