import { splitLines } from '../../text/lines.ts';
import type { MergeLabels } from '../../text/threeWayMerge.ts';
import { textOf, type FileChange } from '../fileChange.ts';

/** The labels of Redline's conflict markers, which tell them from any others. */
export const CONFLICT_LABELS: MergeLabels = { current: 'current file', proposed: 'proposed change' };

const BEGINNING = new RegExp(`^<{7} ${CONFLICT_LABELS.current}$`, 'm');
const END = new RegExp(`^>{7} ${CONFLICT_LABELS.proposed}$`, 'm');

const known = new WeakMap<FileChange, boolean>();

/** Whether a proposal still contains a conflict marker that a rebase added. */
export function hasConflict(change: FileChange): boolean {
  let found = known.get(change);
  if (found === undefined) known.set(change, (found = findsConflict(change)));
  return found;
}

function findsConflict({ before, after }: FileChange): boolean {
  const now = withLf(textOf(after));
  // The search nearly always stops here: with thousands of texts, reading each base as well would be slow.
  if (now === '') return false;
  const old = withLf(textOf(before));
  return [BEGINNING, END].some(marker => marker.test(now) && !marker.test(old));
}

/** Number of rebase conflicts left in a proposal. A lone end of a marker counts as one. */
export function conflictCount(change: FileChange): number {
  if (!hasConflict(change)) return 0;
  const lines = withLf(textOf(change.after)).split('\n');
  return Math.max(1, lines.filter(line => BEGINNING.test(line)).length);
}

/** The paths of changes that cannot be applied because they contain conflict markers. */
export function conflictPaths(changes: readonly FileChange[]): readonly string[] {
  return changes.filter(hasConflict).map(change => change.path);
}

/** The text with line feeds only; empty if it cannot contain a marker. */
function withLf(text: string): string {
  return text.includes('<<<<<<<') || text.includes('>>>>>>>') ? text.replace(/\r\n?/g, '\n') : '';
}

/** One conflict in a text, by its lines, which count from 0. */
export interface ConflictBlock {
  /** The line of the first marker. */
  readonly start: number;
  /** The line between the file's content and the proposed one. */
  readonly middle: number;
  /** The line of the last marker. */
  readonly end: number;
}

/** The lines of a conflict to keep; for `both`, those of the file come first. */
export type ConflictChoice = 'current' | 'proposed' | 'both';

/**
 * The conflicts of a text whose markers are whole. One with several lines that could be the middle is left out, since only a person
 * can tell where the sides end.
 */
export function conflictBlocks(text: string): readonly ConflictBlock[] {
  if (!text.includes('<<<<<<<')) return [];
  const blocks: ConflictBlock[] = [];
  let start: number | undefined;
  let middles: number[] = [];
  for (const [index, line] of splitLines(text).entries()) {
    const bare = line.replace(/(?:\r\n|[\r\n])$/, '');
    if (bare === `<<<<<<< ${CONFLICT_LABELS.current}`) {
      start = index;
      middles = [];
    } else if (bare === '=======') middles.push(index);
    else if (bare === `>>>>>>> ${CONFLICT_LABELS.proposed}`) {
      const [middle, ...others] = middles;
      if (start !== undefined && middle !== undefined && others.length === 0)
        blocks.push({ start, middle, end: index });
      start = undefined;
    }
  }
  return blocks;
}

/** The lines that remain of a conflict. */
export function chosenLines(
  text: string,
  { start, middle, end }: ConflictBlock,
  choice: ConflictChoice,
): readonly string[] {
  const lines = splitLines(text);
  return [
    ...(choice === 'proposed' ? [] : lines.slice(start + 1, middle)),
    ...(choice === 'current' ? [] : lines.slice(middle + 1, end)),
  ];
}

/** The text after a choice. */
export function withChoice(text: string, block: ConflictBlock, choice: ConflictChoice): string {
  const lines = splitLines(text);
  return [
    ...lines.slice(0, block.start),
    ...chosenLines(text, block, choice),
    ...lines.slice(block.end + 1),
  ].join('');
}
