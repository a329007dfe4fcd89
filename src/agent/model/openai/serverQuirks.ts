import type { ProviderAnswer } from '../chatProvider.ts';
import type { AssistantMessage } from '../messages.ts';
import type { AnswerLeftovers } from './accumulator.ts';
import { HttpFailure } from './faults.ts';
import type { WireExtras } from './messages.ts';

/** Google's documented stand-in for a missing signature. */
const NO_SIGNATURE = { google: { thought_signature: 'skip_thought_signature_validator' } };
/** Kimi refuses a missing or empty `reasoning_content` but accepts a blank. */
const NO_REASONING = ' ';
/** How many leftovers are kept. Stand-ins replace those that were dropped. */
const MAX_KEPT = 200;
/** The longest reasoning that is kept, in characters. */
const MAX_REASONING = 200_000;

/**
 * Learns how one server deviates from the common format. It lives as long as its provider; after a reload the quirks
 * are learned again from the server's refusals.
 * - `stream_options` is left out once the server has refused it (Mistral, older gateways).
 * - Gemini 3 requires a call's `extra_content` (its thought signature) back. It is always sent back if there was one.
 * - DeepSeek and Kimi, when thinking, require `reasoning_content` back. It is sent only once the server has asked for
 *   it, because other servers refuse the field.
 */
export class ServerQuirks implements WireExtras {
  readonly #extraContent = new Map<string, unknown>();
  readonly #reasoning = new Map<string, string>();
  #includeUsage = true;
  #wantsReasoning = false;
  #wantsSignatures = false;

  get includeUsage(): boolean {
    return this.#includeUsage;
  }

  /** Learns from a refusal. @returns whether it taught something new, so that the request is worth sending again. */
  learn(error: unknown): boolean {
    if (!(error instanceof HttpFailure) || (error.status !== 400 && error.status !== 422)) return false;
    const before = [this.#includeUsage, this.#wantsReasoning, this.#wantsSignatures].join();
    if (/stream_options|include_usage/.test(error.body)) this.#includeUsage = false;
    if (/reasoning_content/.test(error.body)) this.#wantsReasoning = true;
    if (/thought_?signature/i.test(error.body)) this.#wantsSignatures = true;
    return before !== [this.#includeUsage, this.#wantsReasoning, this.#wantsSignatures].join();
  }

  /** Keeps the leftovers that the server may require back with this answer. */
  remember(answer: ProviderAnswer, leftovers: AnswerLeftovers): void {
    for (const [id, content] of leftovers.extraContent) keep(this.#extraContent, id, content);
    const { reasoning } = leftovers;
    if (reasoning !== '' && reasoning.length <= MAX_REASONING)
      keep(this.#reasoning, keyOf(answer), reasoning);
  }

  extraContentOf(callId: string): unknown {
    return this.#extraContent.get(callId) ?? (this.#wantsSignatures ? NO_SIGNATURE : undefined);
  }

  reasoningOf(message: AssistantMessage): string | undefined {
    return this.#wantsReasoning ? (this.#reasoning.get(keyOf(message)) ?? NO_REASONING) : undefined;
  }
}

function keyOf(message: Pick<AssistantMessage, 'text' | 'toolCalls'>): string {
  return message.toolCalls[0]?.id ?? `text ${message.text}`;
}

function keep<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= MAX_KEPT) break;
    map.delete(oldest);
  }
}
