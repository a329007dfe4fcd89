import { Owner } from '../../base/disposable.ts';
import type { ConversationPreviews } from '../conversation/conversationPreviews.ts';
import type { ChatProvider, ProviderFailure, ToolChoice } from '../model/chatProvider.ts';
import type { AssistantMessage, SteeringMessage, ToolCall, ToolResultMessage } from '../model/messages.ts';
import type { Offer, ToolChoiceLadder } from '../model/toolChoiceLadder.ts';
import type { Preview } from '../../hold/preview/preview.ts';
import type { PreviewStore } from '../../hold/preview/previewStore.ts';
import type { Invoker } from '../../hold/preview/resolve/invoker.ts';
import type { Handled, Resolved } from '../../hold/preview/resolve/resolved.ts';
import type { Forcing, ModelAuthority, ResolveOrder } from '../../hold/preview/resolveSettings.ts';
import { amendedBy } from './previewIds.ts';
import { ModelResolver, type ResolveCall, type ResolveQueue } from './modelResolver.ts';
import { ResolveDirectives } from './resolveDirectives.ts';
import { ToolChoiceQueue } from './toolChoiceQueue.ts';
import type { Vote } from './vote.ts';

export interface ToolChoicesOptions {
  readonly store: PreviewStore;
  readonly invoker: Invoker;
  /** The previews of the current conversation. */
  readonly previews: () => ConversationPreviews;
  readonly ladder: ToolChoiceLadder;
  readonly settings: () => {
    readonly modelAuthority: ModelAuthority;
    readonly order: ResolveOrder;
    readonly forcing: Forcing;
    readonly continueAfterReview: boolean;
  };
  readonly steer: (message: SteeringMessage) => void;
}

/**
 * How a turn ends although the model called tools: with a plan, with its vote on all that it staged, with a vote that its mode
 * refuses, or with calls on which the user must decide before it can go on.
 */
type TurnEnd = 'plan' | 'vote' | 'refusal' | 'wait';

/** The current request, or the last one. */
interface Turn {
  readonly provider: ChatProvider;
  /** All tools available in this turn, even if the ladder's step offers fewer. */
  readonly tools: Offer['tools'];
  /** The choice of the queue, before the ladder adapts it to the server. */
  readonly choice: ToolChoice | undefined;
}

/**
 * Decides which tools the model may or must call in each request of a session, and which previews its `resolve` means. {@link
 * begin} starts a turn, {@link settle} ends it.
 */
export class ToolChoices extends Owner {
  readonly #options: ToolChoicesOptions;
  readonly #queue: ResolveQueue = new ToolChoiceQueue();
  /** The meaning of the model's `resolve`. */
  readonly resolver: ModelResolver;
  /** Which previews the model is asked about. A staged preview is added automatically. */
  readonly directives: ResolveDirectives;
  #turn: Turn | undefined;
  #lastAnswer: AssistantMessage | undefined;
  /** The votes of the current turn. */
  readonly #votes = new Set<Vote>();

