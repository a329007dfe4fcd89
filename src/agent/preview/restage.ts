import { changeOf, stepsOf, type FileChange } from './fileChange.ts';
import { composedSteps } from './landing.ts';
import type { PendingAction } from './pendingAction.ts';
import { isOpen, type Preview } from './preview.ts';

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
  const { label, sourceToolName, changes, details, undoes } = preview;
  return {
    ...{ label, sourceToolName, changes },
    ...(details === undefined ? {} : { details }),
    ...(undoes ? { undoes } : {}),
  };
}

/** What stages the inverse of the changes; `undefined` unless the preview was applied and Redline landed it. */
export function undoAction(preview: Preview): PendingAction | undefined {
  if (preview.state.kind !== 'applied' || !preview.changes) return undefined;
  return {
    label: `Undo: ${preview.label}`,
    sourceToolName: preview.sourceToolName,
    changes: inverseOf(preview.changes),
    undoes: [preview.id],
  };
}

/**
 * What takes back everything that these previews applied and that was not taken back yet, as one transaction; `undefined`
 * if there is nothing.
 * @param previews of a branch of the conversation, in the order of staging.
 * @param all every preview there is: among them those that undo.
 */
export function undoBranchAction(
  previews: readonly Preview[],
  all: readonly Preview[],
  sourceToolName: string,
): PendingAction | undefined {
  const applied = previews.filter(preview => preview.state.kind === 'applied' && !isUndone(preview, all));
  const changes = withoutDetours(applied.toReversed().flatMap(preview => inverseOf(preview.changes ?? [])));
  if (changes.length === 0) return undefined;
  const what = changes.length === 1 ? '1 change' : `${changes.length} changes`;
  return {
    label: `Undo ${what} of the abandoned branch`,
    sourceToolName,
    changes,
    undoes: applied.map(({ id }) => id),
  };
}

/** Whether another preview takes this one back, or waits to, and is not taken back itself. */
function isUndone({ id }: Preview, all: readonly Preview[]): boolean {
  return all.some(
    other =>
      (other.state.kind === 'applied' || isOpen(other)) &&
      other.undoes?.includes(id) &&
      !isUndone(other, all),
  );
}

/** One change for each path where several follow each other. */
function withoutDetours(changes: readonly FileChange[]): readonly FileChange[] {
  const paths = changes.flatMap(stepsOf).map(({ path }) => path);
  if (new Set(paths).size === paths.length) return changes;
  return composedSteps(changes).flatMap(({ path, before, after }) => changeOf(path, before, after) ?? []);
}

function inverse(change: FileChange): FileChange {
  switch (change.kind) {
    case 'modify':
      return { kind: 'modify', path: change.path, before: change.after, after: change.before };
    case 'create':
      return { kind: 'delete', path: change.path, before: change.after, after: null };
    case 'delete':
      return { kind: 'create', path: change.path, before: null, after: change.before };
    case 'rename':
      return { ...change, path: change.from, from: change.path, before: change.after, after: change.before };
  }
}
