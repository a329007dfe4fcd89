import * as z from 'zod/mini';
import type { CommandRuns } from '../../../sandbox/commands/commandRuns.ts';
import { defineTool, type Tool } from '../tool.ts';
import type { CommandRunner } from './commandRunner.ts';

/** The longest command, in characters. */
const MAX_COMMAND_CHARS = 20_000;

/**
 * The tool that proposes to run a command. Only the user can apply its previews, or allow them for the sandbox once and for all.
 */
export function runCommandTool(runner: CommandRunner, runs: CommandRuns): Tool {
  return defineTool({
    name: 'run_command',
    label: 'Run Command',
    description:
      "Propose a command for the user's shell. If there is a sandbox, the command runs there: it sees your pending previews as applied, its changes become a preview, and an isolated sandbox has no network. reset first restores ignored files there from disk. onDisk runs it on the real files, without previews, after the user's click: for a commit, an install or the network. background runs a server or watcher on disk; command_output reads its output. Input is closed: pass options that avoid questions. A POSIX shell gets the text with -c, PowerShell as a script, cmd.exe as a batch file (%%i in for).",
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
