import { shortenOutputs, type Shortened } from '../conversation/context/shortenOutputs.ts';
import { summarizedTrunk, summaryInForce } from '../conversation/context/summarizedTrunk.ts';
import type { Line } from '../conversation/validTrunk.ts';
import type { ChatProvider, ChatRequest, ProviderFailure } from '../model/chatProvider.ts';
import { DEFAULT_CONTEXT_WINDOW, tokensOf, tokensOfRequest } from '../model/contextWindow.ts';
import type { AssistantMessage } from '../model/messages.ts';
import type { SessionContext } from '../sessionOptions.ts';

/** The part of the window that is kept free for the answer, and its bound in tokens. */
const ANSWER_SHARE = 1 / 4;
const MAX_ANSWER = 16_384;
/** The least room for messages to assume, in tokens, however large the prompt and the tools are. */
const MIN_ROOM = 512;
/** The share of the window to assume after the server found a request too long and did not name the window's size. */
const AFTER_TOO_LONG = 0.75;
/** The largest factor by which estimates are raised when a server counts more tokens. */
const MAX_CORRECTION = 2;
const CORRECTION_STEPS = 10;

/** How full the context window is. */
export interface ContextUse {
  /** Tokens of the last request and its answer if they are counted, else of the next request. */
  readonly tokens: number;
  readonly window: number;
  /** Whether the server counted the tokens. If not, they are an estimate. */
  readonly isCounted: boolean;
  /** Whether the size of the window was reported or set. If not, it is assumed. */
  readonly isWindowKnown: boolean;
}

/** Known limits of the window of one provider's model. */
interface Known {
  /** The size that the provider reported. */
  readonly told: number | undefined;
  /** The size that the server named when it last refused a request as too long, or else a guess. */
  readonly refused?: number;
}

/**
 * Keeps the requests of a session under the context window of the model that is in use. Sizes are estimates, which are
 * raised when a server counts more; a refusal of the server shows a window that is smaller than it seemed.
 *
 * The oldest results are shortened in each request, on copies. If that is not enough, a summary is appended to the conversation; in
 * later requests it takes the place of the beginning. Nothing is removed from the conversation.
 */
export class ContextKeeper {
  readonly #ctx: SessionContext;
  readonly #overhead: () => number;
  readonly #windows = new Map<string, Known>();
  readonly #corrections = new Map<string, number>();

  /** @param overhead an estimate of the tokens that a request has besides its messages: the system prompt and the tools. */
  constructor(ctx: SessionContext, overhead: () => number) {
    this.#ctx = ctx;
    this.#overhead = overhead;
  }

  /** Asks the provider for its window. Does not reject. */
  async refresh(provider: ChatProvider, signal: AbortSignal): Promise<void> {
    const told = await provider.contextWindow?.(signal);
    const known = this.#windows.get(provider.id);
    if (signal.aborted || (known && known.told === told)) return;
    // A refusal says nothing about a window that was changed since.
    this.#windows.set(provider.id, { told });
  }

  /** The lines of a request to this provider, shortened if they must be. */
  lines(provider: ChatProvider): readonly Line[] {
    return this.#shortened(provider).lines;
  }

  /** Whether the next request fits only with a summary, or leaves its newest results less than half of the room. */
  wantsSummary(provider: ChatProvider): boolean {
    const waiting = this.#ctx.inbox.messages.reduce((sum, message) => sum + tokensOf(message), 0);
    return !this.#shortened(provider, waiting).fits;
  }

  /**
   * Appends a summary if it would stand for anything new. To be called between turns, while no result is missing. Appends nothing
   * once the signal is aborted.
   * @returns whether a summary was appended.
   */
  async summarize(provider: ChatProvider, signal: AbortSignal): Promise<boolean> {
    const { conversation, store, append, emit, logger } = this.#ctx;
    const { makeSummary } = await import('./summary.ts');
    const { tree, previews } = conversation();
    const message = await makeSummary({
      tree,
      previews: () => store.list('oldestFirst').filter(({ id }) => previews.concerns(id)),
      provider,
      room: this.#room(provider),
      readable: this.window(provider) / this.#correction(provider),
      onStart: () => emit({ type: 'summarizing' }),
      signal,
      logger,
    });
    if (!message || signal.aborted) return false;
    append(message);
    return true;
  }

