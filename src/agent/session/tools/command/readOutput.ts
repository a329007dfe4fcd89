import { ToolError } from '../../../base/errors.ts';
import { fenced } from '../../../base/phrases.ts';
import { quoted } from '../../../base/safeName.ts';
import { commandLabel } from '../../../sandbox/commands/commandPlan.ts';
import type { BackgroundCommand, CommandRuns } from '../../../sandbox/commands/commandRuns.ts';
import { textResult, type AgentToolResult } from '../../../hold/preview/pendingAction.ts';

/** The most characters of the output. */
const MAX_CHARS = 10_000;

/** The model's question about the commands in the background. */
interface Asked {
  readonly id?: string | undefined;
  /** In seconds. */
  readonly wait?: number | undefined;
  readonly stop?: boolean | undefined;
}

/**
 * The list of the commands in the background or, with an id, the end of that command's output, after stopping or waiting for it as
 * asked.
 * @throws ToolError for an unknown id.
 */
export async function readOutput(
  { id, wait, stop = false }: Asked,
  runs: CommandRuns,
  signal: AbortSignal,
): Promise<AgentToolResult> {
  const all = runs.background;
  if (id === undefined) {
    if (all.length === 0) return textResult('No command runs in the background.');
    const rows = all.map(one => `- ${one.previewId} ${quoted(commandLabel(one.command))}: ${stateOf(one)}`);
    return textResult(rows.join('\n'));
  }
  const found = all.find(({ previewId }) => previewId === id);
  if (!found)
    throw new ToolError(
      `${id} is no background command, or the user has not started it yet. Call command_output without id to list them.`,
    );
  if (stop && found.ending === undefined) {
    runs.stop(id);
    await found.run.ended;
  } else if (wait !== undefined && found.ending === undefined) await news(runs, found, wait, signal);
  found.isTold = found.ending !== undefined;
  const output = found.run.output.end(MAX_CHARS).trimEnd();
  const wrote = output === '' ? 'No output.' : `The end of its output:\n${fenced(output)}`;
  return textResult(`${stateOf(found)}\n${wrote}`);
}

function stateOf({ ending, run }: BackgroundCommand): string {
  return ending ?? (run.endedBy === undefined ? 'It is running.' : 'It is being stopped.');
}

/** Settles when the command has written or ended, when the time is up, or when the signal is aborted. */
async function news(
  runs: CommandRuns,
  { run }: BackgroundCommand,
  seconds: number,
  signal: AbortSignal,
): Promise<void> {
  const before = run.output.length;
  const until = AbortSignal.any([signal, AbortSignal.timeout(seconds * 1_000)]);
  const { promise, resolve } = Promise.withResolvers<void>();
  const following = runs.onDidChange(() => {
    if (run.output.length !== before) resolve();
  });
  until.addEventListener('abort', () => resolve(), { once: true });
  if (until.aborted) resolve();
  await Promise.race([promise, run.ended]);
  following.dispose();
}
