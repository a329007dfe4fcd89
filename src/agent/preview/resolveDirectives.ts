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
  /** Whether the server refused the last request, as it may every other one that forces. */
  readonly wasRefused: () => boolean;
  readonly steer: (message: SteeringMessage) => void;
}

/** What the model owes an answer to. */
interface Asked {
  /** The directive in the queue or in flight, while there is one. */
  handle?: DirectiveHandle;
  /** A directive was taken back while the preview could not be resolved, and comes back once it can. */
  due: boolean;
  /** The model voted, whatever came of it: it is not made to again. */
  answered: boolean;
  /** Forced turns that passed without an answer. */
  unanswered: number;
  /** Applies that failed. */
  failures: number;
}

const asked = (failures = 0): Asked => ({ due: false, answered: false, unanswered: 0, failures });

/**
 * Asks the model to resolve: a reminder for each preview, and directives in the tool-choice queue as the setting
 * has it. Stops asking as soon as a preview is answered (a recommendation is an answer), resolved or stale, and after
 * {@link MAX_FORCED_TURNS} turns in vain: nothing is forced for what cannot be resolved, and nothing for ever.
 */
export class ResolveDirectives implements Disposable {
  readonly #options: ResolveDirectivesOptions;
  readonly #asked = new Map<string, Asked>();
  readonly #owned = new DisposableStore();

  constructor(options: ResolveDirectivesOptions) {
    this.#options = options;
    this.#owned.add(options.store.onDidChange(preview => this.#follow(preview)));
    this.#owned.add(options.invoker.onDidFailApply(preview => this.#renew(preview)));
    this.#owned.add(options.resolver.onDidVote(id => this.#answer(id)));
  }

  /** Reminds the model of the preview and forces `resolve` on the next request if the setting says so. */
  remind(preview: Preview): void {
    if (this.#options.authority() === 'none') return;
    this.#forget(preview.id);
    this.#ask(preview, asked());
  }

  /** The model was reminded of the preview before this process: only `always` and `soft` ask again. */
  remember(id: string): void {
    this.#asked.set(id, asked());
  }

  /**
   * A request is about to be made: with `always`, the head is forced unless something is already; with `off`, what an
   * earlier setting had queued is taken back.
   */
  beforeRequest(): void {
    const { forcing, queue, store, order } = this.#options;
    if (forcing() === 'off') this.#withdrawAll();
    if (forcing() !== 'always' || queue.hasQueued) return;
    for (const preview of store.list(order())) {
      const state = this.#asked.get(preview.id);
      if (state && this.#isWanted(preview, state)) return this.#force(preview, state);
    }
  }

  /** A turn is over and its choice settled: with `soft`, whatever the model saw and let pass is forced next. */
  afterTurn(): void {
    const { forcing, resolver, store, needsWords } = this.#options;
    if (forcing() !== 'soft') return;
    for (const [id, state] of this.#asked) {
      const preview = store.get(id);
      if (!preview || !this.#isWanted(preview, state) || state.handle || !resolver.wasShown(id)) continue;
      this.#force(preview, state);
      if (needsWords()) this.#steerReminder(preview);
    }
  }

  /** Forgets everything that was asked; the previews themselves are untouched. */
  clear(): void {
    for (const id of [...this.#asked.keys()]) this.#forget(id);
  }

  dispose(): void {
    this.#owned.dispose();
    this.clear();
  }

  #ask(preview: Preview, state: Asked): void {
    const { forcing } = this.#options;
    this.#asked.set(preview.id, state);
    this.#steerReminder(preview);
    if (forcing() !== 'forced' && forcing() !== 'always') return;
    if (this.#isWanted(preview, state)) this.#force(preview, state);
    else state.due = true;
  }

  #force(preview: Preview, state: Asked): void {
    const { authority, order, queue, resolver, store } = this.#options;
    if (authority() === 'none') return;
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
    const { store, needsWords, wasRefused } = this.#options;
    const preview = store.get(id);
    if (preview && this.#isWanted(preview, state)) {
      if (reason === 'aborted' || (reason === 'error' && !wasRefused())) return 'requeue';
      if (reason === 'error' || reason === 'not_invoked') {
        state.unanswered++;
        if (state.unanswered < MAX_FORCED_TURNS) {
          if (reason === 'not_invoked' && needsWords()) this.#steerReminder(preview);
          return 'requeue';
        }
        this.#leaveToUser(preview, 0);
      }
    }
    delete state.handle;
    return 'drop';
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
    if (!state) return;
    state.answered = true;
    this.#withdraw(state);
  }

  /** A failed apply asks again, but a model that goes on failing is not driven round in circles. */
  #renew(preview: Preview): void {
    const failures = (this.#asked.get(preview.id)?.failures ?? Infinity) + 1;
    if (failures === Infinity || this.#options.authority() === 'none') return;
    if (failures === MAX_FORCED_TURNS) return this.#leaveToUser(preview, failures);
    this.#forget(preview.id);
    this.#ask(preview, asked(failures));
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

  #followOne(preview: Preview): void {
    const state = this.#asked.get(preview.id);
    if (!state) return;
    if (!isOpen(preview)) return this.#forget(preview.id);
    if (this.#isWanted(preview, state)) {
      if (state.due) this.#force(preview, state);
    } else if (state.handle) {
      state.due = true;
      this.#withdraw(state);
    }
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
    for (const state of this.#asked.values()) this.#withdraw(state);
  }

  #withdraw(state: Asked): void {
    const { handle } = state;
    delete state.handle;
    handle?.remove();
  }
}
