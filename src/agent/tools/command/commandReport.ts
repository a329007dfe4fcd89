import type { PendingContents } from '../../preview/overlay.ts';
import { plural } from '../../text/plural.ts';
import type { CommandRun } from './commandRuns.ts';

/** What the model is told of a command that was run. */
export function commandReport(
  { timeLimit }: { readonly timeLimit: number },
  {
    exitCode,
    leftovers,
  }: {
    readonly exitCode: number | undefined;
    readonly leftovers?: 'ended' | 'running' | undefined;
  },
  run: CommandRun,
  pending: PendingContents,
): string {
  const how =
    run.endedBy === 'timeLimit'
      ? `The command was ended after the time limit of ${plural(timeLimit, 'second')}.`
      : run.endedBy === 'user'
        ? 'The user stopped the command.'
        : exitCode === undefined
          ? 'The command ended; its exit code is unknown.'
          : `The command ended with exit code ${exitCode}.`;
  const ids = [...new Set(pending.paths().flatMap(path => pending.at(path)?.previewId ?? []))];
  const output = run.output.text().trimEnd();
  return [
    how,
    ...(leftovers === 'ended' ? ['Processes that it left in the background were ended.'] : []),
    ...(leftovers === 'running'
      ? ['Processes that it left in the background may still be running; their output is not read any more.']
      : []),
    ...(ids.length > 0 ? [`It saw the files on disk, without the pending ${ids.join(', ')}.`] : []),
    ...(output === '' ? ['It wrote nothing.'] : ['Its output:', output]),
  ].join('\n');
}
