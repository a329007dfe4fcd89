import { untilAborted } from '../../../base/async.ts';
import type { ChatProvider } from '../chatProvider.ts';
import type { LanguageModelProviderOptions } from './port.ts';

/**
 * Creates a provider for a model that VS Code offers: Copilot's and those of other extensions. Failed requests are not repeated,
 * because each may count against the user's plan, and the model's own extension retries where that is worthwhile. Only a request
 * whose older images were refused is repeated, without them. The code that makes requests is loaded with the first one.
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
