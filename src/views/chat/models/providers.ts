import * as vscode from 'vscode';
import type { Logger } from '../../../agent/base/logger.ts';
import type { ChatProvider, ProviderFailure } from '../../../agent/session/model/chatProvider.ts';
import { createLanguageModelProvider } from '../../../agent/session/model/languageModel/provider.ts';
import { createOfflineProvider } from '../../../agent/session/model/offline/provider.ts';
import { parseSlashCommand } from '../../../agent/session/model/offline/slashCommands.ts';
import type { listOpenAiModels } from '../../../agent/session/model/openai/completions.ts';
import { createOpenAiProvider } from '../../../agent/session/model/openai/provider.ts';
import type { ReadImage } from '../../../agent/session/model/sentImages.ts';
import type { LadderMemory, LadderStep } from '../../../agent/session/model/toolChoiceLadder.ts';
import type { Settings } from '../../settings.ts';
import type { ApiKeys } from './apiKeys.ts';

/** Chooses the provider for a prompt, by the current settings. The offline provider always answers slash commands. */
export class Providers {
  readonly #offline = createOfflineProvider(vscode.l10n);
  readonly #settings: Settings;
  readonly #keys: ApiKeys;
  readonly #logger: Logger;
  /** Kept as long as the settings stay the same, because a provider learns about its server or model. */
  #languageModel: { readonly name: string; readonly provider: ChatProvider } | undefined;
  #openai: { readonly baseUrl: string; readonly model: string; readonly provider: ChatProvider } | undefined;

  readonly #readImage: ReadImage;

  constructor(settings: Settings, keys: ApiKeys, logger: Logger, readImage: ReadImage) {
    this.#readImage = readImage;
    this.#settings = settings;
    this.#keys = keys;
    this.#logger = logger;
  }

  forPrompt(prompt: string): ChatProvider {
    return parseSlashCommand(prompt) ? this.#offline : this.current();
  }

  /** The provider that the settings select. */
  current(): ChatProvider {
    const { provider, baseUrl, model, languageModel } = this.#settings;
    switch (provider) {
      case 'offline':
        return this.#offline;
      case 'auto':
        return model === '' ? this.#offline : this.#openAi(baseUrl, model);
      case 'openai': {
        if (model !== '') return this.#openAi(baseUrl, model);
        const message = vscode.l10n.t("No model is chosen. Choose one of the server's models.");
        return failing({ code: 'noModel', message, detail: 'redline.openai.model is empty' });
      }
      case 'vscode-lm': {
        if (languageModel !== '') return this.#ofVsCode(languageModel);
        const message = vscode.l10n.t('No model is chosen. Choose one of the models that VS Code offers.');
        return failing({ code: 'noModel', message, detail: 'redline.vscodeLm.model is empty' });
      }
    }
  }

  /** Whether prompts go to the offline provider, because no model is selected. */
  get isOffline(): boolean {
    return this.current() === this.#offline;
  }

  /** The models of the server at the base URL, or a failure whose message is written for the user. */
  async listModels(signal: AbortSignal): ReturnType<typeof listOpenAiModels> {
    const { listOpenAiModels } = await import('../../../agent/session/model/openai/completions.ts');
    const { baseUrl } = this.#settings;
    return listOpenAiModels({
      baseUrl,
      apiKey: () => this.#keys.get(baseUrl),
      logger: this.#logger,
      l10n: vscode.l10n,
      signal,
    });
  }

  #ofVsCode(name: string): ChatProvider {
    if (this.#languageModel?.name !== name) {
      const provider = createLanguageModelProvider({
        name,
        label: name,
        find: async () => (await import('./languageModels.ts')).findLanguageModel(name),
        sentence: async (fault, size) => {
          const { faultSentence } = await import('./faultSentence.ts');
          return faultSentence(name, fault, size, vscode.l10n);
        },
        logger: this.#logger,
        readImage: this.#readImage,
      });
      this.#languageModel = { name, provider };
    }
    return this.#languageModel.provider;
  }

  #openAi(baseUrl: string, model: string): ChatProvider {
    if (this.#openai?.baseUrl !== baseUrl || this.#openai.model !== model) {
      const apiKey = (): Promise<string | undefined> => this.#keys.get(baseUrl);
      const contextWindow = (): number => this.#settings.contextWindow;
      this.#openai = {
        baseUrl,
        model,
        provider: createOpenAiProvider({
          baseUrl,
          model,
          apiKey,
          contextWindow,
          logger: this.#logger,
          l10n: vscode.l10n,
          readImage: this.#readImage,
        }),
      };
    }
    return this.#openai.provider;
  }
}

/** A provider that answers every prompt with the failure. */
function failing(failure: ProviderFailure): ChatProvider {
  return {
    id: failure.code,
    label: vscode.l10n.t('No model'),

    async *stream() {
      yield { type: 'error', failure };
    },
  };
}

const LADDER_KEY = 'redline.toolChoice';

/** Which forms of tool choice each server accepts, remembered for all workspaces. */
export function ladderMemory(state: vscode.Memento): LadderMemory {
  const read = (): Record<string, LadderStep> => state.get<Record<string, LadderStep>>(LADDER_KEY, {});
  return {
    get: id => (Object.hasOwn(read(), id) ? read()[id] : undefined),
    set: (id, step) => void state.update(LADDER_KEY, { ...read(), [id]: step }),
  };
}
