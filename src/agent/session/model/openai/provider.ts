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
  /** The window as the server reported it; `'later'` until it has reported anything. */
  let told: number | undefined | 'later' = 'later';
  return {
    id: `openai:${plainAddress(baseUrl)}:${model}`,
    label: `${model} (${host})`,

    async contextWindow(signal) {
      const set = options.contextWindow?.() ?? 0;
      if (set > 0) return set;
      if (told === 'later' && model.trim() !== '') {
        const { readContextWindow } = await import('./completions.ts');
        told = await readContextWindow(options, signal);
      }
      return told === 'later' ? undefined : told;
    },

    async *stream(request, signal, onSent) {
      stream ??= (await import('./completions.ts')).openAiStream(options);
      yield* stream(request, signal, onSent);
    },
  };
}

/** A base URL without user name, password, query and trailing slash. */
function plainAddress(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) return baseUrl;
  const url = new URL(baseUrl);
  return `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, '')}`;
}
