import type { ForeignFile } from '../../hold/external/foreignChange.ts';
import type { LeftOut } from '../../hold/external/gathered.ts';
import type { MountedFolder, TerminalAccess } from '../view/bubblewrap.ts';
import type { Folders } from '../view/pathNames.ts';

/** The mounts of a view. */
export interface ViewMounts extends Pick<TerminalAccess, 'shown' | 'readable'> {
  readonly storage: string;
  readonly folders: readonly MountedFolder[];
  readonly links: readonly (readonly [link: string, target: string])[];
  /** Where the program works instead, if it works in copies: then nothing is mounted. */
  readonly copies: readonly Folders[];
}

/** The changes in a view since the last accepted collection. */
export interface Collected {
  readonly effects: readonly ForeignFile[];
  readonly leftOut: readonly LeftOut[];
  /** The program changed more than one review can hold: folders of `bulk`, or all changes if it is empty, stay in the view. */
  readonly isTooMuch: boolean;
  /** Workspace paths of folders with more files than can be reviewed at once. */
  readonly bulk: readonly string[];
  /** Workspace paths of ignored files that the program wrote, and that stay in the view. */
  readonly ignored: readonly string[];
  /** Workspace paths of ignored files that the program wrote, and that are collected at its end. */
  readonly offered: readonly string[];
  /** Workspace paths of changed settings that git ignores, which may hold secrets. */
  readonly settings: readonly string[];
  /** Number of commits that the program has made in the view. They stay there. */
  readonly commits: number;
  /** A repository was removed in the view. The real one is as it was. */
  readonly lostGit: boolean;
  /** Workspace paths of files that are not in `effects` yet, since they are still being written. */
  readonly busy: readonly string[];
  /** Sentences for the agent on `effects`. */
  readonly notes: readonly string[];
}

/** Workspace paths that are told without a change: see {@link Collected}. */
export type NamesToTell = Record<'busy' | 'bulk' | 'ignored' | 'offered' | 'settings', string[]>;

/** All but the files. */
export type CollectedFacts = Omit<Collected, 'effects' | 'leftOut' | 'settings'>;

export const NO_FACTS: CollectedFacts = {
  isTooMuch: false,
  bulk: [],
  ignored: [],
  offered: [],
  commits: 0,
  lostGit: false,
  busy: [],
  notes: [],
};

/** The collected changes, and the way to accept them. */
export interface Collection extends Collected {
  /**
   * Marks the files as known. Until then, the same changes are collected again.
   * @param stage makes previews of them, once nothing can fail any more for lack of space
   */
  accept(stage: () => Promise<void>): Promise<void>;
}
