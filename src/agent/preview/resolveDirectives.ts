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
  /** Whether the server in use can only be asked by words, so that the reminder is all there is to repeat. */
  readonly wordsOnly: () => boolean;
  readonly steer: (message: SteeringMessage) => void;
}

/** What the model owes an answer to. */
interface Asked {
  /** The directive in the queue or in flight, while there is one. */
  handle?: DirectiveHandle;
  /** Forced turns that passed without an answer. */
  unanswered: number;
  /** Applies that failed. */
  failures: number;
}

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
  }

  /** Reminds the model of the preview and forces `resolve` on the next request if the setting says so. */
  remind(preview: Preview): void {
    if (this.#options.authority() === 'none') return;
    this.#forget(preview.id);
    this.#ask(preview, { unanswered: 0, failures: 0 });
  }

  /** A request is about to be made: with `always`, the head is forced unless something is already. */
  beforeRequest(): void {
    const { forcing, queue, store, order } = this.#options;
    if (forcing() !== 'always' || queue.hasQueued) return;
    const head = store.list(order()).find(preview => this.#asked.has(preview.id) && isUnanswered(preview));
    const asked = head && this.#asked.get(head.id);
    if (asked) this.#force(head, asked);
  }

  /** A turn is over and its choice settled: with `soft`, whatever the model saw and let pass is forced next. */
  afterTurn(): void {
    const { forcing, resolver, store } = this.#options;
    if (forcing() !== 'soft') return;
    for (const [id, asked] of this.#asked) {
      const preview = store.get(id);
      if (preview && isUnanswered(preview) && !asked.handle && resolver.wasShown(id))
        this.#force(preview, asked);
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

  #ask(preview: Preview, asked: Asked): void {
    const { forcing } = this.#options;
    this.#asked.set(preview.id, asked);
    this.#steerReminder(preview);
    if ((forcing() === 'forced' || forcing() === 'always') && isUnanswered(preview))
      this.#force(preview, asked);
  }

  #force(preview: Preview, asked: Asked): void {
    const { authority, order, queue, resolver } = this.#options;
    if (authority() === 'none') return;
    const { id } = preview;
    asked.handle = queue.pushOnce(FORCE_RESOLVE, {
      label: `pending-action:${preview.sourceToolName}`,
      now: order() === 'newestFirst',
      onInvoked: call => resolver.resolvePreview(id, call),
      onResolved: () => void delete asked.handle,
      onRejected: (_choice, reason) => this.#rejected(id, asked, reason),
    });
  }

  #rejected(id: string, asked: Asked, reason: RejectReason): RejectAnswer {
    const { resolver, store, wordsOnly } = this.#options;
    const preview = store.get(id);
    const unanswered = preview !== undefined && isUnanswered(preview);
    if (unanswered && (reason === 'aborted' || reason === 'error')) return 'requeue';
    if (unanswered && reason === 'not_invoked' && !resolver.wasAnswered(id)) {
      asked.unanswered++;
      if (asked.unanswered < MAX_FORCED_TURNS) {
        if (wordsOnly()) this.#steerReminder(preview);
        return 'requeue';
      }
      delete asked.handle;
      this.#leaveToUser(preview);
    }
    delete asked.handle;
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

  /** A failed apply asks again, but a model that goes on failing is not driven round in circles. */
  #renew(preview: Preview): void {
    const asked = this.#asked.get(preview.id);
    if (!asked || this.#options.authority() === 'none') return;
    asked.failures++;
    if (asked.failures < MAX_FORCED_TURNS) {
      this.#forget(preview.id);
      this.#ask(preview, { unanswered: 0, failures: asked.failures });
    } else {
      this.#leaveToUser(preview);
    }
  }

  #leaveToUser(preview: Preview): void {
    this.#forget(preview.id);
    const { id } = preview;
    this.#options.steer({
      role: 'steering',
      kind: 'notice',
      text: leftToUserText(preview),
      previewIds: [id],
    });
  }

  #follow(preview: Preview): void {
    const asked = this.#asked.get(preview.id);
    if (!asked) return;
    if (preview.state.kind === 'pending' && !isUnanswered(preview)) {
      asked.handle?.remove();
      delete asked.handle;
    }
    if (!isOpen(preview)) this.#forget(preview.id);
  }

  #forget(id: string): void {
    this.#asked.get(id)?.handle?.remove();
    this.#asked.delete(id);
  }
}

/** Whether the model's answer is still awaited and would be of use. */
function isUnanswered({ state, editedByUser }: Preview): boolean {
  if (editedByUser) return false;
  return state.kind === 'pending' && state.recommendation === undefined && state.stale.length === 0;
}
