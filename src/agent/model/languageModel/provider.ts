import { untilAborted } from '../../base/abort.ts';
import type { Logger } from '../../base/logger.ts';
import type { ChatProvider } from '../chatProvider.ts';
import type { Fault } from './fault.ts';
import type { LanguageModel } from './port.ts';

/** The numbers that a sentence about a request that is too long can name. */
export interface RequestSize {
  /** Tokens of the request. */
  readonly tokens: number;
  /** The most that the model takes. */
  readonly limit: number;
}

export interface LanguageModelProviderOptions {
  /** The model as the settings name it: `vendor/id`. */
  readonly name: string;
  readonly label: string;
  /** Looks the model up, for each request, because models come and go. `undefined` if VS Code does not offer it. */
  readonly find: () => Promise<LanguageModel | undefined>;
  /** A plain sentence for the user about a fault, in their language. `size` is known for some that are too long. */
  readonly sentence: (fault: Fault, size: RequestSize | undefined) => string;
  readonly logger: Logger;
  /** The most characters of one answer: text and arguments. Default 16 Mi. */
  readonly maxAnswerChars?: number;
  /** How long to wait for a token count that is not ready when the answer is, in milliseconds. Default 1,000. */
  readonly countMs?: number;
}

/**
 * Creates a provider for a model that VS Code offers: Copilot's and those of other extensions. Failed requests are not
 * repeated, because each may count against the user's plan, and the model's own extension retries what is worth it. The
 * code that makes requests is loaded with the first one.
 */
export function createLanguageModelProvider(options: LanguageModelProviderOptions): ChatProvider {
  let stream: ChatProvider['stream'] | undefined;
  return {
    id: `vscode-lm:${options.name}`,
    label: options.label,
    lacksNamedChoice: true,

    async contextWindow(signal) {
      const model = await untilAborted(signal, options.find).catch(() => undefined);
      return model && model.maxInputTokens > 0 ? model.maxInputTokens : undefined;
    },

    async *stream(request, signal, onSent) {
      const { languageModelStream } = await import('./answer.ts');
      stream ??= languageModelStream(options);
      yield* stream(request, signal, onSent);
    },
  };
}
