import { beginningOf, endOf } from '../../base/cutText.ts';
import { ToolError } from '../../base/errors.ts';
import { safeName } from '../../base/safeName.ts';
import { fenced, listed } from '../../base/phrases.ts';
import { idsIn, type PendingContents } from '../../hold/preview/overlay.ts';
import type { Preview } from '../../hold/preview/preview.ts';
import { checkFactText } from '../../hold/preview/resolve/checkTexts.ts';
import type { CheckResult, CheckRuns, ChecksReport, NotRunReason } from './check.ts';

/** How much of the end of an output the model is shown, in characters. */
const MAX_OUTPUT = 6_000;

/**
 * Runs the checks that the model asks for.
 * @param pending the pending contents of the model's conversation
 * @returns the text for the model
 * @throws ToolError for an unknown check or preview
 */
export async function runChecksFor(
  checks: CheckRuns,
  {
    ids,
    names,
  }: { readonly ids?: readonly string[] | undefined; readonly names?: readonly string[] | undefined },
  pending: PendingContents,
  signal: AbortSignal,
): Promise<string> {
  const own = idsIn(pending);
  const known = checks.list().map(({ name }) => name);
  const unknown = names?.filter(name => !known.includes(name)) ?? [];
  if (unknown.length > 0)
    throw new ToolError(`There is no check named ${listed(unknown)}. There are: ${listed(known)}.`);
  const previews = new Map<string, Preview>();
  for (const id of ids ?? own) {
    const chosen = own.includes(id) ? checks.withBase(id) : undefined;
    if (chosen) for (const each of chosen) previews.set(each.id, each);
    else if (ids)
      throw new ToolError(
        own.length === 0
          ? `${id} is not one of your pending previews. None is pending: call run_checks without ids to check the files as they are.`
          : `${id} is not one of your pending previews that can be applied. Those are: ${own.join(', ')}.`,
      );
  }
  const chosen = [...previews.values()].toSorted((a, b) => Number(a.id.slice(1)) - Number(b.id.slice(1)));
  return reportText(chosen, await checks.run(chosen, names, signal));
}

function reportText(previews: readonly Preview[], { results, notRun }: ChecksReport): string {
  const on =
    previews.length === 0
      ? 'The checks ran on the files as they are on disk.'
      : `The checks ran on the files with ${previews.map(({ id }) => id).join(', ')} applied. Nothing on disk has changed.`;
  return [
    ...(results.length > 0 ? [on] : ['No check ran.']),
    ...results.flatMap(resultLines),
    ...notRun.map(({ name, why }) => `${safeName(name)} did not run: ${NOT_RUN[why]}`),
  ].join('\n');
}

function resultLines(result: CheckResult): readonly string[] {
  const fact = `${checkFactText(result)}, ${result.seconds} s.`;
  if (result.outcome === 'passed')
    return [
      result.saw ? fact : `${fact} Files changed meanwhile or are unsaved, so it proves nothing about them.`,
    ];
  if (result.outcome === 'changedFiles')
    return [`${fact} Ask the user for a check that only reads, or to have git ignore what the check makes.`];
  if (result.outcome === 'asBefore') return [`${fact} Every other test still passes.`];
  const output = result.output.trim();
  const shown =
    output.length > MAX_OUTPUT
      ? `[the beginning is left out]\n${endOf(output, MAX_OUTPUT)}`
      : beginningOf(output, MAX_OUTPUT);
  const notes = result.notes ?? [];
  return [fact, ...notes, ...(shown === '' ? ['No output.'] : ['Its output:', fenced(shown)])];
}

const NOT_RUN: Readonly<Record<NotRunReason, string>> = {
  untrusted: 'this workspace is not trusted. Only the user can change that.',
  notApproved: 'it comes from the settings of the workspace, and the user has not approved it yet.',
  noSandbox: 'there is no sandbox here.',
  notIsolated: 'the sandbox here is not isolated, so only the user can start it.',
  notConcerned: 'none of these previews changes a file that it concerns.',
};
