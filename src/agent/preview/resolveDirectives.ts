import { DisposableStore, type Disposable } from '../base/disposable.ts';
import type { ToolChoice } from '../model/chatProvider.ts';
import type { SteeringMessage } from '../model/messages.ts';
import type { Invoker } from './invoker.ts';
import type { ModelResolver, ResolveQueue } from './modelResolver.ts';
import { isOpen, type ModelAuthority, type Preview, type ResolveOrder } from './preview.ts';
import type { PreviewStore } from './previewStore.ts';
import { leftToUserText, reminderText } from './resolveTexts.ts';
import type { DirectiveHandle, RejectAnswer, RejectReason } from './toolChoiceQueue.ts';

/**
 * When the model is made to resolve: setting `redline.resolve.forcing`. `forced` once for each preview, `always` as long as
 * one is pending, `soft` only after a turn that let the reminder pass, `off` never.
 */
export type Forcing = 'forced' | 'always' | 'soft' | 'off';

/** A model that was forced this often and still did not answer leaves the preview to the human. */
export const MAX_FORCED_TURNS = 3;

const FORCE_RESOLVE: ToolChoice = { type: 'tool', name: 'resolve' };

export interface ResolveDirectivesOptions {
  readonly store: PreviewStore;
  readonly invoker: Invoker;
  readonly queue: ResolveQueue;
  readonly resolver: ModelResolver;
  readonly order: () => ResolveOrder;
  readonly authority: () => ModelAuthority;
  readonly forcing: () => Forcing;
  /**
   * Whether asking again needs words: the server in use can be asked by nothing else, or the model has ended its turn,
   * after which servers want a message to answer to.
   */
  readonly needsWords: () => boolean;
  readonly steer: (message: SteeringMessage) => void;
}

/** What the model owes an answer to. */
interface Asked {
  /** The directive in flight, or requeued, while there is one. */
  handle?: DirectiveHandle;
  /** A forced turn is owed, as soon as the preview can be resolved and the model may. */
  due: boolean;
  /** The turn in which it was asked; a vote of that turn is no answer, for the model had not heard of it yet. */
  readonly turn: number;
  /** The model voted, whatever came of it: it is not made to again. */
  answered: boolean;
  /** Forced turns that passed without an answer. */
  unanswered: number;
  /** Applies that failed. */
  readonly failures: number;
}

/**
 * Asks the model to resolve: a reminder for each preview, and directives in the tool-choice queue as the setting
 * has it. Which preview is forced is decided when the request is made, for what comes first may have changed since it
 * was staged. Stops asking as soon as a preview is answered (a recommendation is an answer), resolved or stale, and
 * after {@link MAX_FORCED_TURNS} turns in vain: nothing is forced for what cannot be resolved, and nothing for ever.
 */
export class ResolveDirectives implements Disposable {
  readonly #options: ResolveDirectivesOptions;
  readonly #asked = new Map<string, Asked>();
  readonly #owned = new DisposableStore();
  #turn = 0;
  /** In this turn the model can resolve what it was reminded of: not in Manual, nor while a mode has the floor. */
  #mayAnswer = false;
  /** The last request that forced failed: whether the server answers at all is found out without force. */
  #lastFailed = false;

  constructor(options: ResolveDirectivesOptions) {
    this.#options = options;
    this.#owned.add(options.store.onDidChange(preview => this.#follow(preview)));
    this.#owned.add(options.invoker.onDidFailApply(preview => this.#renew(preview)));
    this.#owned.add(options.resolver.onDidVote(id => this.#answer(id)));
  }

  /** Reminds the model of the preview and forces `resolve` on the next request if the setting says so. */
  remind(preview: Preview): void {
    this.#forget(preview.id);
    this.#ask(preview, 0);
  }

  /** The model was reminded of the preview before this process: only `always` and `soft` ask again. */
  remember(id: string): void {
    this.#asked.set(id, this.#newlyAsked(0, false));
  }

  /** A turn begins: what is asked from now on the model hears of in the next one. */
  beginTurn(): void {
    this.#turn++;
    this.#mayAnswer = false;
  }

