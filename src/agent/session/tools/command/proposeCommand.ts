import { ToolError } from '../../../base/errors.ts';
import { plural } from '../../../base/phrases.ts';
import { assertNotStopped, commandLabel, type CommandPlan } from '../../../sandbox/commands/commandPlan.ts';
import type { CommandRuns } from '../../../sandbox/commands/commandRuns.ts';
import type { Sandbox, SandboxKind, Sandboxes, SandboxStatus } from '../../../sandbox/commands/sandbox.ts';
import type { PlannedCommand } from '../../../sandbox/commands/plannedCommand.ts';
import { idsIn } from '../../../hold/preview/overlay.ts';
import { resultText, textResult, type AgentToolResult } from '../../../hold/preview/pendingAction.ts';
import type { Preview } from '../../../hold/preview/preview.ts';
import type { ToolContext } from '../tool.ts';
import type { CommandRunner } from './commandRunner.ts';
import { runInSandbox } from './runInSandbox.ts';
import { runOnDisk } from './runOnDisk.ts';

/** The command that the model asks to run. */
interface AskedCommand {
  readonly command: string;
  readonly cwd?: string | undefined;
  readonly onDisk?: boolean | undefined;
  readonly reset?: boolean | undefined;
  readonly background?: boolean | undefined;
  readonly timeout?: number | undefined;
}

/** Stages a command, or runs it at once where the user's settings let the model do so. */
export async function proposeCommand(
  { command, cwd, onDisk = false, reset = false, background = false, timeout }: AskedCommand,
  context: ToolContext,
  runner: CommandRunner,
  runs: CommandRuns,
): Promise<AgentToolResult> {
  const refuseUntrusted = (): void => {
    if (!runner.isTrusted())
      throw new ToolError(
        'This workspace is not trusted, so no command is run in it. Only the user can change that.',
      );
  };

  refuseUntrusted();
  if (command.includes('\0')) throw new ToolError('A command cannot contain the character NUL. Remove it.');
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
          `${plan.folder} leads to ${folder} now, which is not what the preview shows. Nothing was run. If the command is still needed, it must be proposed again.`,
        );
      assertNotStopped(run.signal);
      if (!sandbox)
        return await runOnDisk({
          runner,
          runs,
          plan,
          run,
          previewId: preview.id,
          pending: idsIn(context.pending),
        });
      const view = await sandboxOf(runner.sandboxes, preview, sandbox);
      assertNotStopped(run.signal);
      if (reset) await resetSandbox(view);
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
    sourceToolName: 'run_command',
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
      return textResult(resultText({ content: [], ...resolved.answer }));
  }
  const limit = background ? '' : `, for at most ${plural(plan.timeLimit, 'second')}`;
  return textResult(
    `The command has not run yet. It would run ${whereText(sandbox)}, in ${plan.shell}${limit}.`,
  );
}

function inSandbox({ engine, isolated }: SandboxStatus): PlannedCommand['sandbox'] {
  return engine && { engine, isolated };
}

/** @throws ToolError if the sandbox is gone, or is not like the one that the preview shows */
async function sandboxOf(
  sandboxes: Sandboxes,
  { origin, id }: Preview,
  shown: SandboxKind,
): Promise<Sandbox> {
  const view = await sandboxes.of(origin?.sessionId ?? id);
  if (view?.engine === shown.engine && view.isolated === shown.isolated) return view;
  throw new ToolError(
    `${view ? 'The sandbox is another one now' : 'There is no sandbox any more'}, which is not what the preview shows. Nothing was run. If the command is still needed, it must be proposed again.`,
  );
}

/** @throws ToolError if a command is running in it, which would lose its work */
async function resetSandbox(view: Sandbox): Promise<void> {
  if (view.isBusy)
    throw new ToolError(
      'The sandbox cannot be reset while another command runs in it. Nothing was run. It can be run once that has ended.',
    );
  await view.reset();
}

function whereText(sandbox: PlannedCommand['sandbox']): string {
  if (!sandbox) return 'on disk, without pending previews';
  return sandbox.isolated
    ? 'in the sandbox, with your pending previews applied there'
    : 'in a copy of the workspace, with your pending previews applied there';
}
