import type { ChatRequest, ProviderFailure, ToolChoice } from './chatProvider.ts';
import type { ToolCall } from './messages.ts';

/**
 * How a server can be made to have one certain tool called, best first: `named` by a named choice, `required` by
 * offering that tool alone and requiring a call, `auto` by nothing but the words of the reminder.
 */
export type LadderStep = 'named' | 'required' | 'auto';

/** Remembers what each provider was found to accept, beyond this process. `vscode.Memento` is easily made one. */
export interface LadderMemory {
  get(providerId: string): LadderStep | undefined;
  set(providerId: string, step: LadderStep): void;
}

/** Kinds of failures that can be a refusal of the choice. */
const REFUSALS: readonly ProviderFailure['code'][] = ['badRequest', 'notFound', 'server'];

/** The parts of a request that a forced tool changes. */
export type Offer = Pick<ChatRequest, 'tools' | 'toolChoice'>;

/**
 * What is known of the servers' ways with tool choices, learned at run time: servers refuse a named choice, or take and
 * ignore it, or refuse every choice in their thinking modes. (Gemini's compatible endpoint knows only `required`;
 * LM Studio and llama.cpp none, auto and required, of which llama.cpp also takes a name and ignores it; DeepSeek, Kimi
 * and Claude refuse forcing while thinking.)
 */
export class ToolChoiceLadder {
  readonly #memory: LadderMemory;

  constructor(memory: LadderMemory) {
    this.#memory = memory;
  }

  /** What to offer so that the choice has the best chance with this provider. Only names tools that are on offer. */
  offer(providerId: string, offer: Offer): Offer {
    const { toolChoice, tools } = offer;
    if (toolChoice?.type !== 'tool') return offer;
    switch (this.step(providerId)) {
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

  step(providerId: string): LadderStep {
    return this.#memory.get(providerId) ?? 'named';
  }

  /**
   * A request with this choice failed. True when the choice is why and a lower step is left to try: ask again
   * with a new {@link offer}. The status alone says little: OpenRouter answers 404 when no host of the model knows the
   * choice, and some gateways make a 500 of their host's 400.
   */
  refused(providerId: string, choice: ToolChoice | undefined, failure: ProviderFailure): boolean {
    if (choice?.type !== 'tool' || !REFUSALS.includes(failure.code) || !mentionsToolChoice(failure))
      return false;
    return this.#stepDown(providerId);
  }

  /** An answer arrived. One that does not call the tool it had to call shows that the server ignores the choice. */
  answered(providerId: string, choice: ToolChoice | undefined, calls: readonly ToolCall[]): void {
    if (choice?.type !== 'tool' || calls.some(call => call.name === choice.name)) return;
    this.#stepDown(providerId);
  }

  #stepDown(providerId: string): boolean {
    const step = this.step(providerId);
    if (step === 'auto') return false;
    this.#memory.set(providerId, step === 'named' ? 'required' : 'auto');
    return true;
  }
}

/** A memory that ends with the process. */
export function transientLadderMemory(): LadderMemory {
  const steps = new Map<string, LadderStep>();
  return { get: id => steps.get(id), set: (id, step) => void steps.set(id, step) };
}

function mentionsToolChoice({ message, detail }: ProviderFailure): boolean {
  return /tool[\s_-]*choice|tool[\s_-]*config|function[\s_-]*call(ing)?[\s_-]*(mode|config)|forc(e|ed|ing)[\s\S]{0,40}tool/i.test(
    `${message}\n${detail}`,
  );
}
