import type { FileChange } from '../fileChange.ts';
import { carry } from '../fileSteps.ts';
import type { FileRights } from '../workspace.ts';

/** Permission bits by path. */
export type Modes = Readonly<Record<string, number>>;

/** Data that a rollback needs beyond the file changes. It is written to the journal before the first file is. */
export interface RollbackInfo {
  /** The missing folders above files that a change of the commit creates, as workspace paths, the outermost first. */
  readonly newFolders: readonly string[];
  /** Bits of the files that a change of the commit removes or whose bits it sets, even if another change creates them again. */
  readonly modes: Modes;
  /** Rights of the same files, if they are not those of new files. */
  readonly rights?: Readonly<Record<string, FileRights>>;
  /** The bits of the folders that the commit may remove. */
  readonly folderModes?: Modes;
  /** Files whose change goes into an editor with unsaved changes, and not to the disk. */
  readonly editors?: readonly string[];
}

/**
 * Permission bits that files have after these changes, as far as the changes carry or set them. Bits that a change removes or
 * overwrites with others are taken out of `held`, which begins with the bits on disk.
 * @param onRemoved called with each file that a change removes, or whose bits it sets, and the bits that it had.
 */
export function carryModes(
  changes: readonly FileChange[],
  held: Map<string, number>,
  onRemoved: (path: string, mode: number) => void = () => undefined,
): ReadonlyMap<string, number> {
  return carry(changes, held, change => ('mode' in change ? change.mode : undefined), onRemoved);
}

/** The same for the rights of files. */
export function carryRights(
  changes: readonly FileChange[],
  held: Map<string, FileRights>,
  onRemoved?: (path: string, rights: FileRights) => void,
): ReadonlyMap<string, FileRights> {
  return carry(changes, held, change => (change.kind === 'create' ? change.rights : undefined), onRemoved);
}

/** Rights that files get after these changes: those of renamed files, and those that are restored. */
export function rightsAfter(
  changes: readonly FileChange[],
  { rights = {} }: RollbackInfo,
): Readonly<Record<string, FileRights>> {
  return Object.fromEntries(carryRights(changes, new Map(Object.entries(rights))));
}

/** Says that two paths are names of one file. */
export function oneFileText(a: string, b: string): string {
  const [first, second] = [a, b].sort();
  return `${first} and ${second} are two names of one file, which can only be changed under one of them.`;
}
