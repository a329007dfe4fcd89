import * as vscode from 'vscode';
import type { CustomToolUi } from '../../agent/tools/custom/redline.d.ts';
import { confirm, showError, showInfo, showWarning } from '../toast.ts';

/** Asks and tells the person by VS Code's own means. */
export function createToolUi(): CustomToolUi {
  return {
    notify: (message, kind = 'info') => {
      const show = { info: showInfo, warning: showWarning, error: showError }[kind];
      void show(message);
    },
    confirm: (title, message = '') => confirm(title, message, vscode.l10n.t('Yes')),
    input: async (title, placeHolder) =>
      vscode.window.showInputBox({
        title,
        ignoreFocusOut: true,
        ...(placeHolder === undefined ? {} : { placeHolder }),
      }),
    select: async (title, options) =>
      vscode.window.showQuickPick([...options], { title, ignoreFocusOut: true }),
  };
}
