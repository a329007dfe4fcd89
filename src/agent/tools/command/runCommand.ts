import * as z from 'zod/mini';
import { ToolError } from '../../base/errors.ts';
import { assertNotStopped, type CommandEnd, type CommandPlan } from '../../commands/commandPlan.ts';
import { textResult } from '../../preview/pendingAction.ts';
import type { Preview } from '../../preview/preview.ts';
import { defineTool, type Tool } from '../tool.ts';
import type { CommandRun, CommandRuns } from '../../commands/commandRuns.ts';
import { commandLabel } from '../../commands/shownCommand.ts';

/** The longest command, in characters. */
const MAX_COMMAND_CHARS = 20_000;
const SOURCE = 'run_command';

const details = z.object({
  command: z.string(),
  folder: z.string(),
  shell: z.string(),
  // Missing in previews of earlier versions.
  arguments: z._default(z.array(z.string()), []),
  environment: z.record(z.string(), z.nullable(z.string())),
  timeLimit: z.number(),
});

/** What `run_command` needs from VS Code. */
export interface CommandRunner {
  readonly isTrusted: () => boolean;
  /** @throws PathError or ToolError for a folder that is not in the workspace, also through a link, or does not exist. */
  plan(command: string, folder: string | undefined): Promise<CommandPlan>;
  /** Runs it where the user sees it. Settles when it has ended, soon after the signal of the run too. */
  run(plan: CommandPlan, run: CommandRun): Promise<CommandEnd>;
}

/** The tool that proposes to run a command. Only the user can apply what it stages, and with that run it. */
export function runCommandTool(runner: CommandRunner, runs: Pick<CommandRuns, 'start'>): Tool {
  const refuseUntrusted = (): void => {
    if (!runner.isTrusted())
      throw new ToolError(
        'This workspace is not trusted, so no command is run in it. Only the user can change that.',
      );
  };
  return defineTool({
    name: SOURCE,
    label: 'Run Command',
    description:
      "Propose to run a command in the user's shell. It runs once the user applies the preview, never before; you are then told the exit code and the output. It sees the files on disk, without pending previews. Its input is closed, so no one answers its questions: pass options that avoid them. It is ended after a time limit. A POSIX shell gets the text with -c, PowerShell runs it as a script, and cmd.exe runs its lines as a batch file (%%i in for). No shell is interactive.",
    parameters: z.object({
      command: z.string().check(z.minLength(1), z.maxLength(MAX_COMMAND_CHARS), z.regex(/\S/)),
      cwd: z.optional(
        z.string().check(z.describe('Folder inside the workspace. Default: the first workspace folder.')),
      ),
    }),
    async execute({ command, cwd }, { stage, pending }) {
      refuseUntrusted();
      if (command.includes('\0')) throw new ToolError('A command cannot contain the character NUL.');
      const plan = await runner.plan(command, cwd);
      const preview: Preview = stage({
        label: `Run: ${commandLabel(command)}`,
        title: l10n => l10n.t('Run: {0}', commandLabel(command)),
        sourceToolName: SOURCE,
        purpose: 'command',
        humanOnly: true,
        details: plan,
        apply: async () => {
          refuseUntrusted();
          const run = runs.start(preview.id, plan.timeLimit * 1_000);
          try {
            const { folder } = await runner.plan(command, cwd);
            if (folder !== plan.folder)
              throw new ToolError(
                `${plan.folder} leads to ${folder} now, which is not what the preview shows. Nothing was run. Discard it.`,
              );
            const { commandReport } = await import('./commandReport.ts');
            assertNotStopped(run.signal);
            return textResult(commandReport(plan, await runner.run(plan, run), run, pending));
          } finally {
            run.end();
          }
        },
      });
      return textResult(
        `The command has not run. The user decides; you are told what comes of it. It would run in ${plan.shell}.`,
      );
    },
  });
}

/** The command that a preview runs; `undefined` if it runs none. */
export function commandOf(preview: Pick<Preview, 'purpose' | 'details'>): CommandPlan | undefined {
  return preview.purpose === 'command' ? details.safeParse(preview.details).data : undefined;
}
