import * as vscode from 'vscode';
import type { Logger } from '../../agent/base/log.ts';
import type { ChatProvider, ProviderFailure } from '../../agent/model/chatProvider.ts';
import { createLazyOfflineProvider } from '../../agent/model/lazyOfflineProvider.ts';
import { createLazyOpenAiProvider } from '../../agent/model/lazyOpenAiProvider.ts';
import type { listOpenAiModels } from '../../agent/model/openaiProvider.ts';
import { isSlashCommand } from '../../agent/model/slashNames.ts';
import type { ApiKeys } from './secrets.ts';
import type { Settings } from './settings.ts';

/** Chooses who answers a prompt, by the settings of the moment. Slash commands are always answered here. */
export class Providers {
  readonly #offline = createLazyOfflineProvider();
  readonly #settings: Settings;
  readonly #keys: ApiKeys;
  readonly #logger: Logger;
  /** Kept as long as the settings are: a provider learns the ways of its server. */
  #openai: { readonly baseUrl: string; readonly model: string; readonly provider: ChatProvider } | undefined;

  constructor(settings: Settings, keys: ApiKeys, logger: Logger) {
    this.#settings = settings;
    this.#keys = keys;
    this.#logger = logger;
  }

  forPrompt(prompt: string): ChatProvider {
    return isSlashCommand(prompt) ? this.#offline : this.current();
  }

  /** The provider that the settings name. */
  current(): ChatProvider {
    const { provider, baseUrl, model } = this.#settings;
    if (provider === 'offline' || (provider === 'auto' && model === '')) return this.#offline;
    if (model === '') {
      const message = vscode.l10n.t('No model is chosen. Choose one that the server knows.');
      return failing({ code: 'noModel', message, detail: 'redline.openai.model is empty' });
    }
    return this.#openAi(baseUrl, model);
  }

  /** Nobody is connected who could talk. */
  get isOffline(): boolean {
    return this.current() === this.#offline;
  }

  /** The models that the server at the base URL has; the failure has a sentence for the person. */
  async list(signal: AbortSignal): ReturnType<typeof listOpenAiModels> {
    const { listOpenAiModels } = await import('../../agent/model/openaiProvider.ts');
    const { baseUrl } = this.#settings;
    return listOpenAiModels({ baseUrl, apiKey: () => this.#keys.get(baseUrl), logger: this.#logger, signal });
  }

  #openAi(baseUrl: string, model: string): ChatProvider {
    if (this.#openai?.baseUrl !== baseUrl || this.#openai.model !== model) {
      const apiKey = (): Promise<string | undefined> => this.#keys.get(baseUrl);
      this.#openai = {
        baseUrl,
        model,
        provider: createLazyOpenAiProvider({ baseUrl, model, apiKey, logger: this.#logger }),
      };
    }
    return this.#openai.provider;
  }
}

/** A provider that can only say why it cannot answer. */
function failing(failure: ProviderFailure): ChatProvider {
  return {
    id: failure.code,
    label: vscode.l10n.t('No model'),

    async *stream() {
      yield { type: 'error', failure };
    },
  };
}
