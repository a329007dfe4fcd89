import { fill } from '../../agent/base/localiser.ts';

/** The most names that a sentence lists. */
const MOST = 5;

/**
 * Names for a sentence that a person reads: a branch that is switched can make thousands of files stale.
 * @param andMore the localised `{0} and {1} more`
 */
export function shortList(names: readonly string[], andMore: string): string {
  const shown = names.slice(0, MOST).join(', ');
  return names.length > MOST ? fill(andMore, shown, names.length - MOST) : shown;
}
