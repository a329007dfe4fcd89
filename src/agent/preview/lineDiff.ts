/** Lines added and removed between two texts. `exact` is false where the texts were too different to compare. */
export interface DiffStat {
  readonly added: number;
  readonly removed: number;
  readonly exact: boolean;
}

/** jsdiff is quadratic in the number of edits: past this many the stat says so instead of waiting. */
const MAX_EDITS = 2_000;

/** Counts changed lines. Loads the `diff` package on first use. */
export async function diffStat(before: string, after: string): Promise<DiffStat> {
  const middle = trimCommonLines(before, after);
  if (middle.before.length === 0 || middle.after.length === 0) {
    return { added: middle.after.length, removed: middle.before.length, exact: true };
  }
  const { diffArrays } = await import('diff');
  const parts = diffArrays([...middle.before], [...middle.after], { maxEditLength: MAX_EDITS });
  if (!parts) return { added: middle.after.length, removed: middle.before.length, exact: false };
  const count = (side: 'added' | 'removed'): number =>
    parts.reduce((sum, part) => sum + (part[side] ? part.value.length : 0), 0);
  return { added: count('added'), removed: count('removed'), exact: true };
}

/** The lines in which two texts differ, without the lines they begin and end with in common. */
export interface ChangedLines {
  /** 0-based number of the first line that differs; the same on both sides. */
  readonly start: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Cuts off the common first and last lines. Linear. Lines keep their line endings. */
export function trimCommonLines(before: string, after: string): ChangedLines {
  const a = splitLines(before);
  const b = splitLines(after);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  return { start, before: a.slice(start, a.length - end), after: b.slice(start, b.length - end) };
}

/** Lines with their line endings; the empty text has none. */
export function splitLines(text: string): string[] {
  return text.match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+/g) ?? [];
}
