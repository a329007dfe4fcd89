import type { CheckMark } from '../../hold/preview/previewView.ts';
import type { Preview } from '../../hold/preview/preview.ts';
import type { CheckResult } from './check.ts';
import { isSame } from './checkedFiles.ts';
import type { RunningCheck } from './checkRunner.ts';

/** @param all the results that are kept */
export function markOf(
  result: CheckResult,
  previews: readonly Preview[],
  isCurrent: boolean,
  all: readonly CheckResult[],
): CheckMark {
  const { id, name, outcome, seconds, exitCode, problems, failures, changed } = result;
  return {
    name,
    state: outcome,
    isCurrent,
    seconds,
    ...(failures === undefined ? {} : { failures }),
    ...(changed === undefined ? {} : { changed }),
    ...(exitCode === undefined ? {} : { exitCode }),
    problems: problems.length,
    isFlaky: isFlaky(result, all),
    resultId: id,
    together: othersIn(Object.keys(result.previews), previews),
  };
}

export function markOfRunning(
  { check, previews: seen, startedAt }: RunningCheck,
  previews: readonly Preview[],
): CheckMark {
  return {
    name: check.name,
    state: 'running',
    isCurrent: true,
    seconds: Math.round((Date.now() - startedAt) / 1_000),
    problems: 0,
    isFlaky: false,
    together: othersIn(
      seen.map(({ id }) => id),
      previews,
    ),
  };
}

/** The ids that belong to none of these previews. */
export function othersIn(ids: readonly string[], previews: readonly Preview[]): readonly string[] {
  const own = new Set(previews.map(({ id }) => id));
  return ids.filter(id => !own.has(id));
}

/** Whether it has both passed and failed on the same files. */
function isFlaky({ name, command, saw, outcome }: CheckResult, all: readonly CheckResult[]): boolean {
  return all.some(
    other =>
      other.name === name &&
      other.command === command &&
      other.outcome !== outcome &&
      (other.outcome === 'passed' || other.outcome === 'failed') &&
      (outcome === 'passed' || outcome === 'failed') &&
      saw !== undefined &&
      other.saw !== undefined &&
      isSame(saw, other.saw),
  );
}
