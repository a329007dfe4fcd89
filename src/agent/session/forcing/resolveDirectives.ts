import { Owner } from '../../base/disposable.ts';
import type { ConversationPreviews } from '../conversation/conversationPreviews.ts';
import type { ToolChoice } from '../model/chatProvider.ts';
import type { SteeringMessage } from '../model/messages.ts';
import type { Preview } from '../../hold/preview/preview.ts';
import type { PreviewStore } from '../../hold/preview/previewStore.ts';
import type { Invoker } from '../../hold/preview/resolve/invoker.ts';
import { changeSetText, leftToUserText, reminderText } from '../../hold/preview/resolve/resolveTexts.ts';
import type { Forcing, ModelAuthority, ResolveOrder } from '../../hold/preview/resolveSettings.ts';
import { AskedPreviews, type Asked } from './askedPreviews.ts';
import type { ModelResolver, ResolveQueue } from './modelResolver.ts';
import type { RejectAnswer, RejectReason } from './toolChoiceQueue.ts';

/** After this many forced turns without an answer, or failed applies, a preview is left to the user. */
export const MAX_FORCED_TURNS = 3;

const FORCE_RESOLVE: ToolChoice = { type: 'tool', name: 'resolve' };
/** The model is asked for its votes, and may look at diffs first. */
const ASK: ToolChoice = { type: 'auto' };

export interface ResolveDirectivesOptions {
  readonly store: PreviewStore;
  readonly invoker: Invoker;
  readonly queue: ResolveQueue;
  readonly resolver: ModelResolver;
  /** The previews of the current conversation. */
  readonly previews: () => ConversationPreviews;
  readonly order: () => ResolveOrder;
  readonly authority: () => ModelAuthority;
  readonly forcing: () => Forcing;
  /** Whether the result of a command wakes the model. */
  readonly isWoken: () => boolean;
  /**
   * Whether a new reminder is needed to ask again: because the server cannot be forced, or because the model has ended its
   * turn and the server expects a new message.
   */
  readonly needsReminder: () => boolean;
  readonly steer: (message: SteeringMessage) => void;
}

/**
 * Asks the model to resolve previews: by a reminder for each or for all of a turn, and by directives in the tool-choice queue as
 * the setting `redline.resolve.forcing` says. The model is never asked about previews that only the user can decide on. The preview
 * to force is chosen when the request is made, since the order may have changed since staging. Nothing is forced for a preview that
 * is answered (a recommendation is an answer), resolved or stale, and no preview is forced again after {@link MAX_FORCED_TURNS}
 * unanswered turns or failed applies. At the end of a turn, a model that was not shown all diffs is asked, and may look first.
 */
export class ResolveDirectives extends Owner {
  readonly #options: ResolveDirectivesOptions;
  readonly #asked: AskedPreviews;
  /** Whether only the user can decide on a preview that the model was to be asked about; absent if that is not known yet. */
  readonly #usersAlone = new Map<string, boolean>();
  /** Whether the model can answer in this turn: not in Manual mode, nor while plan mode is on. */
  #mayAnswer = false;
  /** The last forced request failed. The next one is not forced, to find out whether the server answers at all. */
  #lastFailed = false;

