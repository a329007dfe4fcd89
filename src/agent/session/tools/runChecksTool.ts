import * as z from 'zod/mini';
import { ToolError } from '../../base/errors.ts';
import { textResult } from '../../hold/preview/pendingAction.ts';
import { defineTool, type Tool } from './tool.ts';
import type { CheckRuns } from '../../sandbox/checks/check.ts';

/** The tool that runs the user's checks on the model's pending previews. It changes nothing. */
export function runChecksTool(checks: CheckRuns): Tool {
  return defineTool({
    name: 'run_checks',
    label: 'Run Checks',
    description:
      "Run the user's checks (tests, types, lint …) in the sandbox, with your pending previews applied. Nothing on disk changes. Run them before you vote.",
    parameters: z.object({
      ids: z.optional(
        z.array(z.string()).check(z.describe('Previews to check, with what they build on. Default: all.')),
      ),
      names: z.optional(z.array(z.string()).check(z.describe('Default: all.'))),
    }),
    readOnly: true,
    execute: async (params, { pending, signal }) => {
      if (checks.list().length === 0)
        throw new ToolError('There are no checks to run: the user has set none.');
      const { runChecksFor } = await import('../../sandbox/checks/runChecksFor.ts');
      return textResult(await runChecksFor(checks, params, pending, signal));
    },
  });
}
