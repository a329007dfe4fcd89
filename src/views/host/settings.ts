import * as vscode from 'vscode';
import type { ModelAuthority, ResolveOrder } from '../../agent/preview/preview.ts';
import type { Forcing } from '../../agent/preview/resolveDirectives.ts';

/** Which source of answers is used: `auto` is openai if a model is set, else offline. */
export type ProviderSetting = 'auto' | 'openai' | 'offline';
export type OpenSetting = 'auto' | 'onDemand' | 'never';

const section = 'redline';

/** All settings behind typed getters that read the current value. */
export class Settings {
  readonly onDidChange: vscode.Event<void> = (listener, thisArgs, disposables) =>
    vscode.workspace.onDidChangeConfiguration(
      event => event.affectsConfiguration(section) && (listener.call(thisArgs, undefined) as unknown),
      undefined,
      disposables,
    );

  get provider(): ProviderSetting {
    return this.#oneOf('provider', ['auto', 'openai', 'offline']);
  }

  get baseUrl(): string {
    return this.#get<string>('openai.baseUrl').trim().replace(/\/+$/, '');
  }

  get model(): string {
    return this.#get<string>('openai.model').trim();
  }

  /** Makes this model of the server at the base URL the one that answers. */
  async useModel(model: string): Promise<void> {
    await this.#update('openai.model', model);
    if (this.provider === 'offline') await this.#update('provider', 'auto');
  }

  async useOffline(): Promise<void> {
    await this.#update('provider', 'offline');
  }

  /** The server at this address, whose models are not known yet. */
  async useServer(baseUrl: string): Promise<void> {
    await this.#update('openai.baseUrl', baseUrl);
  }

  get modelAuthority(): ModelAuthority {
    return this.#oneOf('resolve.modelAuthority', ['recommend', 'apply', 'none']);
  }

  /** Takes effect at the model's next call. */
  async setModelAuthority(authority: ModelAuthority): Promise<void> {
    await this.#update('resolve.modelAuthority', authority);
  }

  get forcing(): Forcing {
    return this.#oneOf('resolve.forcing', ['forced', 'always', 'soft', 'off']);
  }

  get order(): ResolveOrder {
    return this.#oneOf('resolve.order', ['newestFirst', 'oldestFirst']);
  }

  get open(): OpenSetting {
    return this.#oneOf('preview.open', ['auto', 'onDemand', 'never']);
  }

  get continueAfterReview(): boolean {
    return this.#get<boolean>('session.continueAfterReview');
  }

  /** Whether the model may take the conversation back. */
  get revertEnabled(): boolean {
    return this.#get<unknown>('revert.enabled') === true;
  }

  /** Where the person's custom tools are, beside the places that are always looked at. */
  get customToolPaths(): readonly string[] {
    const paths = this.#get<unknown>('customTools.paths');
    return Array.isArray(paths) ? paths.filter(each => typeof each === 'string') : [];
  }

  /** Days for which resolved previews can be undone and reopened. */
  get retentionDays(): number {
    const days = this.#get<unknown>('history.retentionDays');
    return typeof days === 'number' && days >= 0 ? days : 30;
  }

  get #configuration(): vscode.WorkspaceConfiguration {
    return vscode.workspace.getConfiguration(section);
  }

  async #update(key: string, value: string): Promise<void> {
    await this.#configuration.update(key, value, vscode.ConfigurationTarget.Global);
  }

  #get<T>(key: string): T {
    // Every key is declared in package.json with a default, which a test checks.
    return this.#configuration.get(key) as T;
  }

  /** The value, or the first of the allowed ones where settings.json holds anything else. */
  #oneOf<T extends string>(key: string, allowed: readonly [T, ...T[]]): T {
    const value = this.#get<unknown>(key);
    return allowed.find(candidate => candidate === value) ?? allowed[0];
  }
}

/** The mode (Review, Auto, Manual) as a switch that views can show and turn. */
export interface ModeSwitch {
  get(): ModelAuthority;
  set(mode: ModelAuthority): Promise<void>;
  readonly onDidChange: vscode.Event<void>;
}

export function modeSwitch(settings: Settings): ModeSwitch {
  return {
    get: () => settings.modelAuthority,
    set: mode => settings.setModelAuthority(mode),
    onDidChange: settings.onDidChange,
  };
}