  constructor(options: ResolveDirectivesOptions) {
    super();
    this.#options = options;
    this.#asked = new AskedPreviews(options.store, () => this.votesAtEnd && options.authority() !== 'apply');
    this.own(options.store.onDidChange(preview => this.#asked.follow(preview)));
    this.own(options.invoker.onDidFailApply(preview => this.#askAgain(preview)));
    this.own(options.resolver.onDidVote(id => this.#asked.noteVote(id)));
    this.own(options.resolver.onDidMeetBlocked(id => this.#asked.noteBlocked(id, this.#asksAtOnce)));
  }

  /** Reminds the model of the preview, and forces `resolve` on the next request if the setting says so. */
  remind(preview: Preview): void {
    this.#asked.forget(preview.id);
    if (!this.#isUsersAlone(preview)) this.#ask(preview, 0);
  }

  /**
   * Finds out which of the previews only the user can decide on, and stops asking the model about them. To be awaited before a
   * request; `undefined` if this is known for all previews.
   */
  judge(): Promise<void> | undefined {
    const { store, invoker } = this.#options;
    const unknown = this.#asked.ids.flatMap(id => (this.#usersAlone.has(id) ? [] : (store.get(id) ?? [])));
    if (unknown.length === 0) return undefined;
    const judging = unknown.map(async preview => {
      // If this cannot be found out, the model is asked. The invoker decides again before anything is applied.
      const isAlone = await invoker.isUsersAlone(preview).catch(() => false);
      this.#usersAlone.set(preview.id, isAlone);
      if (isAlone) this.#asked.forget(preview.id);
    });
    return Promise.all(judging).then(() => undefined);
  }

  /** Whether the model is asked to resolve it, and has not voted yet. */
  asks(id: string): boolean {
    return this.#asked.get(id)?.answered === false;
  }

  /**
   * The conversation already contains a reminder of the preview: the model is asked again only under `always`, or at the end of a
   * turn under `auto`.
   */
  noteReminded(id: string): void {
    const preview = this.#options.store.get(id);
    if (this.#asked.has(id) || (preview && this.#isUsersAlone(preview))) return;
    this.#asked.add(id, { due: this.votesAtEnd, failures: 0 });
  }

  /**
   * A turn begins. Questions from now on reach the model in the next one. Where it does not vote on everything at the end, it is
   * reminded first of what it was to be asked about then: the setting has changed.
   */
  beginTurn(): void {
    this.#asked.beginTurn();
    this.#mayAnswer = false;
    if (this.votesAtEnd) return;
    const reminded = new Set(this.#options.previews().reminded);
    for (const id of this.#asked.ids) {
      const preview = this.#options.store.get(id);
      if (preview && this.asks(id) && !reminded.has(id)) this.#steerReminder(preview);
    }
  }

  /**
   * A request is about to be made that may be forced: queues the directive of the first preview that is due, unless one that
   * was requeued comes first.
   * @param isEnding whether it is made only because the model would end its turn otherwise.
   */
  beforeRequest(isEnding: boolean): void {
    const { authority, forcing, queue, resolver } = this.#options;
    this.#mayAnswer = authority() !== 'none';
    if (forcing() === 'off') return this.#asked.withdrawAll({ due: false });
    if (this.votesAtEnd && !isEnding) {
      resolver.expectVotesAtEnd(this.#changeSet().map(({ id }) => id));
      return this.#asked.withdrawAll({ due: true });
    }
    if (!this.#mayAnswer || this.#lastFailed || queue.hasQueued) return;
    const next = this.#nextDue();
    if (next) this.#force(...next);
  }

  /** Whether the next request would be forced as things are. */
  get isForcing(): boolean {
    return this.#nextForced() !== undefined;
  }

  /** The ids of the previews on which the model has yet to vote when its turn would end. */
  get unvoted(): readonly string[] {
    return this.votesAtEnd && this.#mayAnswer ? this.#changeSet().map(({ id }) => id) : [];
  }

  /** The server has sent a complete answer. */
  noteAnswer(): void {
    this.#lastFailed = false;
  }

  /** A turn ended with an answer, and its choice is settled. */
  afterTurn(): void {
    const { needsReminder } = this.#options;
    if (!this.#mayAnswer) return;
    const next = this.#nextForced();
    if (next && !this.votesAtEnd && needsReminder()) this.#steerReminder(next);
  }

  /** The conversation moved to another node of its tree: forgets the previews that do not concern it there. */
  dropAbandoned(): void {
    this.#asked.forgetAllBut(id => this.#options.previews().concerns(id));
  }

  /** Forgets all that was asked; the previews themselves are not affected. */
  clear(): void {
    this.#asked.forgetAllBut(() => false);
    this.#lastFailed = false;
  }

  override dispose(): void {
    super.dispose();
    this.clear();
  }

  #isUsersAlone({ id, humanOnly }: Preview): boolean {
    return humanOnly === true || this.#usersAlone.get(id) === true;
  }

  #ask(preview: Preview, failures: number): void {
    this.#asked.add(preview.id, { due: this.#asksAtOnce, failures });
    if (!this.votesAtEnd) this.#steerReminder(preview);
  }

  /** Whether the setting makes a directive due for every preview that the model is asked about. */
  get #asksAtOnce(): boolean {
    return this.#options.forcing() !== 'off';
  }

  /** Whether the model votes on everything at once, when its turn would end. */
  get votesAtEnd(): boolean {
    return this.#options.forcing() === 'auto';
  }

  /** The previews that the model has yet to vote on, oldest first. */
  #changeSet(): readonly Preview[] {
    return this.#asked.allWanted();
  }

  /** Those among them that the model has to look at first. */
  get #unshown(): readonly Preview[] {
    return this.#changeSet().filter(preview => !this.#options.resolver.isShown(preview));
  }

  #nextDue(): readonly [Preview, Asked] | undefined {
    return this.#asked.nextDue(
      this.#options.order(),
      this.#options.forcing() === 'always' || this.votesAtEnd,
    );
  }

  #nextForced(): Preview | undefined {
    const { authority, forcing, isWoken, previews } = this.#options;
    if (authority() === 'none' || forcing() === 'off' || this.#lastFailed) return undefined;
    const [oldest] = this.votesAtEnd && isWoken() ? this.#changeSet() : [];
    // The model votes once it knows the result of its test.
    if (oldest && previews().isToBeTested(oldest)) return undefined;
    return this.#asked.forced ?? this.#nextDue()?.[0];
  }

  #force(preview: Preview, asked: Asked): void {
    const { order, queue, resolver, store } = this.#options;
    const { id } = preview;
    asked.due = this.votesAtEnd;
    const canVote = !this.votesAtEnd || this.#unshown.length === 0;
    asked.handle = queue.pushOnce(canVote ? FORCE_RESOLVE : ASK, {
      label: `pending-action:${preview.sourceToolName}`,
      now: order() === 'newestFirst',
      onServed: () => {
        if (this.votesAtEnd) return this.#askAtEnd();
        const current = store.get(id);
        if (!resolver.expectAnswerTo(id) && current) this.#steerReminder(current);
      },
      onInvoked: call => resolver.resolvePreview(id, call),
      onResolved: () => void delete asked.handle,
      onRejected: (choice, reason) => this.#rejected(id, asked, choice, reason),
    });
  }

  /** Names all previews that the model has yet to vote on, in the request that is being made. */
  #askAtEnd(): void {
    const set = this.#changeSet();
    this.#options.resolver.expectAnswersTo(set.map(({ id }) => id));
    this.#steer(set, about => changeSetText(about, this.#unshown));
  }

  #rejected(id: string, asked: Asked, choice: ToolChoice, reason: RejectReason): RejectAnswer {
    if (reason === 'error') this.#lastFailed = true;
    const preview = this.#options.store.get(id);
    const answer =
      preview && this.#asked.isWanted(preview, asked)
        ? this.#answerTo(reason, preview, asked, choice)
        : 'drop';
    if (answer === 'drop') delete asked.handle;
    return answer;
  }

  #answerTo(reason: RejectReason, preview: Preview, asked: Asked, choice: ToolChoice): 'requeue' | 'drop' {
    // In Manual mode, the model had no tool to answer with.
    const isManual = this.#options.authority() === 'none';
    // The setting may have changed since: a question that leaves the model free may have to force it next time.
    const isAskedAnew = this.votesAtEnd || choice === ASK;
    switch (reason) {
      case 'aborted':
        // Where the model votes at the end, the user's next prompt comes first.
        asked.due ||= isAskedAnew;
        return isAskedAnew ? 'drop' : 'requeue';
      case 'error':
      case 'not_invoked':
        if (!isManual) {
          const left = this.#noteUnanswered(preview, asked);
          if (left.length > 0) this.#leaveToUser(left, 0);
          if (left.includes(preview)) return 'drop';
        }
        asked.due = isManual || reason === 'error' || isAskedAnew;
        return asked.due ? 'drop' : 'requeue';
      case 'unavailable':
        asked.due = true;
        return 'drop';
      case 'removed':
      case 'cleared':
        return 'drop';
    }
  }

  /** A forced turn passed without an answer. Returns the previews that are not asked about again. */
  #noteUnanswered(preview: Preview, asked: Asked): readonly Preview[] {
    const set = this.votesAtEnd ? this.#changeSet() : [];
    const all = set.includes(preview) ? set : [preview, ...set];
    return all.filter(one => {
      const its = one === preview ? asked : this.#asked.get(one.id);
      return its !== undefined && this.#asked.noteUnanswered(its) >= MAX_FORCED_TURNS;
    });
  }

  #steerReminder(preview: Preview): void {
    this.#steer([preview], () => reminderText(preview));
  }

  #steer(about: readonly Preview[], textOf: (about: readonly Preview[]) => string): void {
    const { previews, steer } = this.#options;
    const previewIds = about.map(({ id }) => id);
    for (const id of previewIds) previews().addReminder(id);
    steer({ role: 'steering', kind: 'resolve-reminder', text: textOf(about), previewIds });
  }

  /** Asks again after a failed apply, but not a model that keeps failing. */
  #askAgain(preview: Preview): void {
    const failures = (this.#asked.get(preview.id)?.failures ?? Infinity) + 1;
    if (failures === Infinity || this.#options.authority() === 'none') return;
    if (failures === MAX_FORCED_TURNS) return this.#leaveToUser([preview], failures);
    this.#asked.forget(preview.id);
    this.#ask(preview, failures);
  }

  #leaveToUser(previews: readonly Preview[], failures: number): void {
    const previewIds = previews.map(({ id }) => id);
    for (const id of previewIds) this.#asked.forget(id);
    this.#options.steer({
      role: 'steering',
      kind: 'notice',
      text: leftToUserText(previews, failures),
      previewIds,
    });
  }
}