  /** The server found the request that {@link lines} makes too long: its window is smaller than it seemed, or the estimate low. */
  noteTooLong(provider: ChatProvider, { contextWindow }: ProviderFailure): void {
    const estimate = this.estimate(provider);
    const seemed = Math.min(this.window(provider), estimate * this.#correction(provider));
    const refused = contextWindow ?? Math.floor(seemed * AFTER_TOO_LONG);
    this.#windows.set(provider.id, { told: this.#windows.get(provider.id)?.told, refused });
    if (contextWindow !== undefined) this.#correct(provider, contextWindow, estimate);
  }

  /** An answer has arrived: compares the server's count of its request with the estimate. */
  noteAnswer(provider: ChatProvider, { usage }: AssistantMessage, request: ChatRequest): void {
    if (usage) this.#correct(provider, usage.inputTokens, tokensOfRequest(request));
  }

  /** The size of the model's window as far as it is known, else the assumed one, in tokens. */
  window(provider: ChatProvider): number {
    const { told, refused } = this.#windows.get(provider.id) ?? { told: undefined };
    return Math.min(told ?? DEFAULT_CONTEXT_WINDOW, refused ?? Infinity);
  }

  /**
   * How full the window is, by the server's count if the last answer on the trunk has one. `undefined` until a provider that may
   * know its window has been asked.
   */
  use(provider: ChatProvider): ContextUse | undefined {
    const { tree } = this.#ctx.conversation();
    const known = this.#windows.get(provider.id);
    if (!known && provider.contextWindow) return undefined;
    const window = this.window(provider);
    const isWindowKnown = known?.told !== undefined || known?.refused !== undefined;
    const at = tree.lastPositionOf('assistant');
    const summary = summaryInForce(tree);
    const last = at >= 0 && (!summary || tree.positionOf(summary.id) < at) ? tree.messages[at] : undefined;
    if (last?.role === 'assistant' && last.usage)
      return {
        tokens: last.usage.inputTokens + last.usage.outputTokens,
        window,
        isCounted: true,
        isWindowKnown,
      };
    const tokens = Math.ceil(this.estimate(provider) * this.#correction(provider));
    return { tokens, window, isCounted: false, isWindowKnown };
  }

  /** The size of the next request in tokens, as far as it is known now; an estimate without correction. */
  estimate(provider: ChatProvider): number {
    return this.lines(provider).reduce((sum, { message }) => sum + tokensOf(message), this.#overhead());
  }

  #shortened(provider: ChatProvider, waiting = 0): Shortened {
    const room = Math.max(MIN_ROOM, this.#room(provider) - waiting);
    const { conversation, tools } = this.#ctx;
    // The model can see the result of a read-only tool again by another call.
    const canRepeat = (name: string): boolean => tools.get(name)?.readOnly === true;
    return shortenOutputs(summarizedTrunk(conversation().tree, room), room, canRepeat);
  }

  /** The room for the messages of a request, as an estimate without correction, like all sizes of messages. */
  #room(provider: ChatProvider): number {
    const window = this.window(provider);
    const free = window - Math.min(MAX_ANSWER, window * ANSWER_SHARE);
    return Math.max(MIN_ROOM, Math.floor(free / this.#correction(provider)) - this.#overhead());
  }

  /** The tokens that the server counts for each token of the estimate. */
  #correction(provider: ChatProvider): number {
    return this.#corrections.get(provider.id) ?? 1;
  }

  #correct(provider: ChatProvider, counted: number, estimated: number): void {
    // In steps, so that the next requests are shortened like this one.
    const ratio = Math.ceil((CORRECTION_STEPS * counted) / Math.max(1, estimated)) / CORRECTION_STEPS;
    this.#corrections.set(provider.id, Math.min(MAX_CORRECTION, Math.max(1, ratio)));
  }
}
