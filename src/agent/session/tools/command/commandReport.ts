import { safeName } from '../../../base/safeName.ts';
import { fenced, plural } from '../../../base/phrases.ts';
import type { LeftProcesses } from '../../../base/system/startedProcesses.ts';
import type { CommandRun } from '../../../sandbox/commands/commandRuns.ts';
import type { RunFact } from '../../../hold/preview/ledger.ts';
import { textResult, type AgentToolResult } from '../../../hold/preview/pendingAction.ts';

const OUTPUT = 'Its output:';
/** The most processes that are named. */
const MAX_NAMED = 10;

/**
 * The result of a command that was run: the text for the model, and the ending for the ledger.
 * @param view lines on the pending previews that it saw, and on the files that it left behind
 */
export function commandResult(
  { timeLimit }: { readonly timeLimit: number },
  {
    exitCode,
    ended,
    running,
    missing = [],
  }: LeftProcesses & { readonly exitCode: number | undefined; readonly missing?: readonly string[] },
  run: CommandRun,
  view: readonly string[],
): AgentToolResult {
  const how = endingText({ timeLimit }, exitCode, run);
  const output = run.output.text().trimEnd();
  const { endedBy } = run;
  const fact: RunFact = {
    ...(exitCode === undefined || endedBy ? {} : { exitCode }),
    seconds: Math.round(run.seconds * 1_000) / 1_000,
    ...(endedBy ? { endedBy } : {}),
    ...(missing.length > 0 ? { missing: [...missing] } : {}),
  };
  const report = [
    how,
    ...(ended > 0 && run.endedBy === undefined
      ? ['Processes that it left in the background were ended.']
      : []),
    ...stillRunning(running),
    ...view,
    ...(output === '' ? ['No output.'] : [OUTPUT, fenced(output)]),
  ].join('\n');
  return textResult(report, { run: fact });
}

/** The output in a report of {@link commandResult}; empty if there is none. */
export function outputIn(report: string): string {
  const end = report.lastIndexOf('\n');
  const begin = `\n${OUTPUT}\n${report.slice(end + 1)}\n`;
  const at = report.lastIndexOf(begin);
  return at < 0 ? '' : report.slice(at + begin.length, end);
}

/** How a command ended. */
export function endingText(
  { timeLimit }: { readonly timeLimit: number },
  exitCode: number | undefined,
  { endedBy }: Pick<CommandRun, 'endedBy'>,
): string {
  if (endedBy === 'timeLimit')
    return `The command was ended after the time limit of ${plural(timeLimit, 'second')}.`;
  if (endedBy === 'user') return 'The user stopped the command.';
  return exitCode === undefined
    ? 'The command ended; its exit code is unknown.'
    : `The command ended with exit code ${exitCode}.`;
}

function stillRunning(running: LeftProcesses['running']): string[] {
  if (running === undefined) return ['It is not known whether processes that it started still run.'];
  if (running.length === 0) return [];
  const names = running.slice(0, MAX_NAMED).map(({ name, pid }) => `${safeName(name)} (${pid})`);
  const more = running.length > MAX_NAMED ? ', …' : '';
  const [count, whose] =
    running.length === 1
      ? ['1 process that it started still runs', 'Its']
      : [`${running.length} processes that it started still run`, 'Their'];
  return [`${count}: ${names.join(', ')}${more}. ${whose} output is no longer read.`];
}
