import type { Logger } from '../../src/agent/base/logger.ts';
import type { ChatProvider } from '../../src/agent/session/model/chatProvider.ts';
import type {
  AnswerPart,
  LanguageModel,
  LanguageModelProviderOptions,
  ModelMessage,
  ModelRequest,
} from '../../src/agent/session/model/languageModel/port.ts';
import { createLanguageModelProvider } from '../../src/agent/session/model/languageModel/provider.ts';

/** What a request gets: parts in order, of which an `Error` breaks the stream, or a function that does as it likes. */
export type FakeAnswer =
  | readonly (AnswerPart | Error)[]
  | ((request: ModelRequest, signal: AbortSignal) => Promise<AsyncIterable<AnswerPart>>);

/** A language model that answers each request with the next answer of its list, and records what it was asked. */
export class FakeLanguageModel implements LanguageModel {
  readonly maxInputTokens: number = 1_000;
  takesImages = false;
  readonly requests: ModelRequest[] = [];
  readonly signals: AbortSignal[] = [];
  /** What was counted, in order. */
  readonly counted: (ModelMessage | string)[] = [];
  /** The next answer. By default those of the constructor, one after the other, then empty ones. */
  next: () => FakeAnswer;

  constructor(...answers: FakeAnswer[]) {
    this.next = () => answers.shift() ?? [];
  }

  send(request: ModelRequest, signal: AbortSignal): Promise<AsyncIterable<AnswerPart>> {
    this.requests.push(request);
    this.signals.push(signal);
    const answer = this.next();
    return typeof answer === 'function' ? answer(request, signal) : Promise.resolve(streamOf(answer));
  }

  async countTokens(counted: ModelMessage | string, _signal: AbortSignal): Promise<number> {
    this.counted.push(counted);
    return 10;
  }
}

async function* streamOf(parts: readonly (AnswerPart | Error)[]): AsyncGenerator<AnswerPart> {
  for (const part of parts) {
    if (part instanceof Error) throw part;
    yield part;
  }
}

export const text = (value: string): AnswerPart => ({ type: 'text', text: value });
export const call = (name: string, input: unknown = {}, id = 'c1'): AnswerPart => ({
  type: 'call',
  id,
  name,
  input,
});

/** A provider for the model; its sentences are the kind of the fault and the size of the request. */
export function fakeProvider(
  model: LanguageModel | undefined,
  logger: Logger,
  options: Partial<LanguageModelProviderOptions> = {},
): ChatProvider {
  return createLanguageModelProvider({
    name: 'acme/m1',
    label: 'M1',
    find: () => Promise.resolve(model),
    sentence: ({ kind, said }, size) => `${kind}: ${said}${size ? ` (${size.tokens} of ${size.limit})` : ''}`,
    logger,
    ...options,
  });
}
