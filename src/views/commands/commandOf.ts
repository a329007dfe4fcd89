import type * as vscode from 'vscode';
import type { CommandArguments, CommandId } from '../contributions.ts';

/** A command with its arguments, for rows, lenses and items. The title may hold `$(icons)` where those are shown. */
export function commandOf<K extends CommandId>(
  title: string,
  id: K,
  ...args: CommandArguments[K]
): vscode.Command {
  return { title, command: id, arguments: args };
}

/** The same as a link in markdown. What is left out goes as `null`, which the commands take for nothing. */
export function commandLink<K extends CommandId>(title: string, id: K, ...args: CommandArguments[K]): string {
  return `[${title}](command:${id}?${encodeURIComponent(JSON.stringify(args))})`;
}
