import * as vscode from 'vscode';
import { inToast } from './plainText.ts';

/**
 * Every notification goes through here: VS Code makes links and commands of `[text](command:…)` in them, and labels, reasons
 * and paths are written by others. Each settles with the button that was chosen.
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

/** Asks in a dialog that waits; its text is plain text. Whether the person chose the button. */
export async function confirm(text: string, detail: string, button: string): Promise<boolean> {
  return (await vscode.window.showWarningMessage(text, { modal: true, detail }, button)) === button;
}
