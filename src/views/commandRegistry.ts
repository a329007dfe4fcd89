import * as vscode from 'vscode';
import { detailOf, isAbortError } from '../agent/base/errors.ts';
import type { Logger } from '../agent/base/logger.ts';
import type { CommandArguments, CommandId } from './contributions.ts';
import { sentenceFor } from './texts/errorSentence.ts';
import { showError, showInfo, showWarning } from './toast.ts';

/** A handler for each command. Menus and keys pass arguments of their own, so handlers must check theirs. */
export type CommandHandlers = { readonly [K in CommandId]?: (...args: unknown[]) => unknown };

/**
 * Registers commands behind one error boundary: a cancellation is silent, a known error is shown as a sentence, an unknown one
 * as a general sentence with a button that shows the log.
 */
export function registerCommands(handlers: CommandHandlers, logger: Logger): vscode.Disposable {
  const registered = Object.entries(handlers).map(([id, handler]) =>
    vscode.commands.registerCommand(id, async (...args: unknown[]) => {
      try {
        if (cameFrom(args) === REHEARSAL.from) return undefined;
        if (isFromLens(args) && isSecondClick(id, args)) return undefined;
        // The clicked element disappears with its lens, and would take the focus with it.
        if (isFromLens(args)) await vscode.commands.executeCommand('workbench.action.focusActiveEditorGroup');
        return await handler(...args);
      } catch (error) {
        if (isAbortError(error)) return undefined;
        logger.error(`Command ${id} failed: ${detailOf(error)}`);
        void showFailure(error);
        return undefined;
      }
    }),
  );
  return vscode.Disposable.from(...registered);
}

/**
 * A handler for a command in the menu of rows. VS Code passes `undefined` for a row that was being refreshed while it was
 * clicked: then nothing is done, since without an argument the command would act on something else.
 */
export function onRow(handler: (...args: unknown[]) => unknown): (...args: unknown[]) => unknown {
  return (...args) =>
    args.length > 0 && args[0] === undefined
      ? void showInfo(vscode.l10n.t('The list was being updated. Try again.'))
      : handler(...args);
}

/** The last argument of a command that a lens calls. */
const LENS = { from: 'lens' };

/** The command as a lens calls it: the focus returns to the editor. */
export function inLens(command: vscode.Command): vscode.Command {
  if (command.command === '') return command;
  const given: readonly unknown[] = command.arguments ?? [];
  return { ...command, arguments: [...given, LENS] };
}

/** Within this time, in milliseconds, two clicks on a lens are one. */
const DOUBLE_CLICK_MS = 500;

let lastClick = { on: '', at: -Infinity };

/** Whether it is the second click of two on the same lens. */
function isSecondClick(id: string, args: readonly unknown[]): boolean {
  const click = { on: JSON.stringify([id, args]), at: performance.now() };
  const isSecond = click.on === lastClick.on && click.at - lastClick.at < DOUBLE_CLICK_MS;
  lastClick = click;
  return isSecond;
}

/** Whether a lens called the command. */
export function isFromLens(args: readonly unknown[]): boolean {
  return cameFrom(args) === LENS.from;
}

/** Whether a key called the command, in a diff or between two diffs. Such a call names no preview. */
export function isFromKey(args: readonly unknown[]): boolean {
  return cameFrom(args) === 'key';
}

function cameFrom(args: readonly unknown[]): unknown {
  const last = args.at(-1);
  return typeof last === 'object' && last !== null && 'from' in last ? last.from : undefined;
}

/** The last argument of a call that does nothing. */
export const REHEARSAL = { from: 'rehearsal' };

/** `executeCommand` with typed arguments. */
export function execute<K extends CommandId>(id: K, ...args: CommandArguments[K]): Thenable<unknown> {
  return vscode.commands.executeCommand(id, ...args);
}

/** A command with its arguments, for rows, lenses and the status item. `$(icons)` in the title work where VS Code renders them. */
export function makeCommand<K extends CommandId>(
  title: string,
  id: K,
  ...args: CommandArguments[K]
): vscode.Command {
  return { title, command: id, arguments: args };
}

/** A command with its arguments as a Markdown link. Omitted arguments become `null`, which commands treat as absent. */
export function commandLink<K extends CommandId>(title: string, id: K, ...args: CommandArguments[K]): string {
  return `[${title}](command:${id}?${encodeURIComponent(JSON.stringify(args))})`;
}

async function showFailure(error: unknown): Promise<void> {
  const known = sentenceFor(error, vscode.l10n);
  if (known !== undefined) return void (await showWarning(known));
  const showLog = vscode.l10n.t('Show Log');
  const text = vscode.l10n.t('Redline could not do that. The log has the details.');
  if ((await showError(text, showLog)) === showLog) await execute('redline.showLog');
}
