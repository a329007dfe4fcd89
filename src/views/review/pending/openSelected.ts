import * as vscode from 'vscode';
import { makeCommand } from '../../commandRegistry.ts';

/**
 * A click opens the row that it selects. With arguments, VS Code would make a new command each time it draws the row, and a click
 * on a row redrawn meanwhile would find none.
 */
export function openSelected(): vscode.Command {
  return makeCommand(vscode.l10n.t('Open'), 'redline.preview.openSelected');
}
