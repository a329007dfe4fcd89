import { setOf } from './changeSet.ts';
import { carryModes, carryRights } from './commit/rollbackInfo.ts';
import { changeOf, isLink, type FileChange } from './fileChange.ts';
import { foldersAbove, foldersRemovedBy, stepsOf, touchedSteps } from './fileSteps.ts';
import { counted } from './label.ts';
import type { PendingAction } from './pendingAction.ts';
import { titleOf, type Preview, type PreviewState } from './preview.ts';
import { Lineage } from './resolve/lineage.ts';
import type { FileRights } from './workspace.ts';

/**
 * Changes that undo these, the last one first.
 * @param found the state that the apply found: permission bits of files that it removed, and folders that it made.
 */
export function inverseOf(changes: readonly FileChange[], found: Found = {}): readonly FileChange[] {
  // Several files may have been at one path, one after the other: each gets its own bits back.
  const held = new Map(Object.entries(found.modes ?? {}));
  const heldRights = new Map(Object.entries(found.rights ?? {}));
  return changes
    .map(change => {
      let mode: number | undefined;
      carryModes([change], held, (_path, had) => (mode = had));
      let rights: FileRights | undefined;
      carryRights([change], heldRights, (_path, had) => (rights = had));
      return inverse(change, { mode, rights }, found.newFolders);
    })
    .reverse();
}

type Found = Pick<Extract<PreviewState, { kind: 'applied' }>, 'modes' | 'rights' | 'newFolders'>;

function foundBy({ state }: Preview): Found {
  return state.kind === 'applied' ? state : {};
}

/**
 * The action that stages a discarded preview again; `undefined` if it was not discarded, or has no file changes: then its
 * producer's callback is gone.
 */
export function reopenAction(preview: Preview): PendingAction | undefined {
  if (preview.kind !== 'files' || preview.state.kind !== 'discarded') return undefined;
  const {
    label,
    labelParts,
    title,
    modelTitle,
    sourceToolName,
    purpose,
    humanOnly,
    changes,
    details,
    undoes,
  } = preview;
  return {
    label,
    sourceToolName,
    changes,
    ...(labelParts ? { labelParts } : {}),
    ...(title === undefined ? {} : { title }),
    ...(modelTitle === undefined ? {} : { modelTitle }),
    ...(purpose ? { purpose } : {}),
    ...(humanOnly ? { humanOnly } : {}),
    ...(details === undefined ? {} : { details }),
    ...(undoes ? { undoes } : {}),
    reopens: preview.id,
    changeSet: setOf(preview),
    ...rootsOf(preview),
    ...concernsSameAs(preview),
  };
}

/** The action that undoes an applied preview; `undefined` if it was not applied, or has no file changes. */
export function undoAction(preview: Preview): PendingAction | undefined {
  if (preview.kind !== 'files' || preview.state.kind !== 'applied') return undefined;
  return {
    label: `Undo: ${preview.label}`,
    title: l10n => l10n.t('Undo: {0}', titleOf(preview)),
    ...(preview.modelTitle === undefined ? {} : { modelTitle: `Undo: ${preview.modelTitle}` }),
    sourceToolName: preview.sourceToolName,
    changes: inverseOf(preview.changes, foundBy(preview)),
    ...(preview.purpose ? { purpose: preview.purpose } : {}),
    ...(preview.humanOnly ? { humanOnly: true } : {}),
    undoes: [preview.id],
    ...rootsOf(preview),
    ...concernsSameAs(preview),
  };
}

/** The paths of a copy are relative to the folders of its original, even if others are open. */
function rootsOf({ roots }: Preview): Pick<PendingAction, 'roots'> {
  return roots ? { roots } : {};
}

/** A copy concerns the conversation of its original, even if another one is open. */
function concernsSameAs({ origin }: Preview): Pick<PendingAction, 'sessionId' | 'agent'> {
  if (!origin) return {};
  const { sessionId, agent } = origin;
  return agent ? { sessionId, agent } : { sessionId };
}

/**
 * The action that undoes, as one transaction, everything that these previews applied and that has not been undone yet; `undefined`
 * if there is nothing to undo.
 * @param previews those of one branch of the conversation, in the order in which they were applied.
 * @param all every preview of the store, including those that undo others.
 * @param of the branch that was abandoned, or the turn, that they belong to.
 */
