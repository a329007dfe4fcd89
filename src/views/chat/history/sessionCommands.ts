import * as vscode from 'vscode';
import type { CommandHandlers } from '../../commandRegistry.ts';
import type { Agent } from '../../agent.ts';
import type { StoredSessions } from './storedSessions.ts';

/** The commands for the current session and the stored ones. */
export function sessionCommands(agent: Agent): CommandHandlers {
  const { session, logger } = agent;
  let loaded: StoredSessions | undefined;
  const stored = async (): Promise<StoredSessions> => {
    const { StoredSessions } = await import('./storedSessions.ts');
    return (loaded ??= new StoredSessions(agent));
  };
  const given = (target: unknown): string | undefined => {
    // Menus pass the row, other callers the id.
    const id = typeof target === 'object' && target !== null && 'id' in target ? target.id : target;
    return typeof id === 'string' ? id : undefined;
  };
  const idOf = (target: unknown): string => given(target) ?? session.id;
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
    'redline.session.open': async target => {
      const id = given(target);
      return id === undefined ? (await stored()).choose() : (await stored()).open(id);
    },
    'redline.session.rename': async target => (await stored()).rename(idOf(target)),
    'redline.session.delete': async target => (await stored()).delete(idOf(target)),
    'redline.session.export': async (target, file) =>
      (await stored()).export(idOf(target), file instanceof vscode.Uri ? file : undefined),
    'redline.clearHistory': async () => (await import('./historyCommands.ts')).clearHistory(agent),
    'redline.showLog': () => logger.show(),
  };
}
