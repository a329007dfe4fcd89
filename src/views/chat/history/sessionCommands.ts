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
  const idOf = (given: unknown): string => (typeof given === 'string' ? given : session.id);
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
    'redline.session.open': async given =>
      typeof given === 'string' ? (await stored()).open(given) : (await stored()).choose(),
    'redline.session.rename': async given => (await stored()).rename(idOf(given)),
    'redline.session.delete': async given => (await stored()).delete(idOf(given)),
    'redline.session.export': async (given, file) =>
      (await stored()).export(idOf(given), file instanceof vscode.Uri ? file : undefined),
    'redline.clearHistory': async () => (await import('./historyCommands.ts')).clearHistory(agent),
    'redline.showLog': () => logger.show(),
  };
}
