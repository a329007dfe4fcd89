import * as vscode from 'vscode';
import type { Session } from '../../agent/session/session.ts';
import type { ApiKeys } from '../host/secrets.ts';
import type { Settings } from '../host/settings.ts';
import type { CommandHandlers } from './registerCommand.ts';

export interface SessionCommandsOptions {
  readonly session: Session;
  readonly settings: Settings;
  readonly keys: ApiKeys;
  readonly log: vscode.LogOutputChannel;
}

/** Commands about the conversation and its connection. */
export function sessionCommands({ session, settings, keys, log }: SessionCommandsOptions): CommandHandlers {
  return {
    'redline.session.new': () => session.new(),
    'redline.session.stop': () => session.stop(),
    'redline.session.continue': () => session.continue(),
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
