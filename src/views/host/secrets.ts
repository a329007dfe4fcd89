import type * as vscode from 'vscode';

const OPENAI_BASE_URL = 'https://api.openai.com/v1';

/** API keys, each kept for the one base URL that it was entered for, and never handed out for another. */
export class ApiKeys {
  readonly #secrets: vscode.SecretStorage;
  readonly #env: NodeJS.ProcessEnv;

  constructor(secrets: vscode.SecretStorage, env: NodeJS.ProcessEnv = process.env) {
    this.#secrets = secrets;
    this.#env = env;
  }

  /** The key for exactly this base URL; `undefined` for servers that were given none. */
  async get(baseUrl: string): Promise<string | undefined> {
    return (await this.#secrets.get(slot(baseUrl))) ?? this.#fromEnvironment(baseUrl);
  }

  /** Stores a key, or forgets it for an empty one. */
  async set(baseUrl: string, key: string): Promise<void> {
    if (key === '') await this.#secrets.delete(slot(baseUrl));
    else await this.#secrets.store(slot(baseUrl), key);
  }

  /** `OPENAI_API_KEY` belongs to OpenAI itself, or to the server that `OPENAI_BASE_URL` names beside it. */
  #fromEnvironment(baseUrl: string): string | undefined {
    const owner = this.#env['OPENAI_BASE_URL'] ?? OPENAI_BASE_URL;
    return normalised(owner) === normalised(baseUrl) ? this.#env['OPENAI_API_KEY'] : undefined;
  }
}

function slot(baseUrl: string): string {
  return `redline.apiKey:${normalised(baseUrl)}`;
}

function normalised(baseUrl: string): string {
  return (URL.canParse(baseUrl) ? new URL(baseUrl).href : baseUrl).replace(/\/+$/, '');
}
