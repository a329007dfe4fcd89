import * as z from 'zod/mini';
import { textResult } from '../preview/pendingAction.ts';
import type { Preview } from '../preview/preview.ts';
import { defineTool, type Tool } from '../tools/tool.ts';
import type { Check, ChecksReport } from './check.ts';

/** What the tool needs of the checks. */
export interface CheckRuns {
  /** Those of the settings. */
  list(): readonly Check[];
  /** The preview, if it is pending and can be checked, after those that it builds on. */
  withBase(id: string): readonly Preview[] | undefined;
  run(
    previews: readonly Preview[],
    names: readonly string[] | undefined,
    signal: AbortSignal,
  ): Promise<ChecksReport>;
}

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
      const { runChecksFor } = await import('./runChecksFor.ts');
      return textResult(await runChecksFor(checks, params, pending, signal));
    },
  });
}
