import * as z from 'zod/mini';
import { ToolError } from '../../../base/errors.ts';
import { plural } from '../../../base/phrases.ts';
import {
  assertNotStopped,
  commandLabel,
  type CommandEnd,
  type CommandPlan,
} from '../../../sandbox/commands/commandPlan.ts';
import type { CommandRun, CommandRuns } from '../../../sandbox/commands/commandRuns.ts';
import type { Sandbox, SandboxKind, Sandboxes, SandboxStatus } from '../../../sandbox/commands/sandbox.ts';
import type { PlannedCommand } from '../../../sandbox/commands/plannedCommand.ts';
import type { TreeState } from '../../../hold/external/treeState.ts';
import { idsIn } from '../../../hold/preview/overlay.ts';
import { textOf, textResult, type AgentToolResult } from '../../../hold/preview/pendingAction.ts';
import type { Preview } from '../../../hold/preview/preview.ts';
import { defineTool, type Tool } from '../tool.ts';

/** The longest command, in characters. */
const MAX_COMMAND_CHARS = 20_000;
const SOURCE = 'run_command';

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
      "Propose to run a command in the user's shell. Where there is a sandbox it runs there: it sees your pending previews as applied, what it changes becomes a preview, and an isolated one has no network. reset makes ignored files there as on disk first. onDisk runs it on the real files, without previews, after the user's click: for a commit, an install or the network. background is for a server or a watch: it runs on disk, after a click, until it ends or is stopped; command_output reads it. Its input is closed, so pass options that avoid questions. A POSIX shell gets the text with -c, PowerShell as a script, cmd.exe as a batch file (%%i in for).",
    parameters: z.object({
      command: z.string().check(z.minLength(1), z.maxLength(MAX_COMMAND_CHARS), z.regex(/\S/)),
      cwd: z.optional(z.string().check(z.describe('Default: the first workspace folder.'))),
      onDisk: z.optional(z.boolean()),
      reset: z.optional(z.boolean()),
      background: z.optional(z.boolean()),
      timeout: z
        .optional(z.int().check(z.minimum(1)))
        .check(z.describe("In seconds. Default, and the most: the user's limit.")),
    }),
    async execute({ command, cwd, onDisk = false, reset = false, background = false, timeout }, context) {
      refuseUntrusted();
      if (command.includes('\0')) throw new ToolError('A command cannot contain the character NUL.');
      const limited = await runner.plan(command, cwd);
      const plan: CommandPlan = {
        ...limited,
        timeLimit: Math.min(timeout ?? Infinity, limited.timeLimit),
        ...(background ? { background } : {}),
      };
      const sandbox = onDisk || background ? undefined : inSandbox(await runner.sandboxes.status());
      if (reset && !sandbox)
        throw new ToolError('reset is for the sandbox, and this command would run on disk. Leave out reset.');
      const planned: PlannedCommand = sandbox ? { ...plan, sandbox } : plan;
      const apply = async (): Promise<AgentToolResult> => {
        refuseUntrusted();
        const run = runs.start(preview.id, background ? undefined : plan.timeLimit * 1_000);
        try {
          const { folder } = await runner.plan(command, cwd);
          if (folder !== plan.folder)
            throw new ToolError(
              `${plan.folder} leads to ${folder} now, which is not what the preview shows. Nothing was run. Discard it.`,
            );
          assertNotStopped(run.signal);
          if (!sandbox) {
            const { runOnDisk } = await import('./runOnDisk.ts');
            return await runOnDisk({
              runner,
              runs,
              plan,
              run,
              previewId: preview.id,
              pending: idsIn(context.pending),
            });
          }
          const view = await sandboxOf(runner.sandboxes, preview, sandbox);
          assertNotStopped(run.signal);
          if (reset) await resetSandbox(view);
          const { runInSandbox } = await import('./runInSandbox.ts');
          return await runInSandbox(view, plan, run, context);
        } finally {
          if (!runs.isInBackground(preview.id)) run.end();
        }
      };
      const preview: Preview = context.stage({
        label: `Run: ${commandLabel(command)}`,
        title: l10n =>
          reset
            ? l10n.t('Run in a Reset Sandbox: {0}', commandLabel(command))
            : background
              ? l10n.t('Run in the Background: {0}', commandLabel(command))
              : l10n.t('Run: {0}', commandLabel(command)),
        sourceToolName: SOURCE,
        purpose: 'command',
        humanOnly: true,
        details: planned,
        apply,
      });
      const isGranted = (): boolean =>
        sandbox?.isolated === true && runner.isTrusted() && runner.mayRunInSandbox();
      if (context.carryOut && isGranted()) {
        const resolved = await context.carryOut(preview, isGranted);
        if (resolved.kind === 'applied' || resolved.kind === 'returnedError')
          return textResult(resolved.answer ? textOf(resolved.answer) : '');
      }
      const limit = background ? '' : `, for at most ${plural(plan.timeLimit, 'second')}`;
      return textResult(
        `The command has not run yet. It would run ${whereText(sandbox)}, in ${plan.shell}${limit}.`,
      );
    },
  });
}

function inSandbox({ engine, isolated }: SandboxStatus): PlannedCommand['sandbox'] {
  return engine && { engine, isolated };
}

/** @throws ToolError if there is none any more like the one that the preview shows */
async function sandboxOf(
  sandboxes: Sandboxes,
  { origin, id }: Preview,
  shown: SandboxKind,
): Promise<Sandbox> {
  const view = await sandboxes.of(origin?.sessionId ?? id);
  if (view?.engine === shown.engine && view.isolated === shown.isolated) return view;
  throw new ToolError(
    `${view ? 'The sandbox is another one now' : 'There is no sandbox any more'}, which is not what the preview shows. Nothing was run. Discard it, and propose the command again.`,
  );
}

/** @throws ToolError if a command runs in it, which would lose what it has made */
async function resetSandbox(view: Sandbox): Promise<void> {
  if (view.isBusy)
    throw new ToolError(
      'The sandbox cannot be reset while another command runs in it. Nothing was run. Wait until that has ended.',
    );
  await view.reset();
}

function whereText(sandbox: PlannedCommand['sandbox']): string {
  if (!sandbox) return 'on disk, without pending previews';
  return sandbox.isolated
    ? 'in the sandbox, with your pending previews applied there'
    : 'in a copy of the workspace, with your pending previews applied there';
}
