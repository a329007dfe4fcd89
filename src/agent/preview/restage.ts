import type { FileChange } from './fileChange.ts';
import type { PendingAction } from './pendingAction.ts';
import type { Preview } from './preview.ts';

/** The changes that take these back: they undo each of them, the last one first. */
export function inverseOf(changes: readonly FileChange[]): readonly FileChange[] {
  return changes.map(inverse).reverse();
}

/**
 * What stages the same changes again; `undefined` unless the preview was discarded. One without file changes cannot
 * come back: its producer's callback is gone.
 */
export function reopenAction(preview: Preview): PendingAction | undefined {
  if (preview.state.kind !== 'discarded' || !preview.changes) return undefined;
  const { label, sourceToolName, changes, details } = preview;
  return { label, sourceToolName, changes, ...(details === undefined ? {} : { details }) };
}

/** What stages the inverse of the changes; `undefined` unless the preview was applied and Redline landed it. */
export function undoAction(preview: Preview): PendingAction | undefined {
  if (preview.state.kind !== 'applied' || !preview.changes) return undefined;
  return {
    label: `Undo: ${preview.label}`,
    sourceToolName: preview.sourceToolName,
    changes: inverseOf(preview.changes),
  };
}

function inverse(change: FileChange): FileChange {
  switch (change.kind) {
    case 'modify':
      return { ...change, before: change.after, after: change.before };
    case 'create':
      return { kind: 'delete', path: change.path, before: change.after, after: null };
    case 'delete':
      return { kind: 'create', path: change.path, before: null, after: change.before };
    case 'rename':
      return { ...change, path: change.from, from: change.path, before: change.after, after: change.before };
  }
}
