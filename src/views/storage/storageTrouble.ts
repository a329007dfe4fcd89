import * as vscode from 'vscode';
import { messageOf } from '../../agent/base/errors.ts';
import type { Session } from '../../agent/session/session.ts';
import { storageAdvice } from '../texts/errorSentence.ts';
import { showError, showWarning } from '../toast.ts';

/** How long after a warning the same trouble is not worth another one, even if it had ended meanwhile, in milliseconds. */
const ONE_TROUBLE_MS = 60_000;

/** Logs that this window stores. */
type LogName = 'previews' | 'conversations';

/**
 * Tells the user which data this window cannot store, once for each cause: one full disk fails every log. The same cause is worth
 * another warning only after everything could be written again.
 */
export class StorageTrouble {
  readonly #failing = new Set<LogName>();
  /** By cause: when the user was told, and whether it has ended since. */
  readonly #told = new Map<string, { readonly at: number; readonly isOver: boolean }>();

  /** A log cannot be written; its entries wait in memory. */
  failed(log: LogName, error: unknown): void {
    this.#failing.add(log);
    if (this.#isNew(causeOf(error)))
      void showWarning(`${consequenceOf(log)} ${storageAdvice(error, vscode.l10n)}`);
  }

  /** Follows the state of the conversation's log. */
  follow(session: Session): vscode.Disposable {
    return session.onDidEmit(event => {
      if (event.type === 'storing_recovered') this.recovered('conversations');
      if (event.type !== 'storing_failed') return;
      if (event.isLost) this.lostMessage();
      else this.failed('conversations', event.error);
    });
  }

  /** Writing a log works again, and everything that waited is written. */
  recovered(log: LogName): void {
    this.#failing.delete(log);
    if (this.#failing.size > 0) return;
    for (const [cause, { at }] of this.#told) this.#told.set(cause, { at, isOver: true });
  }

  /** The latest state of these previews can never be written. */
  lostPreviews(ids: readonly string[]): void {
    const untold = ids.filter(id => this.#isNew(`preview ${id}`)).join(', ');
    if (untold === '') return;
    void showWarning(
      vscode.l10n.t(
        'Redline cannot save the latest state of {0}, since it is too large or cannot be written as text. It is lost when this window closes, and {0} cannot be applied. Everything else is saved.',
        untold,
      ),
    );
  }

  /** Part of the conversation can never be written. */
  lostMessage(): void {
    if (!this.#isNew('message')) return;
    void showWarning(
      vscode.l10n.t(
        'Redline cannot save part of the conversation, since it is too large or cannot be written as text. That part is lost when this window closes. Everything else is saved.',
      ),
    );
  }

  /** Unknown whether another window uses the storage. */
  notLocked(error: unknown): void {
    this.#isNew(causeOf(error));
    const what = vscode.l10n.t(
      'Redline cannot lock its storage, so stored previews and conversations are not shown, and new previews are lost when this window closes.',
    );
    const then = vscode.l10n.t('Then reload the window.');
    void showWarning(`${what} ${storageAdvice(error, vscode.l10n)} ${then}`);
  }

  notRead(): void {
    void showError(
      vscode.l10n.t(
        'Redline cannot read its stored previews. Their file is left untouched; new previews are lost when this window closes.',
      ),
    );
  }

  /** Whether the user is to be told of a cause; from now on they have been. */
  #isNew(cause: string): boolean {
    const told = this.#told.get(cause);
    if (told && (!told.isOver || performance.now() - told.at < ONE_TROUBLE_MS)) return false;
    this.#told.set(cause, { at: performance.now(), isOver: false });
    return true;
  }
}

function consequenceOf(log: LogName): string {
  switch (log) {
    case 'previews':
      return vscode.l10n.t(
        'Redline cannot save previews to its storage. What is new continues in memory and is saved as soon as that works again; until then nothing can be applied.',
      );
    case 'conversations':
      return vscode.l10n.t(
        'Redline cannot save the conversation to its storage. What is new continues in memory and is saved as soon as that works again.',
      );
  }
}

function causeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException | undefined)?.code ?? messageOf(error);
}
