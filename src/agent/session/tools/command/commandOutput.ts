import * as z from 'zod/mini';
import type { CommandRuns } from '../../../sandbox/commands/commandRuns.ts';
import { defineTool, type Tool } from '../tool.ts';

/** The longest time to wait, in seconds. */
const MAX_WAIT = 60;

/** `command_output`: reads the output of commands in the background. */
export function commandOutputTool(runs: CommandRuns): Tool {
  return defineTool({
    name: 'command_output',
    label: 'Command Output',
    description: "Read the end of a background command's output, or stop the command. Without id, list them.",
    parameters: z.object({
      id: z.optional(z.string().check(z.describe('Id of its preview.'))),
      wait: z
        .optional(z.int().check(z.minimum(1), z.maximum(MAX_WAIT)))
        .check(z.describe('Seconds to wait for more output or its end.')),
      stop: z.optional(z.boolean()),
    }),
    readOnly: true,
    async execute(asked, { signal }) {
      const { readOutput } = await import('./readOutput.ts');
      return readOutput(asked, runs, signal);
    },
  });
}