export function undoBranchAction(
  previews: readonly Preview[],
  all: readonly Preview[],
  sourceToolName: string,
  of: 'branch' | 'turn',
): PendingAction | undefined {
  // Other effects of an applied action or plan cannot be undone, so it does not count as undone either.
  const lineage = new Lineage(all);
  const applied = previews
    .filter(preview => preview.kind === 'files')
    .filter(preview => preview.state.kind === 'applied' && !lineage.isUndone(preview));
  const undone = applied.toReversed();
  const changes = combined(
    undone.flatMap(preview => inverseOf(preview.changes, foundBy(preview))),
    // The earliest one counts.
    new Map(undone.flatMap(preview => Object.entries(foundBy(preview).modes ?? {}))),
    new Map(undone.flatMap(preview => Object.entries(foundBy(preview).rights ?? {}))),
  );
  if (changes.length === 0) return undefined;
  return {
    ...counted(
      'Undo ',
      { noun: 'change', count: changes.length },
      ` of ${of === 'turn' ? 'one turn' : 'the abandoned branch'}`,
    ),
    title: l10n =>
      of === 'turn'
        ? l10n.t('Undo what was applied in one turn')
        : l10n.t('Undo what was applied on the abandoned branch'),
    sourceToolName,
    changes,
    undoes: applied.map(({ id }) => id),
    ...(undone[0] ? rootsOf(undone[0]) : {}),
  };
}

/**
 * Combines the changes into one per path, if any path is changed more than once.
 * @param modes the permission bits of files that are there again afterwards, by path.
 * @param rights their rights, likewise.
 */
function combined(
  changes: readonly FileChange[],
  modes: ReadonlyMap<string, number>,
  rights: ReadonlyMap<string, FileRights>,
): readonly FileChange[] {
  const paths = changes.flatMap(stepsOf).map(({ path }) => path);
  if (new Set(paths).size === paths.length) return changes;
  const bitsAt = carriedBits(changes);
  const folders = foldersRemovedBy(changes);
  return touchedSteps(changes).flatMap(({ path, before, after }): readonly FileChange[] => {
    const bits = bitsAt(path);
    const isAnother = !before || isLink(before) || bits === 'of another file';
    const mode = typeof bits === 'number' ? bits : isAnother ? modes.get(path) : undefined;
    const change = changeOf(path, before, after);
    if (change?.kind === 'rename') return [];
    if (change?.kind === 'delete') return [{ ...change, ...foldersOf(path, folders) }];
    const own = change?.kind === 'create' ? rights.get(path) : undefined;
    if (change)
      return [{ ...change, ...(mode === undefined ? {} : { mode }), ...(own ? { rights: own } : {}) }];
    // Another file with the same content, which may have other bits.
    if (!before || !after || isLink(after) || mode === undefined) return [];
    return [{ kind: 'modify', path, before, after, mode }];
  });
}

/**
 * Returns a function that gives a file's permission bits after these changes if they set them, or `'of another file'` if the file
 * had another path before; else `undefined`.
 */
function carriedBits(
  changes: readonly FileChange[],
): (path: string) => number | 'of another file' | undefined {
  const paths = [...new Set(changes.flatMap(stepsOf).map(({ path }) => path))];
  // In place of the bits, which are not known yet, each file carries a number that no bits have.
  const carried = carryModes(changes, new Map(paths.map((path, at) => [path, -1 - at])));
  return path => {
    const bits = carried.get(path);
    if (bits === undefined || bits >= 0) return bits;
    return paths[-1 - bits] === path ? undefined : 'of another file';
  };
}

/** The folders above the path, as a change has them. */
function foldersOf(path: string, folders: readonly string[] = []): { readonly folders?: readonly string[] } {
  const above = foldersAbove(path).filter(folder => folders.includes(folder));
  return above.length > 0 ? { folders: above } : {};
}

/** @param had the bits and rights of the file that the change removed, or whose bits it set. */
function inverse(
  change: FileChange,
  { mode, rights }: { readonly mode: number | undefined; readonly rights: FileRights | undefined },
  newFolders: Found['newFolders'],
): FileChange {
  const { path } = change;
  const withMode = mode === undefined ? {} : { mode };
  switch (change.kind) {
    case 'modify':
      return {
        kind: 'modify',
        path,
        before: change.after,
        after: change.before,
        // The bits of a file that became a link were taken from it.
        ...(change.mode === undefined && !isLink(change.after) ? {} : withMode),
      };
    case 'create':
      return { kind: 'delete', path, before: change.after, after: null, ...foldersOf(path, newFolders) };
    case 'delete':
      return {
        kind: 'create',
        path,
        before: null,
        after: change.before,
        ...withMode,
        ...(rights ? { rights } : {}),
      };
    case 'rename': {
      const sides = { before: change.after, after: change.before };
      return { kind: 'rename', path: change.from, from: path, ...sides, ...foldersOf(path, newFolders) };
    }
  }
}
