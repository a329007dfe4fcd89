import type { ProviderAnswer } from '../chatProvider.ts';
import type { AssistantMessage } from '../messages.ts';
import type { AnswerLeftovers } from './accumulator.ts';
import { HttpFailure } from './faults.ts';
import type { WireExtras } from './messages.ts';
import { RefusedImages, refusesAnImage, refusesImages } from '../sentImages.ts';
import type { WireShape } from './wireShape.ts';

/** Google's documented stand-in for a missing signature. */
const NO_SIGNATURE = { google: { thought_signature: 'skip_thought_signature_validator' } };
/** Kimi refuses a missing or empty `reasoning_content` but accepts a blank. */
const NO_REASONING = ' ';
/** The most leftovers that are kept. Stand-ins replace dropped ones. */
const MAX_KEPT = 200;

/** Lessons from a server's refusals. */
interface Lessons extends WireShape {
  readonly includeUsage: boolean;
  readonly reasoning: 'unasked' | 'wanted' | 'refused';
  readonly wantsSignatures: boolean;
  readonly plainSchemas: boolean;
  /** Undefined until the server has said either way. */
  readonly takesImages: boolean | undefined;
}

const NOTHING_LEARNED: Lessons = {
  includeUsage: true,
  reasoning: 'unasked',
  wantsSignatures: false,
  plainSchemas: false,
  takesImages: undefined,
  alternates: false,
  shortIds: false,
  systemAsUser: false,
};

/** Refusals with these statuses never count as being about the form of the request, even if their text says so. */
const NEVER_ABOUT_FORM = new Set([401, 402, 403, 429]);

/**
 * Learns how one server deviates from the common format. It lives as long as its provider; after a reload the quirks
 * are learned again from the server's refusals. The status of a refusal says little: templates that raise an error make a
 * 400 (vLLM), a 404 (mlx-lm) or a 500 (llama.cpp, LM Studio), so its text decides.
 * - `stream_options` is left out once the server has refused it (Mistral, older gateways).
 * - Gemini 3 requires a call's `extra_content` (its thought signature) back. It is always sent back if there was one, and
 *   so are the `reasoning_details` of OpenRouter.
 * - DeepSeek and Kimi, when thinking, require `reasoning_content` back. It is sent only once the server has asked for
 *   it, because other servers refuse the field.
 * - Images are sent until the server's list of models, or a refusal, says that the model takes none; an image that was refused is
 *   not sent again.
 * - Gemini takes a subset of JSON Schema; see `plainSchema.ts`. Foreign tools are described in the subset once Gemini has refused
 *   them.
 * - Mistral, and templates that models bring with them, want the order and the ids of `WireShape`.
 */
export class ServerQuirks implements WireExtras {
  readonly #extraContent = new Map<string, unknown>();
  readonly #reasoningDetails = new Map<string, readonly object[]>();
  readonly #refusedImages = new RefusedImages();
  #lessons = NOTHING_LEARNED;
  #askedForVision = false;

  get includeUsage(): boolean {
    return this.#lessons.includeUsage;
  }

  get plainSchemas(): boolean {
    return this.#lessons.plainSchemas;
  }

  get shape(): WireShape {
    return this.#lessons;
  }

  get takesImages(): boolean | undefined {
    return this.#lessons.takesImages;
  }

  get refusedImages(): RefusedImages {
    return this.#refusedImages;
  }

