import type { TreeState } from '../../../hold/external/treeState.ts';
import type { CommandEnd, CommandPlan } from '../../../sandbox/commands/commandPlan.ts';
import type { CommandRun } from '../../../sandbox/commands/commandRuns.ts';
import type { Sandboxes } from '../../../sandbox/commands/sandbox.ts';

/** Runs commands on disk. */
export interface ShellRunner {
  /** @throws PathError or ToolError for a folder that is not in the workspace, also through a link, or does not exist. */
  plan(command: string, folder: string | undefined): Promise<CommandPlan>;
  /** Runs it on disk, where the user sees it. Settles when it has ended; if the run's signal fires, soon after that. */
  run(plan: CommandPlan, run: CommandRun): Promise<CommandEnd>;
  /** The state of the files there, for comparison; `undefined` if git cannot say. */
  filesOf(plan: CommandPlan): Promise<TreeState | undefined>;
}

/** The port of `run_command` to VS Code. */
export interface CommandRunner extends ShellRunner {
  readonly isTrusted: () => boolean;
  readonly sandboxes: Sandboxes;
  /** Whether the user lets the model run commands by itself in an isolated sandbox: setting `redline.commands.inSandbox`. */
  readonly mayRunInSandbox: () => boolean;
}
