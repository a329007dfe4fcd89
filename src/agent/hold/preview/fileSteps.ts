import { isLink, type FileChange, type FileStep } from './fileChange.ts';

/** A change as steps on single paths: two for a rename, one for any other. */
export function stepsOf(change: FileChange): readonly FileStep[] {
  if (change.kind !== 'rename') return [{ path: change.path, before: change.before, after: change.after }];
  return [
    { path: change.from, before: change.before, after: null },
    { path: change.path, before: null, after: change.after },
  ];
}

/** Net effect of a sequence of changes on each path: its content before the first and after the last of them. */
export function composedSteps(changes: readonly FileChange[]): readonly FileStep[] {
  return touchedSteps(changes).filter(({ before, after }) => before?.hash !== after?.hash);
}

/** Like {@link composedSteps}, with the paths that hold the same content afterwards. */
export function touchedSteps(changes: readonly FileChange[]): readonly FileStep[] {
  const steps = new Map<string, FileStep>();
  for (const step of changes.flatMap(stepsOf)) {
    const earlier = steps.get(step.path);
    steps.set(step.path, earlier ? { ...earlier, after: step.after } : step);
  }
  for (const [path, from] of carry(changes, new Map([...steps.keys()].map(each => [each, each])))) {
    const [step, left] = [steps.get(path), steps.get(from)];
    if (!step || step.before || !step.after || !left?.before || left.after) continue;
    steps.set(path, { ...step, origin: { path: from, side: left.before } });
    steps.set(from, { ...left, moved: step.after });
  }
  return [...steps.values()];
}

/**
 * Carries facts about files besides their content through these changes, by path.
 * @param held the values before; it is changed.
 * @param given the value that a change itself gives its file.
 * @param onLeft called with each file that a change removes, renames or gives another value, and its old value.
 */
export function carry<T>(
  changes: readonly FileChange[],
  held: Map<string, T>,
  given: (change: FileChange) => T | undefined = () => undefined,
  onLeft: (path: string, had: T) => void = () => undefined,
): Map<string, T> {
  for (const change of changes) {
    const { kind, path } = change;
    const from = kind === 'rename' ? change.from : path;
    const had = held.get(from);
    const isLost = kind === 'delete' || losesBits(change);
    const next = kind === 'rename' ? had : isLost ? undefined : given(change);
    if (kind === 'modify' && next === undefined && !isLost) continue;
    if (kind !== 'create' && had !== undefined) onLeft(from, had);
    held.delete(from);
    if (next === undefined) held.delete(path);
    else held.set(path, next);
  }
  return held;
}

/** Whether a file becomes a link, which has no bits. */
export function losesBits({ before, after }: FileChange): boolean {
  return before !== null && after !== null && !isLink(before) && isLink(after);
}

/** The folders that the changes remove once they are empty. */
export function foldersRemovedBy(changes: readonly FileChange[]): readonly string[] {
  return [...new Set(changes.flatMap(change => ('folders' in change ? (change.folders ?? []) : [])))];
}

/** The folders that these steps remove files from, as paths. */
export function emptiedFolders(steps: readonly FileStep[]): ReadonlySet<string> {
  return new Set(steps.filter(step => !step.after).flatMap(({ path }) => foldersAbove(path)));
}

/** The folders of a workspace path, as paths, the innermost first. */
export function foldersAbove(path: string): readonly string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, i) => parts.slice(0, parts.length - 1 - i).join('/'));
}

/**
 * Files that no longer exist after these changes, with the path to which their content was renamed; `undefined` where it was
 * deleted.
 */
export function goneFiles(changes: readonly FileChange[]): ReadonlyMap<string, string | undefined> {
  const moved = new Map<string, string | undefined>();
  /** Original path of the content at each path. */
  const origins = new Map<string, string>();
  for (const change of changes) {
    if (change.kind !== 'rename' && change.kind !== 'delete') continue;
    const [from, to] = change.kind === 'rename' ? [change.from, change.path] : [change.path, undefined];
    const origin = origins.get(from) ?? from;
    origins.delete(from);
    moved.set(origin, to);
    if (to !== undefined) origins.set(to, origin);
  }
  const gone = composedSteps(changes).filter(({ before, after }) => before && !after);
  return new Map(gone.map(({ path }) => [path, moved.get(path)]));
}
