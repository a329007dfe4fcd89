import type { FileChange } from './fileChange.ts';
import type { MergeLabels } from './mergeText.ts';

/** The names behind our conflict markers; by them they are told from anybody else's. */
export const CONFLICT_LABELS: MergeLabels = { current: 'current file', proposed: 'proposed change' };

const BEGINNING = new RegExp(`^<{7} ${CONFLICT_LABELS.current}$`, 'm');
const END = new RegExp(`^>{7} ${CONFLICT_LABELS.proposed}$`, 'm');

/** Whether a proposal still holds a conflict that rebasing left in it, or a half of its markers. */
export function hasConflict({ before, after }: FileChange): boolean {
  return [BEGINNING, END].some(
    marker => marker.test(withLf(after?.text)) && !marker.test(withLf(before?.text)),
  );
}

/** Paths of changes that cannot land as they are, since their conflicts are not settled. */
export function conflictPaths(changes: readonly FileChange[]): readonly string[] {
  return changes.filter(hasConflict).map(change => change.path);
}

/** The text with one line ending, if it is worth a look. */
function withLf(text = ''): string {
  return text.includes('<<<<<<<') || text.includes('>>>>>>>') ? text.replace(/\r\n?/g, '\n') : '';
}
