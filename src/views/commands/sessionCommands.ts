import * as vscode from 'vscode';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import type { Session } from '../../agent/session/session.ts';
import type { ApiKeys } from '../host/secrets.ts';
import type { Settings } from '../host/settings.ts';
import type { CommandHandlers } from './registerCommand.ts';

export interface SessionCommandsOptions {
  readonly session: Session;
  readonly store: PreviewStore;
  readonly settings: Settings;
  readonly keys: ApiKeys;
  readonly log: vscode.LogOutputChannel;
}

/** Commands about the conversation and its connection. */
export function sessionCommands({
  session,
  store,
  settings,
  keys,
  log,
}: SessionCommandsOptions): CommandHandlers {
  return {
    'redline.session.new': () => session.new(),
    'redline.session.stop': () => session.stop(),
    'redline.session.continue': () => session.continue(),
    'redline.session.togglePlanMode': () => {
      session.setPlanMode(!session.planMode);
      void vscode.window.setStatusBarMessage(
        session.planMode ? vscode.l10n.t('Plan mode is on.') : vscode.l10n.t('Plan mode is off.'),
        5_000,
      );
    },
    'redline.clearHistory': async () => {
      const clear = vscode.l10n.t('Clear History');
      const chosen = await vscode.window.showWarningMessage(
        vscode.l10n.t('Forget the content of all resolved previews?'),
        {
          modal: true,
          detail: vscode.l10n.t(
            'They can no longer be undone or reopened. The ledger keeps who resolved what, when and why.',
          ),
        },
        clear,
      );
      if (chosen === clear) await store.forgetResolved(new Date());
    },
    'redline.setApiKey': async () => {
      const { baseUrl } = settings;
      const key = await vscode.window.showInputBox({
        title: vscode.l10n.t('API key for {0}', baseUrl),
        prompt: vscode.l10n.t(
          'Kept in the secret storage and sent to this address only. Leave it empty to forget the key.',
        ),
        password: true,
        ignoreFocusOut: true,
      });
      if (key !== undefined) await keys.set(baseUrl, key.trim());
    },
    'redline.showLog': () => log.show(),
  };
}
