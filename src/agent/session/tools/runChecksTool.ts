import * as z from 'zod/mini';
import { textResult } from '../../hold/preview/pendingAction.ts';
import { defineTool, type Tool } from './tool.ts';
import type { CheckRuns } from '../../sandbox/checks/check.ts';

/** The tool that runs the user's checks on the model's pending previews. It changes nothing. */
export function runChecksTool(checks: CheckRuns): Tool {
  return defineTool({
    name: 'run_checks',
    label: 'Run Checks',
    description:
      "Run the user's checks (tests, types, lint …) in the sandbox on the files as they would be with your pending previews applied. Without ids: with all of them. Nothing on disk changes. Run them before you resolve.",
    parameters: z.object({
      ids: z.optional(
        z.array(z.string()).check(z.describe('Pending previews to check together with what they build on.')),
      ),
      names: z.optional(z.array(z.string()).check(z.describe('Checks to run. Default: all.'))),
    }),
    readOnly: true,
    isEnabled: () => checks.list().length > 0,
    execute: async (params, { pending, signal }) => {
      const { runChecksFor } = await import('../../sandbox/checks/runChecksFor.ts');
      return textResult(await runChecksFor(checks, params, pending, signal));
    },
  });
}
