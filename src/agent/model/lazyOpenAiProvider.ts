import type { ChatProvider } from './chatProvider.ts';
import { openAiNames } from './openaiNames.ts';
import type { OpenAiProviderOptions } from './openaiProvider.ts';

/** `createOpenAiProvider` whose code is loaded with the first request: activation does not pay for it. */
export function createLazyOpenAiProvider(options: OpenAiProviderOptions): ChatProvider {
  let provider: ChatProvider | undefined;
  return {
    ...openAiNames(options),
    async *stream(request, signal) {
      const { createOpenAiProvider } = await import('./openaiProvider.ts');
      provider ??= createOpenAiProvider(options);
      yield* provider.stream(request, signal);
    },
  };
}
