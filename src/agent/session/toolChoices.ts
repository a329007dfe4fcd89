import { DisposableStore, type Disposable } from '../base/disposable.ts';
import type { ChatProvider, ProviderFailure, ToolChoice } from '../model/chatProvider.ts';
import type { AssistantMessage, SteeringMessage } from '../model/messages.ts';
import type { Offer, ToolChoiceLadder } from '../model/toolChoiceLadder.ts';
import type { Invoker } from '../preview/invoker.ts';
import {
  ModelResolver,
  type ModeResolveHandler,
  type ResolveCall,
  type ResolveQueue,
  type StandingResolveHandler,
} from '../preview/modelResolver.ts';
import type { AgentToolResult } from '../preview/pendingAction.ts';
import type { ModelAuthority, Preview, ResolveOrder } from '../preview/preview.ts';
import type { PreviewStore } from '../preview/previewStore.ts';
import { ResolveDirectives, type Forcing } from '../preview/resolveDirectives.ts';
import { ToolChoiceQueue } from '../preview/toolChoiceQueue.ts';

export interface ToolChoicesOptions {
  readonly store: PreviewStore;
  readonly invoker: Invoker;
  readonly ladder: ToolChoiceLadder;
  readonly settings: () => {
    readonly modelAuthority: ModelAuthority;
    readonly order: ResolveOrder;
    readonly forcing: Forcing;
  };
  readonly steer: (message: SteeringMessage) => void;
}

/** The request that is out, or was last. */
interface Turn {
  readonly provider: ChatProvider;
  /** All that is on offer in this turn, whatever a step of the ladder made of it. */
  readonly tools: Offer['tools'];
  /** What the queue wants, before the ladder put it into the server's words. */
  readonly choice: ToolChoice | undefined;
  /** What is queued waits: a mode has the floor. */
  readonly hold: boolean;
}

/**
 * What the model may or must call in each request of a session, and what its `resolve` then means. Begin a turn
 * with {@link begin}, end it with {@link settle}.
 */
export class ToolChoices implements Disposable {
  readonly #options: ToolChoicesOptions;
  readonly #queue: ResolveQueue = new ToolChoiceQueue();
  readonly #resolver: ModelResolver;
  readonly #directives: ResolveDirectives;
  readonly #owned = new DisposableStore();
  #turn: Turn | undefined;
  #lastAnswer: AssistantMessage | undefined;

  constructor(options: ToolChoicesOptions) {
    const { store, invoker, ladder, settings, steer } = options;
    this.#options = options;
    this.#resolver = new ModelResolver(store, invoker, this.#queue);
    this.#directives = this.#owned.add(
      new ResolveDirectives({
        store,
        invoker,
        steer,
        queue: this.#queue,
        resolver: this.#resolver,
        order: () => settings().order,
        authority: () => settings().modelAuthority,
        forcing: () => settings().forcing,
        needsWords: () =>
          this.#lastAnswer?.toolCalls.length === 0 ||
          (this.#turn !== undefined && ladder.step(this.#turn.provider.id) === 'auto'),
      }),
    );
  }

  /** The preview was staged in this conversation: asks the model for an answer to it, as the settings have it. */
  remind(preview: Preview): void {
    this.#resolver.knows(preview.id);
    this.#directives.remind(preview);
  }

  /** The model was asked already, before this process. */
  reminded(previewId: string): void {
    this.#resolver.reminded(previewId);
    this.#directives.remember(previewId);
  }

  /** The preview is no longer part of this conversation: the branch that it belongs to was left. */
  forget(previewId: string): void {
    this.#resolver.forget(previewId);
    this.#directives.forget(previewId);
  }

  /** A request is being made: what it offers and forces. With `hold`, what is queued waits. */
  begin(provider: ChatProvider, tools: Offer['tools'], hold: boolean): Offer {
    this.#resolver.beginTurn();
    this.#directives.beginTurn();
    this.#turn = { provider, tools, hold, choice: hold ? undefined : this.#nextChoice(tools) };
    return this.#offer(this.#turn);
  }

  /**
   * The request failed: what to offer instead, if its choice may be why and another way is left. Nothing is forced if
   * what it was about was resolved meanwhile, or may not be asked for any more.
   */
  retry(failure: ProviderFailure, tools: Offer['tools'], hold: boolean): Offer | undefined {
    const turn = this.#turn;
    const { ladder, settings } = this.#options;
    if (!turn || !ladder.refused(turn.provider.id, turn.choice, failure)) return undefined;
    if (hold) this.#queue.reject('aborted');
    else if (settings().forcing === 'off' || !offers(tools, turn.choice)) this.#queue.reject('unavailable');
    this.#turn = { ...turn, tools, hold, choice: this.#queue.hasInFlight ? turn.choice : undefined };
    return this.#offer(this.#turn);
  }

  /** The turn is over, with this answer. */
  settle(end: 'resolve' | 'aborted' | 'error', answer: AssistantMessage): void {
    this.#lastAnswer = answer;
    if (end !== 'resolve') return this.#queue.reject(end);
    const turn = this.#turn;
    // An answer that was cut off at its length says nothing about the server's ways.
    if (turn && answer.stopReason !== 'length')
      this.#options.ladder.answered(turn.provider.id, turn.choice, answer.toolCalls);
    this.#queue.resolve();
    this.#directives.afterTurn();
  }

  /** Whether a tool choice waits for a request that may have it. */
  get isForcing(): boolean {
    return this.#directives.isForcing;
  }

  /** The model's `resolve`. */
  resolve(call: ResolveCall): Promise<AgentToolResult> {
    return this.#resolver.resolve(call);
  }

  /** See `Session.setStandingResolveHandler`. */
  setStandingResolveHandler(handler: StandingResolveHandler | null): void {
    this.#resolver.setStanding(handler);
  }

  /** Takes every `resolve` that names no preview, before all others; for as long as a mode is on. */
  setModeResolveHandler(handler: ModeResolveHandler | null): void {
    this.#resolver.setMode(handler);
  }

  /** Drops every directive; the previews stay pending and are no longer the model's business. */
  clear(): void {
    this.#directives.clear();
    this.#queue.clear();
    this.#resolver.clear();
    this.#turn = undefined;
  }

  dispose(): void {
    this.#owned.dispose();
  }

  #offer({ provider, tools, choice }: Turn): Offer {
    return this.#options.ladder.offer(provider.id, { tools, ...(choice ? { toolChoice: choice } : {}) });
  }

  /** The next choice that names a tool on offer; others are rejected as unavailable. */
  #nextChoice(tools: Offer['tools']): ToolChoice | undefined {
    this.#directives.beforeRequest();
    for (let choice = this.#queue.nextToolChoice(); choice; choice = this.#queue.nextToolChoice()) {
      if (offers(tools, choice)) return choice;
      this.#queue.reject('unavailable');
    }
    return undefined;
  }
}

/** Whether a choice can be made of these tools: one that names a tool needs it among them. */
function offers(tools: Offer['tools'], choice: ToolChoice | undefined): boolean {
  return choice?.type !== 'tool' || tools.some(tool => tool.name === choice.name);
}
