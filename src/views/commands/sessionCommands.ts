import * as vscode from 'vscode';
import type { PreviewStore } from '../../agent/preview/previewStore.ts';
import type { Session } from '../../agent/session/session.ts';
import { confirm } from '../toast.ts';
import type { CommandHandlers } from './registerCommand.ts';

export interface SessionCommandsOptions {
  readonly session: Session;
  readonly store: PreviewStore;
  readonly log: vscode.LogOutputChannel;
}

/** Commands about the conversation. */
export function sessionCommands({ session, store, log }: SessionCommandsOptions): CommandHandlers {
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
      const agreed = await confirm(
        vscode.l10n.t('Forget the content of all resolved previews?'),
        vscode.l10n.t(
          'They can no longer be undone or reopened. The ledger keeps who resolved what, when and why.',
        ),
        clear,
      );
      if (agreed) await store.forgetResolved(new Date());
    },
    'redline.showLog': () => log.show(),
  };
}
