import type { MergeLabels } from '../../text/threeWayMerge.ts';
import type { FileChange } from '../fileChange.ts';

/** The labels of Redline's conflict markers, which tell them from any others. */
export const CONFLICT_LABELS: MergeLabels = { current: 'current file', proposed: 'proposed change' };

const BEGINNING = new RegExp(`^<{7} ${CONFLICT_LABELS.current}$`, 'm');
const END = new RegExp(`^>{7} ${CONFLICT_LABELS.proposed}$`, 'm');

/** Whether a proposal still contains a conflict marker that a rebase added. */
export function hasConflict({ before, after }: FileChange): boolean {
  return [BEGINNING, END].some(
    marker => marker.test(withLf(after?.text)) && !marker.test(withLf(before?.text)),
  );
}

/** How many conflicts of a rebase are left in a proposal. */
export function conflictCount(change: FileChange): number {
  if (!hasConflict(change)) return 0;
  const lines = withLf(change.after?.text).split('\n');
  return Math.max(1, lines.filter(line => BEGINNING.test(line)).length);
}

/** The paths of changes that cannot be applied because they contain conflict markers. */
export function conflictPaths(changes: readonly FileChange[]): readonly string[] {
  return changes.filter(hasConflict).map(change => change.path);
}

/** The text with line feeds only; empty if it cannot contain a marker. */
function withLf(text = ''): string {
  return text.includes('<<<<<<<') || text.includes('>>>>>>>') ? text.replace(/\r\n?/g, '\n') : '';
}
