import * as vscode from 'vscode';
import { detailOf, isAbortError } from '../../agent/base/errors.ts';
import type { Logger } from '../../agent/base/log.ts';
import type { CommandArguments, CommandId } from '../contributions.ts';
import { sentenceFor } from '../errorSentence.ts';
import { showError, showWarning } from '../toast.ts';

/** What each command does. VS Code hands over whatever its menus pass, so handlers take `unknown`. */
export type CommandHandlers = { readonly [K in CommandId]?: (...args: unknown[]) => unknown };

/**
 * Registers commands behind the one error boundary of all commands: a cancellation is silent, a known error becomes a
 * sentence, an unknown one a sentence with a way to the log.
 */
export function registerCommands(handlers: CommandHandlers, logger: Logger): vscode.Disposable {
  const registered = Object.entries(handlers).map(([id, handler]) =>
    vscode.commands.registerCommand(id, async (...args: unknown[]) => {
      try {
        return await handler(...args);
      } catch (error) {
        if (isAbortError(error)) return undefined;
        logger.error(`Command ${id} failed: ${detailOf(error)}`);
        void tell(error);
        return undefined;
      }
    }),
  );
  return vscode.Disposable.from(...registered);
}

/** `executeCommand` with the arguments that the command takes. */
export function execute<K extends CommandId>(id: K, ...args: CommandArguments[K]): Thenable<unknown> {
  return vscode.commands.executeCommand(id, ...args);
}

async function tell(error: unknown): Promise<void> {
  const known = sentenceFor(error, vscode.l10n);
  if (known !== undefined) return void (await showWarning(known));
  const showLog = vscode.l10n.t('Show Log');
  const text = vscode.l10n.t('Redline could not do that. The log has the details.');
  if ((await showError(text, showLog)) === showLog) await execute('redline.showLog');
}
