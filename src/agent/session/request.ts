import { untilAborted } from '../base/abort.ts';
import type { Logger } from '../base/log.ts';
import type { ChatProvider, ChatRequest, ProviderFailure } from '../model/chatProvider.ts';
import type { SessionMessage } from '../model/messages.ts';
import { SYSTEM_PROMPT } from '../model/prompts.ts';
import type { Offer } from '../model/toolChoiceLadder.ts';
import { offeredTools, specOf, type ToolRegistry } from '../tools/registry.ts';
import type { Tool } from '../tools/tool.ts';
import { withoutEcho } from '../tree/echo.ts';
import type { renderTrunk } from '../tree/renderTrunk.ts';
import { validTrunk } from '../tree/validTrunk.ts';
import type { Conversation } from './conversation.ts';
import { PLAN_MODE_PROMPT } from './planMode.ts';
import type { SessionSettings } from './sessionOptions.ts';
import type { ToolChoices } from './toolChoices.ts';

export interface RequestsOptions {
  readonly choices: Pick<ToolChoices, 'begin' | 'retry'>;
  readonly tools: ToolRegistry;
  /** See `SessionOptions.prepareTools`. */
  readonly prepareTools?: () => Promise<void>;
  readonly settings: () => SessionSettings;
  readonly planMode: () => boolean;
  readonly conversation: () => Conversation;
  readonly logger: Logger;
}

/** What a session asks its model: the trunk of its conversation, and the tools of the mode that it is in. */
export class Requests {
  readonly #options: RequestsOptions;
  /** Loaded once there is a tag to weave in, or node ids are to be seen. */
  #render: typeof renderTrunk | undefined;

  constructor(options: RequestsOptions) {
    this.#options = options;
  }

  /** Something to wait for before {@link begin}, no longer than until a stop; `undefined` if there is nothing. */
  prepare(signal: AbortSignal): Promise<void> | undefined {
    const { prepareTools } = this.#options;
    const rendering = this.#render || !this.#needsRendering ? undefined : this.#loadRendering();
    if (!prepareTools) return rendering;
    const tools = untilAborted(signal, prepareTools).catch(() => undefined);
    return Promise.all([tools, rendering]).then(() => undefined);
  }

  async #loadRendering(): Promise<void> {
    const { renderTrunk } = await import('./revertWork.ts');
    this.#render = renderTrunk;
  }

  /** The tools that may be called now. */
  tools(): readonly Tool[] {
    const { tools, settings, planMode } = this.#options;
    return offeredTools(tools, { planMode: planMode(), authority: settings().modelAuthority });
  }

  /** A request begins: what it offers and forces. */
  begin(provider: ChatProvider): Offer {
    const { choices, planMode } = this.#options;
    return choices.begin(provider, this.tools().map(specOf), planMode());
  }

  /** What to ask in place of a request that was refused, if there is something. */
  retry(provider: ChatProvider, failure: ProviderFailure): ChatRequest | undefined {
    const { choices, planMode, logger } = this.#options;
    const offer = choices.retry(failure, this.tools().map(specOf), planMode());
    if (!offer) return undefined;
    logger.info(`${provider.id} refuses this tool choice; trying another way: ${failure.detail}`);
    return this.of(provider, offer);
  }

  get #needsRendering(): boolean {
    const { settings, conversation } = this.#options;
    return settings().revertEnabled || conversation().tree.hasTags;
  }

  /** The request with what is offered, and all that was said by now. The log says what it is made with. */
  of(provider: ChatProvider, offer: Offer): ChatRequest {
    const { modelAuthority, forcing, order, revertEnabled } = this.#options.settings();
    const settings = { model: provider.id, modelAuthority, forcing, order, revertEnabled };
    this.#options.conversation().answersWith(settings);
    const system = this.#options.planMode() ? `${SYSTEM_PROMPT}\n\n${PLAN_MODE_PROMPT}` : SYSTEM_PROMPT;
    return { system, messages: this.#messages(provider), ...offer };
  }

  /** The provider as the session hears it: what it says has none of the markers that it is sent. */
  heard(provider: ChatProvider): ChatProvider {
    return withoutEcho(provider, () => this.#isMarked(provider));
  }

  /** Whether the nodes' ids stand before what that provider is sent. */
  #isMarked(provider: ChatProvider): boolean {
    return this.#options.settings().revertEnabled && provider.isVerbatim !== true;
  }

  #messages(provider: ChatProvider): readonly SessionMessage[] {
    const { tree } = this.#options.conversation();
    if (this.#render && this.#needsRendering && provider.isVerbatim !== true)
      return this.#render(tree, { markers: this.#isMarked(provider) });
    return validTrunk(tree).map(({ message }) => message);
  }
}
