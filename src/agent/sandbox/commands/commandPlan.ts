import { shortened } from '../../base/cutText.ts';
import { ToolError } from '../../base/errors.ts';
import type { LeftProcesses } from '../../base/system/startedProcesses.ts';

/** A program that interprets commands, with the user's choices for it. */
export interface Shell {
  /** The program that interprets the command. */
  readonly shell: string;
  /** Arguments that the user has chosen; those that pass the command follow them. */
  readonly arguments: readonly string[];
  /** How the environment differs from that of VS Code once VS Code's own variables are removed; `null` removes a variable. */
  readonly environment: Readonly<Record<string, string | null>>;
}

/** A command and everything it runs with, as the preview shows it. */
export interface CommandPlan extends Shell {
  readonly command: string;
  /** Absolute path, links followed. */
  readonly folder: string;
  /** In seconds. */
  readonly timeLimit: number;
  /** It runs on disk until it ends or is stopped; no time limit applies. */
  readonly background?: true;
}

/**
 * Variables of every command, so that none waits for a person to close a pager or an editor. `git commit` without a message fails,
 * and git says how to pass one.
 */
export const UNATTENDED = {
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  EDITOR: 'false',
  VISUAL: 'false',
  GIT_EDITOR: 'false',
  GIT_SEQUENCE_EDITOR: 'false',
} as const;

/** How a command ended, and the processes that it left. */
export interface CommandEnd extends LeftProcesses {
  /** `undefined` if it is not known. */
  readonly exitCode: number | undefined;
}

/** @throws ToolError if the command was stopped before it began */
export function assertNotStopped(signal: AbortSignal): void {
  if (signal.aborted) throw new ToolError('It was stopped before it ran. Nothing was run.');
}

/** Characters that are invisible, or change how the characters around them are shown. */
const HIDDEN = /(?![\t\n ])[\p{Cc}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

/** The command with escapes such as `\x1b` and `\u202e` for characters that would hide something. Tabs and line feeds stay. */
export function shownCommand(command: string): string {
  return command.replace(HIDDEN, char => {
    const code = char.codePointAt(0) ?? 0;
    if (code < 0x100) return `\\x${code.toString(16).padStart(2, '0')}`;
    return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** The same on one line, for labels. */
export function commandLabel(command: string, max = 120): string {
  return shortened(shownCommand(command).replace(/\s+/g, ' ').trim(), max);
}
