import { DisposableStore, type Disposable } from '../base/disposable.ts';
import type { ConversationPreviews } from '../conversation/conversationPreviews.ts';
import type { ToolChoice } from '../model/chatProvider.ts';
import type { SteeringMessage } from '../model/messages.ts';
import type { Preview } from '../preview/preview.ts';
import type { PreviewStore } from '../preview/previewStore.ts';
import type { Invoker } from '../preview/resolve/invoker.ts';
import { leftToUserText, reminderText } from '../preview/resolve/resolveTexts.ts';
import type { Forcing, ModelAuthority, ResolveOrder } from '../preview/resolveSettings.ts';
import { AskedPreviews, type Asked } from './askedPreviews.ts';
import type { ModelResolver, ResolveQueue } from './modelResolver.ts';
import type { RejectAnswer, RejectReason } from './toolChoiceQueue.ts';

/** After this many forced turns without an answer, or failed applies, a preview is left to the user. */
export const MAX_FORCED_TURNS = 3;

const FORCE_RESOLVE: ToolChoice = { type: 'tool', name: 'resolve' };

export interface ResolveDirectivesOptions {
  readonly store: PreviewStore;
  readonly invoker: Invoker;
  readonly queue: ResolveQueue;
  readonly resolver: ModelResolver;
  /** Those of the current conversation. */
  readonly previews: () => ConversationPreviews;
  readonly order: () => ResolveOrder;
  readonly authority: () => ModelAuthority;
  readonly forcing: () => Forcing;
  /**
   * Whether a new reminder is needed to ask again: because the server cannot be forced, or because the model has ended its
   * turn and the server expects a new message.
   */
  readonly needsReminder: () => boolean;
  readonly steer: (message: SteeringMessage) => void;
}

/**
 * Asks the model to resolve previews: by a reminder for each, and by directives in the tool-choice queue as the setting
 * `redline.resolve.forcing` says. Which preview is forced is decided when the request is made, since the order may have
 * changed since staging. Nothing is forced for a preview that is answered (a recommendation is an answer), resolved or
 * stale, and no preview is forced again after {@link MAX_FORCED_TURNS} unanswered turns or failed applies.
 */
export class ResolveDirectives implements Disposable {
  readonly #options: ResolveDirectivesOptions;
  readonly #asked: AskedPreviews;
  readonly #owned = new DisposableStore();
  /** Whether the model can answer in this turn: not in Manual mode, nor while plan mode is on. */
  #mayAnswer = false;
  /** The last forced request failed. The next one is not forced, to find out whether the server answers at all. */
  #lastFailed = false;

  constructor(options: ResolveDirectivesOptions) {
    this.#options = options;
    this.#asked = new AskedPreviews(options.store);
    this.#owned.add(options.store.onDidChange(preview => this.#asked.follow(preview)));
    this.#owned.add(options.invoker.onDidFailApply(preview => this.#askAgain(preview)));
    this.#owned.add(options.resolver.onDidVote(id => this.#asked.noteVote(id)));
    this.#owned.add(options.resolver.onDidMeetBlocked(id => this.#asked.noteBlocked(id, this.#asksAtOnce)));
  }

  /** Reminds the model of the preview, and forces `resolve` on the next request if the setting says so. */
  remind(preview: Preview): void {
    this.#asked.forget(preview.id);
    this.#ask(preview, 0);
  }

