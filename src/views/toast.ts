import * as vscode from 'vscode';
import { escapeInvisible, inToast } from './plainText.ts';

/**
 * Every notification goes through this file: VS Code turns `[text](command:…)` in them into links that run commands, and labels,
 * reasons and paths are foreign text.
 * @returns the button that was clicked.
 */
export function showInfo(text: string, ...buttons: readonly string[]): Thenable<string | undefined> {
  return vscode.window.showInformationMessage(inToast(text), ...buttons);
}

/** @see showInfo */
export function showWarning(text: string, ...buttons: readonly string[]): Thenable<string | undefined> {
  return vscode.window.showWarningMessage(inToast(text), ...buttons);
}

/** @see showInfo */
export function showError(text: string, ...buttons: readonly string[]): Thenable<string | undefined> {
  return vscode.window.showErrorMessage(inToast(text), ...buttons);
}

/** Asks in a modal dialog, which shows its text as plain text. True if the user clicked `button`. */
export async function confirm(text: string, detail: string, button: string): Promise<boolean> {
  return (await choose(text, detail, button)) === button;
}

/** Asks in a modal dialog, like {@link confirm}. @returns the button that was clicked. */
export function choose(
  text: string,
  detail: string,
  ...buttons: readonly string[]
): Thenable<string | undefined> {
  const options = { modal: true, detail: escapeInvisible(detail) };
  return vscode.window.showWarningMessage(escapeInvisible(text), options, ...buttons);
}

/** Runs long work with a notification that can cancel it, and that shows its progress or message. */
export function withCancel<T>(
  title: string,
  work: (
    signal: AbortSignal,
    report: (done: number, all: number) => void,
    say: (message: string) => void,
  ) => Promise<T>,
): Thenable<T> {
  const { Notification: location } = vscode.ProgressLocation;
  return vscode.window.withProgress(
    { location, title: inToast(title), cancellable: true },
    (progress, token) => {
      const abort = new AbortController();
      token.onCancellationRequested(() => abort.abort());
      let shown = 0;
      const report = (done: number, all: number): void => {
        const percent = Math.floor((100 * done) / all);
        if (percent > shown) progress.report({ increment: percent - shown });
        shown = Math.max(shown, percent);
      };
      return work(abort.signal, report, message => progress.report({ message: inToast(message) }));
    },
  );
}
