import * as vscode from 'vscode';
import { makeCommand } from '../../commandRegistry.ts';

/**
 * A click opens the row that it selects. With arguments, VS Code would make a command for each drawing of the row, and a click on
 * one that was drawn anew meanwhile would find none.
 */
export function openSelected(): vscode.Command {
  return makeCommand(vscode.l10n.t('Open'), 'redline.preview.openSelected');
}
