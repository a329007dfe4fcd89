import type { CommandPlan } from '../commands/commandPlan.ts';
import type { Sandboxes } from '../commands/sandbox.ts';
import { programOnPath } from '../../base/system/searchPath.ts';
import type { Blobs } from '../../hold/preview/blobs.ts';
import { contentsAfter } from '../../hold/preview/overlay.ts';
import { OWN_SANDBOX } from './checkRunner.ts';
import type { SuggestedCheck } from './suggestChecks.ts';

/** In seconds; a program that has not answered by then is not suggested. */
const TIME_LIMIT = 20;

interface RunnableParts {
  readonly store: { readonly blobs: Blobs };
  readonly sandboxes: Sandboxes;
  readonly plan: (command: string, folder: string | undefined) => Promise<CommandPlan>;
}

/**
 * The suggestions whose program is installed and answers where checks run, the first of each name. A copy hides nothing, so there
 * only the PATH is searched: making a copy would take too long.
 */
export async function runnable(
  suggested: readonly SuggestedCheck[],
  { store, sandboxes, plan }: RunnableParts,
): Promise<readonly SuggestedCheck[]> {
  const found: SuggestedCheck[] = [];
  for (const each of suggested)
    if ((await programOnPath(each.probe.split(' ')[0] ?? '')) !== undefined) found.push(each);
  const probes = [...new Set(found.map(({ probe }) => probe))];
  const { isolated } = await sandboxes.status();
  const sandbox = isolated && probes.length > 0 ? await sandboxes.of(OWN_SANDBOX) : undefined;
  if (!sandbox) return firstOfEachName(found);
  const lines = probes.map((probe, n) => `(${probe}) >/dev/null 2>&1 </dev/null && echo ${n} &`);
  const script = `${lines.join('\n')}\nwait`;
  let output = '';
  const ended = sandbox.run(
    { ...(await plan(script, undefined)), shell: '/bin/sh', arguments: [], timeLimit: TIME_LIMIT },
    contentsAfter([], store.blobs),
    { signal: AbortSignal.timeout(TIME_LIMIT * 1_000), add: chunk => (output += chunk) },
  );
  // Where nothing can be run, nothing answers.
  await ended.catch(() => undefined);
  const answered = new Set(output.split('\n').map(line => probes[Number(line || NaN)]));
  return firstOfEachName(found.filter(({ probe }) => answered.has(probe)));
}

function firstOfEachName(checks: readonly SuggestedCheck[]): readonly SuggestedCheck[] {
  return checks.filter(({ name }, n) => checks.findIndex(each => each.name === name) === n);
}
