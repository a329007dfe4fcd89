import * as z from 'zod/mini';
import { ToolError } from '../../../base/errors.ts';
import { fenced } from '../../../base/phrases.ts';
import { quoted } from '../../../base/safeName.ts';
import type { BackgroundCommand, CommandRuns } from '../../../sandbox/commands/commandRuns.ts';
import { commandLabel } from '../../../sandbox/commands/commandPlan.ts';
import { textResult } from '../../../hold/preview/pendingAction.ts';
import { defineTool, type Tool } from '../tool.ts';

/** The longest time to wait, in seconds. */
const MAX_WAIT = 60;
/** The most characters of the output. */
const MAX_CHARS = 10_000;

/** `command_output`: what the commands in the background write. */
export function commandOutputTool(runs: CommandRuns): Tool {
  return defineTool({
    name: 'command_output',
    label: 'Command Output',
    description:
      'List the commands that run in the background, or read the end of what one of them wrote, or stop it.',
    parameters: z.object({
      id: z.optional(z.string().check(z.describe('Id of its preview.'))),
      wait: z
        .optional(z.int().check(z.minimum(1), z.maximum(MAX_WAIT)))
        .check(z.describe('Seconds to wait until it writes more or ends.')),
      stop: z.optional(z.boolean()),
    }),
    readOnly: true,
    async execute({ id, wait, stop = false }, { signal }) {
      const all = runs.background;
      if (id === undefined) {
        if (all.length === 0) return textResult('No command runs in the background.');
        const rows = all.map(({ previewId, command, ending }) => {
          const state = ending ?? 'It is running.';
          return `- ${previewId} ${quoted(commandLabel(command))}: ${state}`;
        });
        return textResult(rows.join('\n'));
      }
      const found = all.find(({ previewId }) => previewId === id);
      if (!found)
        throw new ToolError(
          `No command of ${id} runs in the background, or it has not been started yet. Call command_output without id for those that do.`,
        );
      if (stop && found.ending === undefined) {
        runs.stop(id);
        await found.run.ended;
      } else if (wait !== undefined && found.ending === undefined) await news(runs, found, wait, signal);
      const output = found.run.output.end(MAX_CHARS).trimEnd();
      const wrote = output === '' ? 'It has written nothing.' : `The end of its output:\n${fenced(output)}`;
      return textResult(`${found.ending ?? 'It is running.'}\n${wrote}`);
    },
  });
}

/** Settles when the command has written or ended, when the time is over, or when the signal is aborted. */
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
