import type { Preview } from '../../hold/preview/preview.ts';
import type { CheckResult } from './check.ts';

/** What the search for the preview that breaks a check has found. */
export type Bisection =
  /** With everything before it the check passes, and with it too it does not. */
  | { readonly kind: 'found'; readonly preview: Preview; readonly runs: number }
  /** It does not pass without any of them. */
  | { readonly kind: 'brokenBefore'; readonly runs: number }
  /** It was stopped, or a run said neither yes nor no. */
  | { readonly kind: 'unknown'; readonly runs: number };

/**
 * Finds the first of several previews with which a check no longer passes, by halving. It is known to fail with all of them.
 * With n of them it takes at most ⌈log₂(n + 1)⌉ runs.
 * @param previews in the order in which they build on each other
 * @param run runs the check with the first of them applied
 */
export async function bisect(
  previews: readonly Preview[],
  run: (first: readonly Preview[]) => Promise<CheckResult | undefined>,
): Promise<Bisection> {
  // With `good` of them it passes, with `bad` of them it fails. That it passes with none is not known, which -1 stands for.
  let good = -1;
  let bad = previews.length;
  let runs = 0;
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    runs += 1;
    const result = await run(previews.slice(0, middle));
    if (result?.outcome === 'passed' || result?.outcome === 'changedFiles') good = middle;
    else if (result?.outcome === 'failed') bad = middle;
    else return { kind: 'unknown', runs };
  }
  const preview = previews[bad - 1];
  return preview ? { kind: 'found', preview, runs } : { kind: 'brokenBefore', runs };
}
