import * as z from 'zod/mini';
import type { CommandRuns } from '../../../sandbox/commands/commandRuns.ts';
import { defineTool, type Tool } from '../tool.ts';

/** The longest time to wait, in seconds. */
const MAX_WAIT = 60;

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
    async execute(asked, { signal }) {
      const { readOutput } = await import('./readOutput.ts');
      return readOutput(asked, runs, signal);
    },
  });
}
