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
