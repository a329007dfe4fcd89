import { HttpFailure } from './openaiFailure.ts';
import type { AssistantMessage } from './messages.ts';
import type { ProviderAnswer } from './chatProvider.ts';
import type { WireExtras } from './openaiMessages.ts';
import type { AnswerLeftovers } from './openaiStream.ts';

/** Google's documented stand-in for a signature that was never had or is lost. */
const NO_SIGNATURE = { google: { thought_signature: 'skip_thought_signature_validator' } };
/** Kimi refuses an absent and an empty `reasoning_content`, and takes a blank. */
const NO_REASONING = ' ';
/** Answers whose leftovers are kept; the oldest are dropped, and stand-ins take their place. */
const MAX_KEPT = 200;
/** Longer reasoning is not kept, in characters. */
const MAX_REASONING = 200_000;

/**
 * What one server has shown to want beyond the common format. Lives as long as its provider; after a reload it is
 * learned again from the server's own refusal.
 * - `stream_options` is left out once the server has refused it (Mistral, older gateways).
 * - Gemini 3 wants a call's `extra_content` (its thought signature) back; it is always sent back where it was given.
 * - DeepSeek and Kimi, when thinking, want `reasoning_content` back; it is sent only once the server has asked for it,
 *   because others refuse the field.
 */
export class ServerHabits implements WireExtras {
  readonly #extraContent = new Map<string, unknown>();
  readonly #reasoning = new Map<string, string>();
  #includeUsage = true;
  #wantsReasoning = false;
  #wantsSignatures = false;

  get includeUsage(): boolean {
    return this.#includeUsage;
  }

  /** Learns from a refusal. True when the same request is worth sending again. */
  learn(error: unknown): boolean {
    if (!(error instanceof HttpFailure) || (error.status !== 400 && error.status !== 422)) return false;
    const before = [this.#includeUsage, this.#wantsReasoning, this.#wantsSignatures].join();
    if (/stream_options|include_usage/.test(error.body)) this.#includeUsage = false;
    if (/reasoning_content/.test(error.body)) this.#wantsReasoning = true;
    if (/thought_?signature/i.test(error.body)) this.#wantsSignatures = true;
    return before !== [this.#includeUsage, this.#wantsReasoning, this.#wantsSignatures].join();
  }

  /** Keeps what the server may want back with this answer. */
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
