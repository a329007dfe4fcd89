import { carryModes, carryRights } from './commit/rollbackInfo.ts';
import { foldersAbove, stepsOf } from './fileSteps.ts';
import type { LedgerEntry } from './ledger.ts';
import type { Preview, PreviewState } from './preview.ts';
import type { FileRights } from './workspace.ts';

export type Pending = Extract<PreviewState, { kind: 'pending' }>;

/** The part of a state that a pending preview keeps. */
export function pendingPart(state: PreviewState): Pending {
  return state.kind === 'pending' ? state : { kind: 'pending', stale: [] };
}

/** State of the disk right before a preview is applied. */
interface Found {
  /** Permission bits by path; {@link stateAfter} updates them to those after the apply. */
  readonly held: Map<string, number>;
  /** Their rights, likewise. */
  readonly rights: Map<string, FileRights>;
  readonly newFolders: readonly string[];
}

/** The state of a preview after an attempt on it. */
export function stateAfter(preview: Preview, attempt: LedgerEntry, found: Found): PreviewState {
  const { actor, reason, at, message } = attempt;
  switch (attempt.outcome) {
    case 'applied':
    case 'returnedError':
      return { kind: 'applied', by: { actor, reason, at }, ...forUndo(preview, found) };
    case 'discarded':
      return { kind: 'discarded', by: { actor, reason, at } };
    case 'failed':
      return { ...pendingPart(preview.state), ...(message === undefined ? {} : { lastError: message }) };
  }
}

/** Data for undoing the preview beyond its changes. */
function forUndo(
  { changes }: Preview,
  { held, rights, newFolders }: Found,
): Pick<Extract<PreviewState, { kind: 'applied' }>, 'modes' | 'rights' | 'newFolders'> {
  const modes: [string, number][] = [];
  carryModes(changes ?? [], held, (path, mode) => modes.push([path, mode]));
  const left: [string, FileRights][] = [];
  carryRights(changes ?? [], rights, (path, had) => left.push([path, had]));
  const created = (changes ?? []).flatMap(stepsOf).filter(({ before }) => !before);
  const above = new Set(created.flatMap(({ path }) => foldersAbove(path)));
  const made = newFolders.filter(folder => above.has(folder));
  return {
    // If a file was removed twice, the first removal counts: an undo brings that file back in the end.
    ...(modes.length > 0 ? { modes: Object.fromEntries(modes.toReversed()) } : {}),
    ...(left.length > 0 ? { rights: Object.fromEntries(left.toReversed()) } : {}),
    ...(made.length > 0 ? { newFolders: made } : {}),
  };
}
