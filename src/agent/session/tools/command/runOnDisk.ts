import { listed, plural } from '../../../base/phrases.ts';
import type { CommandPlan } from '../../../sandbox/commands/commandPlan.ts';
import type { CommandRun, CommandRuns } from '../../../sandbox/commands/commandRuns.ts';
import type { TreeState } from '../../../hold/external/treeState.ts';
import { textResult, type AgentToolResult } from '../../../hold/preview/pendingAction.ts';
import { commandResult, endingText } from './commandReport.ts';
import type { ShellRunner } from './commandRunner.ts';

interface DiskCommand {
  readonly runner: ShellRunner;
  readonly runs: CommandRuns;
  readonly plan: CommandPlan;
  readonly run: CommandRun;
  readonly previewId: string;
  /** Ids of the pending previews, which it does not see. */
  readonly pending: readonly string[];
}

/** Runs a command on the real files. A background command goes on after this has settled. */
export async function runOnDisk(command: DiskCommand): Promise<AgentToolResult> {
  const { runner, runs, plan, run, previewId, pending } = command;
  const saw =
    pending.length > 0 ? [`It saw the files on disk, without the pending ${pending.join(', ')}.`] : [];
  if (plan.background) {
    const end = runner
      .run(plan, run)
      .then(({ exitCode }) => (run.endedBy ? 'It was stopped.' : endingText(plan, exitCode, run)));
    runs.keep(previewId, plan.command, run, end);
    const running = `It runs in the background until it ends or is stopped. Its end does not wake you: call command_output with id "${previewId}" to see how it goes.`;
    return textResult([running, ...saw].join('\n'));
  }
  const before = await runner.filesOf(plan);
  const end = await runner.run(plan, run);
  const after = before && (await runner.filesOf(plan));
  return commandResult(plan, end, run, [...saw, ...changedLines(before, after)]);
}

/** The changed files, as far as git reports them. */
function changedLines(before: TreeState | undefined, after: TreeState | undefined): readonly string[] {
  if (!before || !after) return [];
  if (before.head !== after.head) return ['On disk, HEAD is another commit now.'];
  const all = new Set([...before.files.keys(), ...after.files.keys()]);
  const changed = [...all].filter(path => before.files.get(path) !== after.files.get(path)).sort();
  if (changed.length === 0) return ['On disk, no file that git tracks or would track has changed meanwhile.'];
  return [
    `On disk, ${plural(changed.length, 'file has', 'files have')} changed meanwhile: ${listed(changed)}.`,
  ];
}
