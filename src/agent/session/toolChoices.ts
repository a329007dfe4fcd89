import { DisposableStore, type Disposable } from '../base/disposable.ts';
import type { ChatProvider, ProviderFailure, ToolChoice } from '../model/chatProvider.ts';
import type { SteeringMessage, ToolCall } from '../model/messages.ts';
import type { Offer, ToolChoiceLadder } from '../model/toolChoiceLadder.ts';
import type { Invoker } from '../preview/invoker.ts';
import {
  ModelResolver,
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
        wordsOnly: () => this.#turn !== undefined && ladder.step(this.#turn.provider.id) === 'auto',
      }),
    );
  }

  /** Asks the model for an answer to the preview. */
  remind(preview: Preview): void {
    this.#directives.remind(preview);
  }

  /** The model was asked already, before this process. */
  reminded(previewId: string): void {
    this.#resolver.reminded(previewId);
  }

  /** A request is being made: what it offers and forces. With `hold`, what is queued waits. */
  begin(provider: ChatProvider, tools: Offer['tools'], hold: boolean): Offer {
    this.#resolver.beginTurn();
    this.#turn = { provider, tools, choice: hold ? undefined : this.#nextChoice(tools) };
    return this.#offer(this.#turn);
  }

  /** The request failed: what to offer instead, if its choice may be why and another way is left. */
  retry(failure: ProviderFailure): Offer | undefined {
    const turn = this.#turn;
    if (!turn || !this.#options.ladder.refused(turn.provider.id, turn.choice, failure)) return undefined;
    return this.#offer(turn);
  }

  /** The turn is over; `calls` are those of its answer. */
  settle(end: 'resolve' | 'aborted' | 'error', calls: readonly ToolCall[]): void {
    if (end !== 'resolve') return this.#queue.reject(end);
    if (this.#turn) this.#options.ladder.answered(this.#turn.provider.id, this.#turn.choice, calls);
    this.#queue.resolve();
    this.#directives.afterTurn();
  }

  /** Whether a tool choice waits for a request. */
  get isForcing(): boolean {
    return this.#queue.hasQueued;
  }

  /** The model's `resolve`. */
  resolve(call: ResolveCall): Promise<AgentToolResult> {
    return this.#resolver.resolve(call);
  }

  /** See `Session.setStandingResolveHandler`; `first` puts it before the previews. */
  setStandingResolveHandler(handler: StandingResolveHandler | null, first: boolean): void {
    this.#resolver.setStanding(handler, first);
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
      const { type } = choice;
      if (type !== 'tool') return choice;
      const { name } = choice;
      if (tools.some(tool => tool.name === name)) return choice;
      this.#queue.reject('unavailable');
    }
    return undefined;
  }
}
