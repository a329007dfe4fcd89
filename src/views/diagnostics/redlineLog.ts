import * as vscode from 'vscode';
import { logEntry } from '../../agent/base/foreignText.ts';
import type { Logger } from '../../agent/base/logger.ts';

/** How many errors are remembered. */
const MAX_ERRORS = 10;

/** The log of Redline. It remembers the last errors for *Copy Diagnostics*. */
export class RedlineLog implements Logger {
  readonly #channel = vscode.window.createOutputChannel('Redline', { log: true });
  readonly #errors: string[] = [];

  /** The last errors, the oldest first, each with its time. */
  get lastErrors(): readonly string[] {
    return this.#errors;
  }

  debug(message: string): void {
    this.#channel.debug(logEntry(message));
  }

  info(message: string): void {
    this.#channel.info(logEntry(message));
  }

  warn(message: string): void {
    this.#channel.warn(logEntry(message));
  }

  error(message: string): void {
    const entry = logEntry(message);
    this.#channel.error(entry);
    this.#errors.push(`${new Date().toISOString()} ${entry}`);
    if (this.#errors.length > MAX_ERRORS) this.#errors.shift();
  }

  show(): void {
    this.#channel.show();
  }

  dispose(): void {
    this.#channel.dispose();
  }
}