  /** Asks once whether the model takes images, unless that is known. @param ask must not reject. */
  async learnVision(ask: () => Promise<boolean | undefined>): Promise<void> {
    if (this.#askedForVision || this.takesImages !== undefined) return;
    this.#askedForVision = true;
    this.#lessons = { ...this.#lessons, takesImages: await ask() };
  }

  /** Whether a refusal teaches something new, so that the request is worth sending in another form. */
  teaches(error: unknown): boolean {
    return this.#after(error) !== this.#lessons;
  }

  /** Learns from a refusal. @returns whether it taught something new. */
  learn(error: unknown): boolean {
    const before = this.#lessons;
    this.#lessons = this.#after(error);
    return this.#lessons !== before;
  }

  /** Keeps the leftovers that the server may require back with this answer. */
  remember(answer: ProviderAnswer, { extraContent, reasoningDetails }: AnswerLeftovers): void {
    for (const [id, content] of extraContent) keep(this.#extraContent, id, content);
    if (reasoningDetails.length > 0) keep(this.#reasoningDetails, answerKey(answer), reasoningDetails);
  }

  extraContentOf(callId: string): unknown {
    return this.#extraContent.get(callId) ?? (this.#lessons.wantsSignatures ? NO_SIGNATURE : undefined);
  }

  reasoningOf({ reasoning }: AssistantMessage): string | undefined {
    return this.#lessons.reasoning === 'wanted' ? (reasoning ?? NO_REASONING) : undefined;
  }

  reasoningDetailsOf(message: AssistantMessage): readonly object[] | undefined {
    return this.#reasoningDetails.get(answerKey(message));
  }

  /** The lessons after this error; the same object if it teaches nothing. */
  #after(error: unknown): Lessons {
    if (!(error instanceof HttpFailure) || NEVER_ABOUT_FORM.has(error.status)) return this.#lessons;
    const after = { ...this.#lessons, ...lessonsIn(error.body, this.#lessons) };
    const isNew = Object.entries(after).some(
      ([name, value]) => this.#lessons[name as keyof Lessons] !== value,
    );
    return isNew ? after : this.#lessons;
  }
}

/** Whether a server refused a request because of an image in it. */
export function isAboutAnImage(error: unknown): error is HttpFailure {
  return error instanceof HttpFailure && !NEVER_ABOUT_FORM.has(error.status) && refusesAnImage(error.body);
}

/**
 * Refusals by Mistral, Claude (`tool_use.id: String should match pattern`) and OpenAI (at most 40 characters) of other models' ids.
 */
const REFUSED_ID =
  /tool call ids? (?:was|should|must)[^"]{0,200}(?:length of 9|9 (?:alphanumeric )?char)|(?:tool_use\.id|tool_use_id|tool_calls\[\d+\]\.id|tool_call_id)\W{1,4}string (?:should match|too long)/i;

/**
 * Refusals by Gemini of the parameters of tools: "Unknown name \"$ref\" at 'tools[0].function_declarations[1].parameters…': Cannot
 * find field", "reference to undefined schema at properties.x", "$ref 'A' was set alongside unsupported fields", and often no more
 * than "Request contains an invalid argument."; by OpenAI: "Invalid schema for function 'x'".
 */
const REFUSED_SCHEMA =
  /function_?declarations?\[|undefined schema|\$ref\W|invalid schema for function|invalid_function_parameters|request contains an invalid argument/i;

/** The lessons of a refusal about the form of the request. */
function lessonsIn(body: string, { reasoning }: Lessons): Partial<Lessons> {
  const isRefusedField =
    /extra (?:inputs|fields)|not (?:permitted|allowed|supported)|un(?:known|expected|recognized|supported)/i;
  return {
    ...(/stream_options|include_usage/.test(body) && { includeUsage: false }),
    ...(/thought_?signature/i.test(body) && { wantsSignatures: true }),
    ...(/reasoning_content/.test(body) &&
      reasoning !== 'refused' && { reasoning: isRefusedField.test(body) ? 'refused' : 'wanted' }),
    ...(/unexpected role \W*user\W* after role \W*tool|roles must alternate/i.test(body) && {
      alternates: true,
    }),
    ...(REFUSED_SCHEMA.test(body) && { plainSchemas: true }),
    ...(REFUSED_ID.test(body) && { shortIds: true }),
    ...(refusesImages(body) && { takesImages: false }),
    ...(/system role (?:is )?not supported|unexpected role \W*system/i.test(body) && { systemAsUser: true }),
  };
}

function answerKey(message: AssistantMessage | ProviderAnswer): string {
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