  /** The conversation already contains a reminder of the preview: only `always` and `soft` ask again. */
  noteReminded(id: string): void {
    if (!this.#asked.has(id)) this.#asked.add(id, { due: false, failures: 0 });
  }

  /** A turn begins. The model is told in the next one what it is asked from now on. */
  beginTurn(): void {
    this.#asked.beginTurn();
    this.#mayAnswer = false;
  }

  /**
   * A request is about to be made that may be forced: queues the directive of the first preview that is due, unless one that
   * was requeued comes first.
   */
  beforeRequest(): void {
    const { authority, forcing, queue } = this.#options;
    this.#mayAnswer = authority() !== 'none';
    if (forcing() === 'off') return this.#asked.withdrawAll();
    if (!this.#mayAnswer || this.#lastFailed || queue.hasQueued) return;
    const next = this.#nextDue();
    if (next) this.#force(...next);
  }

  /** Whether the next request would be forced as things are. */
  get isForcing(): boolean {
    return this.#nextForced() !== undefined;
  }

  /** The server has sent a complete answer. */
  noteAnswer(): void {
    this.#lastFailed = false;
  }

  /** A turn ended with an answer, and its choice is settled. With `soft`, previews that the model ignored become due. */
  afterTurn(): void {
    const { forcing, resolver, needsReminder } = this.#options;
    if (!this.#mayAnswer) return;
    if (forcing() === 'soft') this.#asked.makeDue(id => resolver.wasShown(id));
    const next = this.#nextForced();
    if (next && needsReminder()) this.#steerReminder(next);
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

  dispose(): void {
    this.#owned.dispose();
    this.clear();
  }

  #ask(preview: Preview, failures: number): void {
    this.#asked.add(preview.id, { due: this.#asksAtOnce, failures });
    this.#steerReminder(preview);
  }

  /** Whether the setting makes a directive due for whatever the model is asked. */
  get #asksAtOnce(): boolean {
    const forcing = this.#options.forcing();
    return forcing === 'forced' || forcing === 'always';
  }

  #nextDue(): readonly [Preview, Asked] | undefined {
    const { forcing, order } = this.#options;
    return this.#asked.nextDue(order(), forcing() === 'always');
  }

  #nextForced(): Preview | undefined {
    const { authority, forcing } = this.#options;
    if (authority() === 'none' || forcing() === 'off' || this.#lastFailed) return undefined;
    return this.#asked.forced ?? this.#nextDue()?.[0];
  }

  #force(preview: Preview, asked: Asked): void {
    const { order, queue, resolver, store } = this.#options;
    const { id } = preview;
    asked.due = false;
    asked.handle = queue.pushOnce(FORCE_RESOLVE, {
      label: `pending-action:${preview.sourceToolName}`,
      now: order() === 'newestFirst',
      onServed: () => {
        const current = store.get(id);
        if (!resolver.expectAnswerTo(id) && current) this.#steerReminder(current);
      },
      onInvoked: call => resolver.resolvePreview(id, call),
      onResolved: () => void delete asked.handle,
      onRejected: (_choice, reason) => this.#rejected(id, asked, reason),
    });
  }

  #rejected(id: string, asked: Asked, reason: RejectReason): RejectAnswer {
    if (reason === 'error') this.#lastFailed = true;
    const preview = this.#options.store.get(id);
    const answer =
      preview && this.#asked.isWanted(preview, asked) ? this.#answerTo(reason, preview, asked) : 'drop';
    if (answer === 'drop') delete asked.handle;
    return answer;
  }

  #answerTo(reason: RejectReason, preview: Preview, asked: Asked): 'requeue' | 'drop' {
    // In Manual mode, the model had no tool to answer with.
    const isManual = this.#options.authority() === 'none';
    switch (reason) {
      case 'aborted':
        return 'requeue';
      case 'error':
      case 'not_invoked':
        if (!isManual && ++asked.unanswered >= MAX_FORCED_TURNS) {
          this.#leaveToUser(preview, 0);
          return 'drop';
        }
        asked.due = isManual || reason === 'error';
        return asked.due ? 'drop' : 'requeue';
      case 'unavailable':
        asked.due = true;
        return 'drop';
      case 'removed':
      case 'cleared':
        return 'drop';
    }
  }

  #steerReminder(preview: Preview): void {
    const { previews, steer } = this.#options;
    previews().addReminder(preview.id);
    steer({
      role: 'steering',
      kind: 'resolve-reminder',
      text: reminderText(preview),
      previewIds: [preview.id],
    });
  }

  /** Asks again after a failed apply, but not a model that keeps failing. */
  #askAgain(preview: Preview): void {
    const failures = (this.#asked.get(preview.id)?.failures ?? Infinity) + 1;
    if (failures === Infinity || this.#options.authority() === 'none') return;
    if (failures === MAX_FORCED_TURNS) return this.#leaveToUser(preview, failures);
    this.#asked.forget(preview.id);
    this.#ask(preview, failures);
  }

  #leaveToUser(preview: Preview, failures: number): void {
    this.#asked.forget(preview.id);
    const { id } = preview;
    this.#options.steer({
      role: 'steering',
      kind: 'notice',
      text: leftToUserText(preview, failures),
      previewIds: [id],
    });
  }
}
