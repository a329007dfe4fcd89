import type { ChatProvider } from '../chatProvider.ts';
import type { OpenAiProviderOptions } from './completions.ts';

/**
 * Creates a provider for an OpenAI-compatible server. The code that talks to the server is loaded with the first
 * request. Neither the id nor the label contains a user name or a password.
 */
export function createOpenAiProvider(options: OpenAiProviderOptions): ChatProvider {
  const { baseUrl, model } = options;
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl;
  let stream: ChatProvider['stream'] | undefined;
  return {
    id: `openai:${plainAddress(baseUrl)}:${model}`,
    label: `${model} (${host})`,

    async *stream(request, signal) {
      const { openAiStream } = await import('./completions.ts');
      stream ??= openAiStream(options);
      yield* stream(request, signal);
    },
  };
}

/** A base URL without user name, password, query and trailing slash. */
function plainAddress(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) return baseUrl;
  const url = new URL(baseUrl);
  return `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, '')}`;
}
