import type * as vscode from 'vscode';

const OPENAI_BASE_URL = 'https://api.openai.com/v1';

/**
 * How long a secret from VS Code is cached, in milliseconds. In a browser, VS Code does not report changes made in another window.
 */
const LIFETIME_MS = 60_000;

/** API keys, each stored for the base URL that it was entered for, and never returned for another. */
export class ApiKeys {
  readonly #secrets: vscode.SecretStorage;
  readonly #env: NodeJS.ProcessEnv;
  /** Secrets read from VS Code, by name: it asks its window for each, which takes longer than the rest of a turn's work. */
  readonly #told = new Map<string, { readonly at: number; readonly secret: Thenable<string | undefined> }>();

  readonly #keys = new Set<string>();

  /** @param subscriptions end with the extension. */
  constructor(
    secrets: vscode.SecretStorage,
    subscriptions: vscode.Disposable[],
    env: NodeJS.ProcessEnv = process.env,
  ) {
    this.#secrets = secrets;
    this.#env = env;
    subscriptions.push(secrets.onDidChange(({ key }) => this.#told.delete(key)));
  }

  /** The key for exactly this base URL; `undefined` if there is none. */
  async get(baseUrl: string): Promise<string | undefined> {
    const key = (await this.#secret(secretName(baseUrl))) ?? this.#fromEnvironment(baseUrl);
    if (key !== undefined) this.#keys.add(key.trim());
    return key;
  }

  /** Every key that {@link get} ever returned, for any base URL. */
  get returned(): readonly string[] {
    return [...this.#keys];
  }

  /** Stores a key; an empty one deletes it. */
  async set(baseUrl: string, key: string): Promise<void> {
    const name = secretName(baseUrl);
    if (key === '') await this.#secrets.delete(name);
    else await this.#secrets.store(name, key);
    this.#told.delete(name);
  }

  async #secret(name: string): Promise<string | undefined> {
    const known = this.#told.get(name);
    if (known && performance.now() - known.at < LIFETIME_MS) return known.secret;
    const told = { at: performance.now(), secret: this.#secrets.get(name) };
    this.#told.set(name, told);
    try {
      return await told.secret;
    } catch (error) {
      if (this.#told.get(name) === told) this.#told.delete(name);
      throw error;
    }
  }

  /** `OPENAI_API_KEY` is the key for `OPENAI_BASE_URL` or, if that is not set, for OpenAI itself. */
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
