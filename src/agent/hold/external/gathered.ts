import type { FileChange } from '../preview/fileChange.ts';
import { stepsOf } from '../preview/fileSteps.ts';

/** The most files that are brought into review at once. */
export const MAX_FILES = 2_000;
/** Most content of one review, in bytes: both sides of all files together. */
export const MAX_TOTAL_BYTES = 50 * 1024 * 1024;
/** A preview of more files than this is hard to review and to decide, so each top-level folder gets its own. */
const MAX_FILES_OF_ONE = 200;

/** Why a file, or something about it, is not in the previews. A view has a sentence for each. */
export type LeftOutReason =
  | 'binary'
  | 'link'
  | 'submodule'
  /** A git worktree that was made among these files. */
  | 'worktree'
  /** Outside the workspace folders. */
  | 'outside'
  /** One of git's own files, or not the name of a file. */
  | 'path'
  | 'tooLarge'
  /** Only the permission bits are not carried; the text is. */
  | 'mode'
  /** Git cannot write it as it would be on disk: a filter is missing or fails. */
  | 'converted'
  /** Not a file: a folder or a device. */
  | 'notAFile'
  /** Git has never fetched its content, as in a partial clone. */
  | 'notFetched'
  /** Git leaves it out of the working tree, as in a sparse checkout. */
  | 'sparse'
  | 'unreadable'
  /** Hunks of a patch that fit nowhere; `detail` is their text. */
  | 'hunks'
  /** There is no file here that the patch could change. */
  | 'missing'
  /** The patch creates a file that is here already with other content. */
  | 'exists'
  /** The file here is not the one that the patch deletes, renames or copies. */
  | 'differs'
  /** A part of the patch that cannot be understood. */
  | 'malformed'
  /** A combined diff, which compares a merge with each of its parents. */
  | 'combined'
  /** It only makes sense together with another part of the patch, which is left out. */
  | 'together'
  /** The file has changes in an editor that are not saved. */
  | 'unsaved'
  /** The staged content differs from the file. */
  | 'staged'
  /** A merge is under way there. */
  | 'merging'
  /** The file has lost the applied change, or was changed in the same lines since. */
  | 'changed'
  /** It changes lines that are not staged, or beside such lines. */
  | 'overlaps';

/** A change that is not in the previews, to be reported to the person. */
export interface LeftOut {
  /** As its source names it. */
  readonly path: string;
  readonly why: LeftOutReason;
  readonly detail?: string;
}

/** External changes, as changes of the files here. */
export interface Gathered {
  readonly changes: readonly FileChange[];
  /** Changes that need a decision: conflict markers in the proposal, and files changed here and deleted there or the reverse. */
  readonly conflicts: readonly FileChange[];
  readonly leftOut: readonly LeftOut[];
}

/** There is more than can be brought into review at once. */
export class TooMuchError extends Error {
  override readonly name = 'TooMuchError';
}

/** Counts content and files. */
export class Allowance {
  #bytes = 0;

  /** @throws TooMuchError past {@link MAX_FILES}. */
  constructor(files: number) {
    if (files > MAX_FILES) throw new TooMuchError(`${files} files`);
  }

  /** @throws TooMuchError past {@link MAX_TOTAL_BYTES}. */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > MAX_TOTAL_BYTES) throw new TooMuchError(`${this.#bytes} bytes`);
  }
}

/** Groups the changes into one preview, or into one for each top-level folder if there are many. */
export function inPreviews(changes: readonly FileChange[]): readonly (readonly FileChange[])[] {
  if (changes.length <= MAX_FILES_OF_ONE) return changes.length === 0 ? [] : [changes];
  const groups = new Map<string, FileChange[]>();
  for (const change of changes) {
    const [top = '', ...rest] = change.path.split('/');
    const key = rest.length === 0 ? '' : top;
    groups.set(key, [...(groups.get(key) ?? []), change]);
  }
  // A rename may leave one folder's file in another's way: then they must be decided together.
  return areIndependent([...groups.values()]) ? [...groups.values()] : [changes];
}

function areIndependent(groups: readonly (readonly FileChange[])[]): boolean {
  const owner = new Map<string, number>();
  return groups.every((group, n) =>
    group.flatMap(stepsOf).every(({ path }) => {
      const known = owner.get(path) ?? n;
      owner.set(path, known);
      return known === n;
    }),
  );
}
