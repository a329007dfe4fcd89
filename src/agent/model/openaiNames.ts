import type { ChatProvider } from './chatProvider.ts';

/** Which model on which server. */
export interface OpenAiTarget {
  readonly baseUrl: string;
  readonly model: string;
}

/** How a provider for this model is called, by its memory and by people. Never holds a user name or a password. */
export function openAiNames({ baseUrl, model }: OpenAiTarget): Pick<ChatProvider, 'id' | 'label'> {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl;
  return { id: `openai:${plainAddress(baseUrl)}:${model}`, label: `${model} (${host})` };
}

/** A base URL without user name, password, query and trailing slash. */
function plainAddress(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) return baseUrl;
  const url = new URL(baseUrl);
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}
