import { safeName, safeText } from '../../../base/safeName.ts';
import { countText } from '../../../base/localiser.ts';
import { plural } from '../../../base/phrases.ts';
import { commandLabel, type CommandPlan } from '../../../sandbox/commands/commandPlan.ts';
import type { CommandRun } from '../../../sandbox/commands/commandRuns.ts';
import type { Sandbox, SandboxEnd } from '../../../sandbox/commands/sandbox.ts';
import type { LeftOut, LeftOutReason } from '../../../hold/external/gathered.ts';
import { placeForeign } from '../../../hold/external/foreignChange.ts';
import type { FileChange } from '../../../hold/preview/fileChange.ts';
import { idsIn } from '../../../hold/preview/overlay.ts';
import type { AgentToolResult } from '../../../hold/preview/pendingAction.ts';
import { nameOf, type Preview } from '../../../hold/preview/preview.ts';
import type { ToolContext } from '../tool.ts';
import { MAX_RESULT_DIFF_CHARS, shownDiff } from '../../../hold/preview/shownDiffs.ts';
import { commandResult } from './commandReport.ts';

/** The most files that are named as left out. */
const MAX_NAMED = 10;

/** The origin of effects, in the details of their preview. */
interface EffectsDetails {
  readonly command: string;
  readonly exitCode: number | undefined;
}

/**
 * Runs a command in the sandbox, and stages its changes there as one preview, which builds on the pending ones that it touched.
 * Files changed on both sides in the meantime become a second preview, with conflict markers.
 * @throws ToolError if nothing was run
 */
export async function runInSandbox(
  sandbox: Sandbox,
  plan: CommandPlan,
  run: CommandRun,
  {
    pending,
    workspace,
    followUp,
    noteShown,
  }: Pick<ToolContext, 'pending' | 'workspace' | 'followUp' | 'noteShown'>,
): Promise<AgentToolResult> {
  const saw = idsIn(pending);
  const end = await sandbox.run(plan, pending, run);
  const { changes, conflicts, leftOut } = await placeForeign(end.effects, {
    workspace,
    pending,
    blobs: pending.blobs,
  });
  const label = commandLabel(plan.command, 80);
  const details: EffectsDetails = { command: plan.command, exitCode: end.exitCode };
  const stage = (group: readonly FileChange[], kind: 'changes' | 'conflicts'): Preview[] => {
    if (group.length === 0) return [];
    const what = plural(group.length, 'file');
    const preview = followUp({
      label: kind === 'conflicts' ? `Conflicts with ${label} · ${what}` : `${label} · ${what}`,
      title: l10n => {
        const files = countText(l10n.t('1 file|{0} files'), l10n)(group.length);
        return kind === 'conflicts'
          ? l10n.t('Conflicts with {0} · {1}', label, files)
          : l10n.t('{0} · {1}', label, files);
      },
      sourceToolName: 'run_command',
      changes: group,
      details,
    });
    return [preview];
  };
  const staged = [...stage(changes, 'changes'), ...stage(conflicts, 'conflicts')];
  const left = [...end.leftOut, ...leftOut];
  const shown = await Promise.all(staged.map(each => shownEffects(each, noteShown)));
  return commandResult(plan, end, run, effectsLines(sandbox, saw, end, shown, left));
}

/** A preview of effects with its diff, on which the model is to vote. */
async function shownEffects(preview: Preview, noteShown: ToolContext['noteShown']): Promise<string> {
  const shown = await shownDiff(preview, 0, MAX_RESULT_DIFF_CHARS);
  noteShown?.(preview, { from: 0, ...shown });
  return `Its changes are pending as ${nameOf(preview)}. The diff:\n${shown.text}`;
}

/** Lines for the model on where the command ran and which changes remain there. */
function effectsLines(
  { isolated }: Sandbox,
  saw: readonly string[],
  { ignored, wroteGit, notes }: SandboxEnd,
  shown: readonly string[],
  leftOut: readonly LeftOut[],
): readonly string[] {
  const where = isolated ? 'in the sandbox' : 'in a copy of the workspace';
  const view = saw.length > 0 ? `, where ${saw.join(', ')} ${saw.length === 1 ? 'is' : 'are'} applied` : '';
  const isQuiet = shown.length === 0 && ignored === 0 && !wroteGit && leftOut.length === 0;
  return [
    isQuiet
      ? `It ran ${where}${view}, and changed no file${isolated ? '' : ' there'}.`
      : `It ran ${where}${view}. ${isolated ? 'Nothing on disk has changed.' : 'Its changes there are not on disk.'}`,
    ...shown,
    ...(shown.length === 0 && !isQuiet ? ['It changed no file that git tracks or would track.'] : []),
    ...(ignored > 0
      ? [`${plural(ignored, 'ignored file')} ${ignored === 1 ? 'stays' : 'stay'} in the sandbox.`]
      : []),
    ...(wroteGit
      ? [
          "Its changes to git's own files are lost: neither the disk nor the next command has them. Use onDisk for such a command.",
        ]
      : []),
    ...leftOutLines(leftOut),
    ...notes,
  ];
}

function leftOutLines(leftOut: readonly LeftOut[]): readonly string[] {
  if (leftOut.length === 0) return [];
  const named = leftOut
    .slice(0, MAX_NAMED)
    .map(
      ({ path, why, detail }) =>
        `${safeName(path)} (${detail === undefined ? (REASONS[why] ?? why) : safeText(detail)})`,
    );
  const more = leftOut.length > MAX_NAMED ? `, and ${leftOut.length - MAX_NAMED} more` : '';
  return [`Not in a preview, and lost: ${named.join(', ')}${more}.`];
}

const REASONS: Partial<Record<LeftOutReason, string>> = {
  notAFile: 'neither a file nor a link',
  path: 'a name that cannot be shown',
  tooLarge: 'larger than 5 MB',
  submodule: 'a submodule',
};