  constructor(options: ToolChoicesOptions) {
    super();
    const { store, invoker, previews, ladder, settings, steer } = options;
    this.#options = options;
    this.resolver = new ModelResolver(store, invoker, this.#queue, previews);
    this.directives = this.own(
      new ResolveDirectives({
        store,
        invoker,
        previews,
        steer,
        queue: this.#queue,
        resolver: this.resolver,
        order: () => settings().order,
        authority: () => settings().modelAuthority,
        forcing: () => settings().forcing,
        isWoken: () => settings().continueAfterReview,
        needsReminder: () =>
          this.#lastAnswer?.toolCalls.length === 0 ||
          (this.#turn !== undefined && ladder.step(this.#turn.provider) === 'auto'),
      }),
    );
    this.own(
      store.onDidStage(preview => {
        if (previews().asksModel(preview.id)) this.directives.remind(preview);
      }),
    );
  }

  /**
   * A request is being made. Returns its tools and choice; in plan mode, directives wait.
   * @param isEnding whether it is made only because {@link ResolveDirectives.isForcing}, although the model has ended its turn.
   */
  begin(provider: ChatProvider, tools: Offer['tools'], isEnding = false): Offer {
    const { isPlanning } = this.resolver;
    this.directives.beginTurn();
    this.resolver.beginTurn();
    this.#turn = { provider, tools, choice: isPlanning ? undefined : this.#nextChoice(tools, isEnding) };
    this.#votes.clear();
    return this.#offer(this.#turn);
  }

  /**
   * The request failed. Returns the offer to make instead, if its tool choice may be the reason and the ladder has another step.
   */
  retry(failure: ProviderFailure, tools: Offer['tools']): Offer | undefined {
    const turn = this.#turn;
    if (!turn || !this.#options.ladder.learnFromRefusal(turn.provider, turn.choice, failure))
      return undefined;
    return this.repeat(tools);
  }

  /**
   * The request is made once more. Returns its offer: nothing is forced if the preview has been resolved in the meantime, or the
   * model may no longer be asked. `undefined` before the first request.
   */
  repeat(tools: Offer['tools']): Offer | undefined {
    const turn = this.#turn;
    if (!turn) return undefined;
    if (this.resolver.isPlanning) this.#queue.reject('aborted');
    else if (this.#options.settings().forcing === 'off' || !this.#allows(tools, turn.choice))
      this.#queue.reject('unavailable');
    const isForced = this.#queue.hasInFlight;
    this.resolver.repeatTurn({ isForced });
    this.#turn = { ...turn, tools, choice: isForced ? turn.choice : undefined };
    return this.#offer(this.#turn);
  }

  /** The turn ended with this answer. */
  settle(end: 'resolve' | 'aborted' | 'error', answer: AssistantMessage): void {
    this.#lastAnswer = answer;
    // Even if the user then stopped the turn while its calls ran.
    if (answer.stopReason !== 'error' && answer.stopReason !== 'aborted') this.directives.noteAnswer();
    if (end !== 'resolve') return this.#queue.reject(end);
    const turn = this.#turn;
    // An answer that was truncated at its length limit says nothing about the server's abilities.
    if (turn && answer.stopReason !== 'length')
      this.#options.ladder.learnFromAnswer(turn.provider, turn.choice, answer.toolCalls);
    this.#queue.resolve();
    this.directives.afterTurn();
  }

  /**
   * Whether the turn is over although the model called tools.
   * @param results of its calls, in their order.
   * @param isAsked whether it was asked for its votes because it would have ended its turn, and has only voted since.
   * @param hasOpenSteps whether the model's to-do list has open steps.
   */
  isOver(results: readonly ToolResultMessage[], isAsked: boolean, hasOpenSteps: () => boolean): boolean {
    const { toolCalls: calls = [], text = '' } = this.#lastAnswer ?? {};
    const votes = this.#votes;
    const { isPlanning } = this.resolver;
    const isForcing = this.directives.isForcing && !isPlanning;
    if (!this.directives.votesAtEnd || isForcing || votes.has('unsettled')) return false;
    const previews = this.#options.previews();
    const { continueAfterReview, modelAuthority } = this.#options.settings();
    const isRefused = ({ name }: ToolCall): boolean =>
      name === 'resolve' && modelAuthority === 'none' && !isPlanning;
    const lastWaiting = results.findLastIndex(({ pending = [] }) => previews.hasUnrun(pending));
    // With the outcome of the last call that waits, the model is told what earlier calls have staged.
    const mayEnd = (call: ToolCall, at: number): boolean =>
      isRefused(call) ||
      (results[at]?.isError === false &&
        (isClosing(call) || (at <= lastWaiting && results[at].pending !== undefined)));
    if (!calls.every(mayEnd)) return false;
    const hasWords = text.trim() !== '';
    const unrefused = votes.has('plan') ? 'plan' : lastWaiting < 0 ? 'vote' : 'wait';
    const end: TurnEnd = calls.some(isRefused) ? 'refusal' : unrefused;
    switch (end) {
      case 'plan':
        return true;
      case 'refusal':
        return hasWords && (previews.hasInReview || !hasOpenSteps());
      case 'wait':
        if (isAsked || hasWords) return true;
        return continueAfterReview && results.some(({ pending = [] }) => previews.hasUnrunTest(pending));
      case 'vote':
        // A model that discards its work without being asked may be about to start again.
        if (!isAsked && !(hasWords && (votes.has('apply') || votes.has('advice')))) return false;
        // When the user applies, the model is woken for its open steps.
        if (votes.has('advice') && !votes.has('apply')) return true;
        return votes.size > 0 && !hasOpenSteps();
    }
  }

  /** The model has amended a preview, and is asked to vote on the new revision. */
  noteAmended(amended: Preview): void {
    this.resolver.noteAmended(amended);
    this.directives.remind(amended);
  }

  /** Executes the model's `resolve`. */
  async resolve(call: ResolveCall): Promise<Resolved | Handled> {
    const { voteOf } = await import('./vote.ts');
    const resolved = await this.resolver.resolve(call).catch((error: unknown) => {
      this.#votes.add('unsettled');
      throw error;
    });
    const vote = voteOf(call, resolved, this.resolver);
    if (vote) this.#votes.add(vote);
    return resolved;
  }

  /** Drops all directives. The previews stay pending, and the model is no longer asked about them. */
  clear(): void {
    this.directives.clear();
    this.#queue.clear();
    this.resolver.clear();
    this.#turn = undefined;
  }

  #offer({ provider, tools, choice }: Turn): Offer {
    return this.#options.ladder.offer(provider, { tools, ...(choice ? { toolChoice: choice } : {}) });
  }

  /** The next choice whose tool is offered; others are rejected as unavailable. */
  #nextChoice(tools: Offer['tools'], isEnding: boolean): ToolChoice | undefined {
    this.directives.beforeRequest(isEnding);
    for (let choice = this.#queue.nextToolChoice(); choice; choice = this.#queue.nextToolChoice()) {
      if (this.#allows(tools, choice)) return choice.type === 'auto' ? undefined : choice;
      this.#queue.reject('unavailable');
    }
    return undefined;
  }

  /** Whether these tools allow this choice: one that names a tool needs that tool, and a mode in which the model has a vote. */
  #allows(tools: Offer['tools'], choice: ToolChoice | undefined): boolean {
    if (choice?.type !== 'tool') return true;
    return (
      this.#options.settings().modelAuthority !== 'none' && tools.some(({ name }) => name === choice.name)
    );
  }
}

/** Whether a model may end its turn with the call: a vote, the last state of its list, or an amendment, which it then votes on. */
function isClosing(call: ToolCall): boolean {
  return call.name === 'resolve' || call.name === 'todo' || amendedBy(call) !== undefined;
}
