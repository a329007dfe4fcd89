import type * as vscode from 'vscode';

const OPENAI_BASE_URL = 'https://api.openai.com/v1';

/** API keys, each stored for the base URL that it was entered for, and never returned for another. */
export class ApiKeys {
  readonly #secrets: vscode.SecretStorage;
  readonly #env: NodeJS.ProcessEnv;

  constructor(secrets: vscode.SecretStorage, env: NodeJS.ProcessEnv = process.env) {
    this.#secrets = secrets;
    this.#env = env;
  }

  /** The key for exactly this base URL; `undefined` if there is none. */
  async get(baseUrl: string): Promise<string | undefined> {
    return (await this.#secrets.get(secretName(baseUrl))) ?? this.#fromEnvironment(baseUrl);
  }

  /** Stores a key; an empty one deletes it. */
  async set(baseUrl: string, key: string): Promise<void> {
    if (key === '') await this.#secrets.delete(secretName(baseUrl));
    else await this.#secrets.store(secretName(baseUrl), key);
  }

  /** `OPENAI_API_KEY` is the key for `OPENAI_BASE_URL`, and without that for OpenAI itself. */
  #fromEnvironment(baseUrl: string): string | undefined {
    const owner = this.#env['OPENAI_BASE_URL'] ?? OPENAI_BASE_URL;
    return normalised(owner) === normalised(baseUrl) ? this.#env['OPENAI_API_KEY'] : undefined;
  }
}

function secretName(baseUrl: string): string {
  return `redline.apiKey:${normalised(baseUrl)}`;
}

function normalised(baseUrl: string): string {
  return (URL.canParse(baseUrl) ? new URL(baseUrl).href : baseUrl).replace(/(?<!\/)\/+$/, '');
}
