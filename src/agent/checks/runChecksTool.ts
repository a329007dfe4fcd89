import * as z from 'zod/mini';
import { ToolError } from '../base/errors.ts';
import { idsIn } from '../preview/overlay.ts';
import { textResult } from '../preview/pendingAction.ts';
import type { Preview } from '../preview/preview.ts';
import { checkFactText } from '../preview/resolve/resolveTexts.ts';
import { beginningOf } from '../text/beginningOf.ts';
import { defineTool, type Tool } from '../tools/tool.ts';
import type { Check, CheckResult, ChecksReport, NotRunReason } from './check.ts';

/** How much of the end of an output the model is shown, in characters. */
const MAX_OUTPUT = 6_000;

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
    async execute({ ids, names }, { pending, signal }) {
      const own = idsIn(pending);
      const known = checks.list().map(({ name }) => name);
      const unknown = names?.filter(name => !known.includes(name)) ?? [];
      if (unknown.length > 0)
        throw new ToolError(`There is no check named ${unknown.join(', ')}. There are: ${known.join(', ')}.`);
      const previews = new Map<string, Preview>();
      for (const id of ids ?? own) {
        const chosen = own.includes(id) ? checks.withBase(id) : undefined;
        if (chosen) for (const each of chosen) previews.set(each.id, each);
        else if (ids)
          throw new ToolError(
            own.length === 0
              ? `${id} is not one of your pending previews. None is pending: call run_checks without ids to check the files as they are.`
              : `${id} is not one of your pending previews that can be applied. These are: ${own.join(', ')}.`,
          );
      }
      const chosen = [...previews.values()].toSorted((a, b) => Number(a.id.slice(1)) - Number(b.id.slice(1)));
      return textResult(reportText(chosen, await checks.run(chosen, names, signal)));
    },
  });
}

function reportText(previews: readonly Preview[], { results, notRun }: ChecksReport): string {
  const on =
    previews.length === 0
      ? 'The checks ran on the files as they are on disk.'
      : `The checks ran on the files with ${previews.map(({ id }) => id).join(', ')} applied. Nothing on disk has changed.`;
  return [
    ...(results.length > 0 ? [on] : ['No check ran.']),
    ...results.flatMap(resultLines),
    ...notRun.map(({ name, why }) => `${name} did not run: ${NOT_RUN[why]}`),
  ].join('\n');
}

function resultLines(result: CheckResult): readonly string[] {
  const fact = `${checkFactText(result)}, ${result.seconds} s.`;
  if (result.outcome === 'passed')
    return [
      result.saw ? fact : `${fact} Files changed meanwhile or are unsaved, so it proves nothing about them.`,
    ];
  const output = result.output.trim();
  const shown =
    output.length > MAX_OUTPUT
      ? `[the beginning is left out]\n${output.slice(-MAX_OUTPUT)}`
      : beginningOf(output, MAX_OUTPUT);
  return [fact, ...(shown === '' ? ['It wrote nothing.'] : ['Its output:', shown])];
}

const NOT_RUN: Readonly<Record<NotRunReason, string>> = {
  untrusted: 'this workspace is not trusted. Only the user can change that.',
  notApproved: 'the settings of the workspace bring it, and the user has not approved it yet.',
  noSandbox: 'there is no sandbox here.',
  notIsolated: 'the sandbox here is not isolated, so only the user starts it.',
  notConcerned: 'none of these previews changes a file that it concerns.',
};
