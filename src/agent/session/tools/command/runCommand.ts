import * as z from 'zod/mini';
import type { CommandEnd, CommandPlan } from '../../../sandbox/commands/commandPlan.ts';
import type { CommandRun, CommandRuns } from '../../../sandbox/commands/commandRuns.ts';
import type { Sandboxes } from '../../../sandbox/commands/sandbox.ts';
import type { TreeState } from '../../../hold/external/treeState.ts';
import { defineTool, type Tool } from '../tool.ts';

/** The longest command, in characters. */
const MAX_COMMAND_CHARS = 20_000;

/** Runs commands on disk. */
export interface ShellRunner {
  /** @throws PathError or ToolError for a folder that is not in the workspace, also through a link, or does not exist. */
  plan(command: string, folder: string | undefined): Promise<CommandPlan>;
  /** Runs it on disk, where the user sees it. Settles when it has ended, soon after the signal of the run too. */
  run(plan: CommandPlan, run: CommandRun): Promise<CommandEnd>;
  /** The state of the files there, to compare; `undefined` if git does not tell. */
  filesOf(plan: CommandPlan): Promise<TreeState | undefined>;
}

/** What `run_command` needs from VS Code. */
export interface CommandRunner extends ShellRunner {
  readonly isTrusted: () => boolean;
  readonly sandboxes: Sandboxes;
  /** Whether the user lets the model run commands by itself in an isolated sandbox: setting `redline.commands.inSandbox`. */
  readonly mayRunInSandbox: () => boolean;
}

/** The tool that proposes to run a command. Only the user can apply what it stages, or allow it for the sandbox once and for all. */
export function runCommandTool(runner: CommandRunner, runs: CommandRuns): Tool {
  return defineTool({
    name: 'run_command',
    label: 'Run Command',
    description:
      "Propose a command for the user's shell. If there is a sandbox, it runs there: it sees your pending previews as applied, its changes become a preview, and an isolated sandbox has no network. reset first makes ignored files there as on disk. onDisk runs it on the real files, without previews, after the user's click: for a commit, an install or the network. background does so for a server or a watch, which command_output reads. Input is closed: pass options that avoid questions. A POSIX shell gets the text with -c, PowerShell as a script, cmd.exe as a batch file (%%i in for).",
    parameters: z.object({
      command: z.string().check(z.minLength(1), z.maxLength(MAX_COMMAND_CHARS), z.regex(/\S/)),
      cwd: z.optional(z.string().check(z.describe('Default: the first workspace folder.'))),
      onDisk: z.optional(z.boolean()),
      reset: z.optional(z.boolean()),
      background: z.optional(z.boolean()),
      timeout: z
        .optional(z.int().check(z.minimum(1)))
        .check(z.describe("Seconds; at most, and by default, the user's limit.")),
    }),
    async execute(asked, context) {
      const { proposeCommand } = await import('./proposeCommand.ts');
      return proposeCommand(asked, context, runner, runs);
    },
  });
}
