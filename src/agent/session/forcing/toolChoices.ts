import { Owner } from '../../base/disposable.ts';
import { isRecord } from '../../base/json.ts';
import type { ConversationPreviews } from '../conversation/conversationPreviews.ts';
import type { ChatProvider, ProviderFailure, ToolChoice } from '../model/chatProvider.ts';
import type { AssistantMessage, SteeringMessage, ToolCall } from '../model/messages.ts';
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
  };
  readonly steer: (message: SteeringMessage) => void;
}

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
  /** Which previews the model is asked about. Staging one asks about it by itself. */
  readonly directives: ResolveDirectives;
  #turn: Turn | undefined;
  #lastAnswer: AssistantMessage | undefined;
  /** Whether the current request is made only because the model would have ended its turn with previews to vote on. */
  #isEnding = false;
  /** Whether a vote of the current turn failed, or checks did not prove it, so that the model has work to do. */
  #mustAnswer = false;
  /** Whether the model has submitted a plan in the current turn. */
  #hasSubmitted = false;
  /** Whether a vote on one preview by itself did more than recommend it, so that it may be one step of several. */
  #isStep = false;
  /** Whether a call of the current turn voted to apply something. */
  #hasVotedToApply = false;

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
    this.resolver.beginTurn();
    this.directives.beginTurn();
    this.#turn = { provider, tools, choice: isPlanning ? undefined : this.#nextChoice(tools, isEnding) };
    this.#isEnding = isEnding && !isPlanning;
    this.#mustAnswer = false;
    this.#hasSubmitted = false;
    this.#isStep = false;
    this.#hasVotedToApply = false;
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
   * The request is made once more. Returns its offer: nothing is forced if the preview was resolved meanwhile, or the
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
   * Whether the turn is over although the model called tools: it has submitted a plan, or voted on all that it staged, when it was
   * asked at the end or with its closing words, and no vote left it anything to answer.
   */
  get isOver(): boolean {
    const { toolCalls: calls = [], text = '' } = this.#lastAnswer ?? {};
    if (!this.directives.votesAtEnd || this.directives.isForcing || this.#mustAnswer) return false;
    if (this.#hasSubmitted) return calls.every(isClosing);
    const hasClosed = this.#isEnding || (text.trim() !== '' && !this.#isStep);
    return hasClosed && this.#hasVotedToApply && calls.every(isClosing);
  }

  /** The model has amended a preview, and is asked to vote on the new revision. */
  noteAmended(preview: Preview): void {
    this.resolver.noteAmended(preview);
    this.directives.remind(preview);
  }

  /** Executes the model's `resolve`. */
  async resolve(call: ResolveCall): Promise<Resolved | Handled> {
    this.#hasVotedToApply ||= call.action === 'apply';
    const resolved = await this.resolver.resolve(call).catch((error: unknown) => {
      this.#mustAnswer = true;
      throw error;
    });
    if (resolved.kind === 'handled') this.#hasSubmitted ||= isSubmission(resolved);
    const advice = resolved.kind === 'recommended' ? resolved : undefined;
    this.#mustAnswer ||= resolved.kind === 'returnedError' || advice?.unproved !== undefined;
    this.#isStep ||= call.action === 'apply' && !call.voteOn && advice?.planning !== false;
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
      if (this.#allows(tools, choice)) return choice;
      this.#queue.reject('unavailable');
    }
    return undefined;
  }

  /** Whether these tools allow this choice: one that names a tool needs it among them, and a mode in which the model has a vote. */
  #allows(tools: Offer['tools'], choice: ToolChoice | undefined): boolean {
    if (choice?.type !== 'tool') return true;
    return (
      this.#options.settings().modelAuthority !== 'none' && tools.some(({ name }) => name === choice.name)
    );
  }
}

/** Whether a model may end its turn with the call: a vote, the last state of its list, or an amendment, on which it votes then. */
function isClosing(call: ToolCall): boolean {
  return call.name === 'resolve' || call.name === 'todo' || amendedBy(call) !== undefined;
}

function isSubmission({ result: { details } }: Handled): boolean {
  const source = isRecord(details) ? details['sourceResultDetails'] : undefined;
  return isRecord(source) && source['submitted'] !== undefined;
}
