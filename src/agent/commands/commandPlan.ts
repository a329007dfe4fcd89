import { ToolError } from '../base/errors.ts';
import type { LeftProcesses } from '../base/system/startedProcesses.ts';

/** A program that interprets commands, and what the user has chosen for it. */
export interface Shell {
  /** The program that interprets the command. */
  readonly shell: string;
  /** Those of its arguments that the user has chosen; what passes the command follows them. */
  readonly arguments: readonly string[];
  /** How the environment differs from that of VS Code without its own variables; `null` for a variable that is taken away. */
  readonly environment: Readonly<Record<string, string | null>>;
}

/** A command and all that it runs with: what the preview shows is what runs. */
export interface CommandPlan extends Shell {
  readonly command: string;
  /** Absolute path, links followed. */
  readonly folder: string;
  /** In seconds. */
  readonly timeLimit: number;
}

/** How a command ended, and what was seen of the processes that it had started. */
export interface CommandEnd extends LeftProcesses {
  /** `undefined` if no one knows. */
  readonly exitCode: number | undefined;
}

/** @throws ToolError if the command was stopped before it began */
export function assertNotStopped(signal: AbortSignal): void {
  if (signal.aborted) throw new ToolError('It was stopped before it ran. Nothing was run.');
}