  /**
   * A request is about to be made that may force: queues the directive for what comes first, unless one that was served
   * in vain is there to be replayed.
   */
  beforeRequest(): void {
    const { authority, forcing, queue } = this.#options;
    this.#mayAnswer = authority() !== 'none';
    if (forcing() === 'off') return this.#withdrawAll();
    if (!this.#mayAnswer || this.#lastFailed || queue.hasQueued) return;
    const next = this.#nextDue();
    if (next) this.#force(...next);
  }

  /** Whether the next request will force, as things are. */
  get isForcing(): boolean {
    return this.#nextForced() !== undefined;
  }

  /** A turn is over, with an answer, and its choice settled: with `soft`, what the model saw and let pass is forced next. */
  afterTurn(): void {
    const { forcing, resolver, store, needsWords } = this.#options;
    this.#lastFailed = false;
    if (!this.#mayAnswer) return;
    if (forcing() === 'soft') {
      for (const [id, state] of this.#asked) {
        const preview = store.get(id);
        if (preview && !state.handle && this.#isWanted(preview, state) && resolver.wasShown(id))
          state.due = true;
      }
    }
    const next = this.#nextForced();
    if (next && needsWords()) this.#steerReminder(next);
  }

  /** The preview is no longer the model's business. */
  forget(id: string): void {
    this.#forget(id);
  }

  /** Forgets everything that was asked; the previews themselves are untouched. */
  clear(): void {
    for (const id of [...this.#asked.keys()]) this.#forget(id);
    this.#lastFailed = false;
  }

  dispose(): void {
    this.#owned.dispose();
    this.clear();
  }

  #ask(preview: Preview, failures: number): void {
    const forcing = this.#options.forcing();
    this.#asked.set(preview.id, this.#newlyAsked(failures, forcing === 'forced' || forcing === 'always'));
    this.#steerReminder(preview);
  }

  #newlyAsked(failures: number, due: boolean): Asked {
    return { due, turn: this.#turn, answered: false, unanswered: 0, failures };
  }

  /** The first one in the order of the setting that a forced turn is owed to. */
  #nextDue(): readonly [Preview, Asked] | undefined {
    const { forcing, order, store } = this.#options;
    const isAlways = forcing() === 'always';
    for (const preview of store.list(order())) {
      const state = this.#asked.get(preview.id);
      if (state && (isAlways || state.due) && this.#isWanted(preview, state)) return [preview, state];
    }
    return undefined;
  }

  #nextForced(): Preview | undefined {
    const { authority, forcing, store } = this.#options;
    if (authority() === 'none' || forcing() === 'off' || this.#lastFailed) return undefined;
    for (const [id, { handle }] of this.#asked) if (handle) return store.get(id);
    return this.#nextDue()?.[0];
  }

  #force(preview: Preview, state: Asked): void {
    const { order, queue, resolver, store } = this.#options;
    const { id } = preview;
    state.due = false;
    state.handle = queue.pushOnce(FORCE_RESOLVE, {
      label: `pending-action:${preview.sourceToolName}`,
      now: order() === 'newestFirst',
      onServed: () => {
        const current = store.get(id);
        if (!resolver.expect(id) && current) this.#steerReminder(current);
      },
      onInvoked: call => resolver.resolvePreview(id, call),
      onResolved: () => void delete state.handle,
      onRejected: (_choice, reason) => this.#rejected(id, state, reason),
    });
  }

  #rejected(id: string, state: Asked, reason: RejectReason): RejectAnswer {
    if (reason === 'error') this.#lastFailed = true;
    const preview = this.#options.store.get(id);
    const answer =
      preview && this.#isWanted(preview, state) ? this.#answerTo(reason, preview, state) : 'drop';
    if (answer === 'drop') delete state.handle;
    return answer;
  }

  #answerTo(reason: RejectReason, preview: Preview, state: Asked): 'requeue' | 'drop' {
    // In Manual there was no call that could have answered.
    const isManual = this.#options.authority() === 'none';
    switch (reason) {
      case 'aborted':
        return 'requeue';
      case 'error':
      case 'not_invoked':
        if (!isManual && ++state.unanswered >= MAX_FORCED_TURNS) {
          this.#leaveToUser(preview, 0);
          return 'drop';
        }
        state.due = isManual || reason === 'error';
        return state.due ? 'drop' : 'requeue';
      case 'unavailable':
        state.due = true;
        return 'drop';
      case 'removed':
      case 'cleared':
        return 'drop';
    }
  }

  #steerReminder(preview: Preview): void {
    const { resolver, steer } = this.#options;
    resolver.reminded(preview.id);
    steer({
      role: 'steering',
      kind: 'resolve-reminder',
      text: reminderText(preview),
      previewIds: [preview.id],
    });
  }

  /** A vote needs no directive any more; one in flight that it came through ends by itself. */
  #answer(id: string): void {
    const state = this.#asked.get(id);
    if (!state || state.turn === this.#turn) return;
    state.answered = true;
    state.due = false;
    this.#withdraw(state);
  }

  /** A failed apply asks again, but a model that goes on failing is not driven round in circles. */
  #renew(preview: Preview): void {
    const failures = (this.#asked.get(preview.id)?.failures ?? Infinity) + 1;
    if (failures === Infinity || this.#options.authority() === 'none') return;
    if (failures === MAX_FORCED_TURNS) return this.#leaveToUser(preview, failures);
    this.#forget(preview.id);
    this.#ask(preview, failures);
  }

  #leaveToUser(preview: Preview, failures: number): void {
    this.#forget(preview.id);
    const { id } = preview;
    this.#options.steer({
      role: 'steering',
      kind: 'notice',
      text: leftToUserText(preview, failures),
      previewIds: [id],
    });
  }

  /** What becomes of a preview concerns those that are made on it, too. */
  #follow(preview: Preview): void {
    this.#followOne(preview);
    for (const dependent of this.#options.store.dependentsOf(preview.id)) this.#followOne(dependent);
  }

  /** A directive is taken back while its preview cannot be resolved, and is due again once it can. */
  #followOne(preview: Preview): void {
    const state = this.#asked.get(preview.id);
    if (!state) return;
    if (!isOpen(preview)) return this.#forget(preview.id);
    if (!state.handle || this.#isWanted(preview, state)) return;
    state.due = true;
    this.#withdraw(state);
  }

  /** Whether the model's answer is still awaited and would be of use: not what a human edited or others must precede. */
  #isWanted(preview: Preview, { answered }: Asked): boolean {
    const { state, editedByUser } = preview;
    if (state.kind !== 'pending' || state.recommendation !== undefined || state.stale.length > 0)
      return false;
    return !answered && editedByUser !== true && this.#options.store.blockersOf(preview).length === 0;
  }

  #forget(id: string): void {
    const state = this.#asked.get(id);
    this.#asked.delete(id);
    if (state) this.#withdraw(state);
  }

  #withdrawAll(): void {
    for (const state of this.#asked.values()) {
      state.due = false;
      this.#withdraw(state);
    }
  }

  #withdraw(state: Asked): void {
    const { handle } = state;
    delete state.handle;
    handle?.remove();
  }
}
