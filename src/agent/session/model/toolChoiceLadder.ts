import type { ChatProvider, ChatRequest, ProviderFailure, ToolChoice } from './chatProvider.ts';
import type { ToolCall } from './messages.ts';

/**
 * How to make a server's model call one particular tool, best first: `named` sends a named tool choice, `required`
 * offers that tool alone and requires a call, `auto` relies on the text of the reminder.
 */
export type LadderStep = 'named' | 'required' | 'auto';

/** Stores the step that each provider was found to accept, beyond this process. */
export interface LadderMemory {
  get(providerId: string): LadderStep | undefined;
  set(providerId: string, step: LadderStep): void;
}

/** The kinds of failures that can be a refusal of the tool choice. */
const REFUSALS: readonly ProviderFailure['code'][] = ['badRequest', 'notFound', 'server'];

/** The id by which the ladder knows a provider, and the step at which it begins. */
type Provider = Pick<ChatProvider, 'id' | 'lacksNamedChoice'>;

/** The parts of a request that depend on the tool choice. */
export type Offer = Pick<ChatRequest, 'tools' | 'toolChoice'>;

/**
 * Learns at run time which tool choices each server supports. Some refuse a named choice, some accept and ignore it,
 * and some refuse every choice in thinking mode. (Gemini's compatible endpoint supports only `required`; LM Studio and
 * llama.cpp support none, auto and required, and llama.cpp accepts a name but ignores it; DeepSeek, Kimi and Claude
 * refuse forcing while thinking; VS Code's language models know auto and required, and most take one tool with it.)
 */
export class ToolChoiceLadder {
  readonly #memory: LadderMemory;

  constructor(memory: LadderMemory) {
    this.#memory = memory;
  }

  /** Translates a named tool choice into the form that this provider is known to support; leaves any other as it is. */
  offer(provider: Provider, offer: Offer): Offer {
    const { toolChoice, tools } = offer;
    if (toolChoice?.type !== 'tool') return offer;
    switch (this.step(provider)) {
      case 'named':
        return offer;
      case 'required':
        return {
          tools: tools.filter(tool => tool.name === toolChoice.name),
          toolChoice: { type: 'required' },
        };
      case 'auto':
        return { tools };
    }
  }

  /** The step to use with this provider: the first that it can express, until it has refused or ignored that step. */
  step(provider: Provider): LadderStep {
    return this.#memory.get(provider.id) ?? (provider.lacksNamedChoice === true ? 'required' : 'named');
  }

  /**
   * Steps down if a request failed because of its tool choice.
   * @returns whether to send the request again with a new {@link offer}. The text of the failure decides, because the
   *   status says little: OpenRouter answers 404 when no host of the model supports the choice, and some gateways turn
   *   their host's 400 into a 500.
   */
  learnFromRefusal(provider: Provider, choice: ToolChoice | undefined, failure: ProviderFailure): boolean {
    if (choice?.type !== 'tool' || !REFUSALS.includes(failure.code) || !mentionsToolChoice(failure))
      return false;
    return this.#stepDown(provider);
  }

  /** Steps down if an answer does not call the tool that was forced: the server ignores the choice. */
  learnFromAnswer(provider: Provider, choice: ToolChoice | undefined, calls: readonly ToolCall[]): void {
    if (choice?.type !== 'tool' || calls.some(call => call.name === choice.name)) return;
    this.#stepDown(provider);
  }

  #stepDown(provider: Provider): boolean {
    const step = this.step(provider);
    if (step === 'auto') return false;
    this.#memory.set(provider.id, step === 'named' ? 'required' : 'auto');
    return true;
  }
}

function mentionsToolChoice({ message, detail }: ProviderFailure): boolean {
  // vLLM without a parser for calls: no tool choice helps.
  if (/--enable-auto-tool-choice/.test(message)) return false;
  return /tool[\s_-]*(choice|mode|config)|function[\s_-]*call(ing)?[\s_-]*(mode|config)|forc(e|ed|ing)[\s\S]{0,40}tool/i.test(
    `${message}\n${detail}`,
  );
}
