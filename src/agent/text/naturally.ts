const collator = new Intl.Collator('en', { numeric: true });

/** The order in which people read names: `part2.ts` before `part10.ts`. Only equal names are equal. */
export function naturally(a: string, b: string): number {
  return collator.compare(a, b) || (a < b ? -1 : a > b ? 1 : 0);
}
