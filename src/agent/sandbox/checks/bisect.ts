import type { Preview } from '../../hold/preview/preview.ts';
import type { CheckResult } from './check.ts';

/** Result of the search for the preview that breaks a check. */
export type Bisection =
  /** The check passes with all previews before this one, and no longer with it. */
  | { readonly kind: 'found'; readonly preview: Preview }
  /** The check fails without any of the previews. */
  | { readonly kind: 'brokenBefore' }
  /** The search was stopped, or a run neither passed nor failed. */
  | { readonly kind: 'unknown' };

/**
 * Finds the first of several previews with which a check no longer passes, by bisection. The check is known to fail with all of
 * them. For n previews, it takes at most ⌈log₂(n + 1)⌉ runs.
 * @param previews in the order in which they build on each other
 * @param run runs the check with the given first previews applied
 */
export async function bisect(
  previews: readonly Preview[],
  run: (first: readonly Preview[]) => Promise<CheckResult | undefined>,
): Promise<Bisection> {
  // The check passes with the first `good` previews and fails with the first `bad`. -1: it is not known to pass with none.
  let good = -1;
  let bad = previews.length;
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    const result = await run(previews.slice(0, middle));
    if (result?.outcome === 'passed' || result?.outcome === 'changedFiles') good = middle;
    else if (result?.outcome === 'failed') bad = middle;
    else return { kind: 'unknown' };
  }
  const preview = previews[bad - 1];
  return preview ? { kind: 'found', preview } : { kind: 'brokenBefore' };
}
