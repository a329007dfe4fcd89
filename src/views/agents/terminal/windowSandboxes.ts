import type * as vscode from 'vscode';
import type { Sandbox, Sandboxes, SandboxStatus } from '../../../agent/sandbox/commands/sandbox.ts';

/** Storage key of this workspace's permission: not a setting, since anyone who can write its files can write its settings. */
const HERE = 'redline.runInSandboxHere';

/** Whether the user lets the agent run commands on its own in this workspace's isolated sandbox. */
export class SandboxLeave {
  readonly #memory: vscode.Memento;
  readonly #settings: { readonly runsInSandbox: boolean };

  constructor(memory: vscode.Memento, settings: { readonly runsInSandbox: boolean }) {
    this.#memory = memory;
    this.#settings = settings;
  }

  get isGivenHere(): boolean {
    return this.#memory.get(HERE) === true;
  }

  get isGiven(): boolean {
    return this.isGivenHere || this.#settings.runsInSandbox;
  }

  async give(): Promise<void> {
    await this.#memory.update(HERE, true);
  }

  async withdraw(): Promise<void> {
    await this.#memory.update(HERE, undefined);
  }
}

/** The sandboxes of this window, whose code is loaded when the first command is proposed. */
export class WindowSandboxes implements Sandboxes {
  readonly #load: () => Promise<Sandboxes>;
  #loaded: Promise<Sandboxes> | undefined;

  constructor(load: () => Promise<Sandboxes>) {
    this.#load = load;
  }

  async status(): Promise<SandboxStatus> {
    return (await this.#sandboxes()).status();
  }

  async of(sessionId: string): Promise<Sandbox | undefined> {
    return (await this.#sandboxes()).of(sessionId);
  }

  async fresh(): Promise<Sandbox | undefined> {
    return (await this.#sandboxes()).fresh();
  }

  async dispose(): Promise<void> {
    await (await this.#loaded)?.dispose();
  }

  #sandboxes(): Promise<Sandboxes> {
    this.#loaded ??= this.#load();
    return this.#loaded;
  }
}
