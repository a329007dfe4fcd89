import type * as vscode from 'vscode';
import type { CustomTools } from '../../agent/tools/custom/customTools.ts';

/**
 * Tells tools of errors that nobody caught, in a timer or a promise that was left alone. VS Code keeps such errors from ending
 * the extension host; this only finds out whose they are.
 */
export function followLateErrors(tools: Pick<CustomTools, 'blame'>): vscode.Disposable {
  const blame = (error: unknown): void => tools.blame(error);
  process.on('uncaughtExceptionMonitor', blame);
  process.on('unhandledRejection', blame);
  return {
    dispose: () => {
      process.off('uncaughtExceptionMonitor', blame);
      process.off('unhandledRejection', blame);
    },
  };
}
