import { safeName } from '../../../base/safeName.ts';
import { RefusedVoteError } from '../errors.ts';
import { isLink } from '../fileChange.ts';
import { pathsOf, type Preview } from '../preview.ts';
import type { PreviewStore } from '../previewStore.ts';
import type { FolderRoot, Workspace } from '../workspace.ts';
import { conflictPaths } from '../rebase/conflictMarkers.ts';
import type { ResolveRequest } from './resolved.ts';
import { openConflictsText, outdatedVoteText, unknownPreviewText } from './resolveTexts.ts';

/** How old the knowledge of links that give files other names may be, see {@link ResolvingFiles.isProtected}. */
export type Look = 'lately' | object;

/** The parts of the workspace that resolving uses. */
export interface ResolvingFiles extends Workspace {
  /**
   * Whether only the user may apply a change of one of these files, in every mode. All names of a file count: the given path, its
   * real path, and paths through links.
   * @param look which links count, since finding them reads the whole workspace: the current ones; those of half a minute ago
   *   (`lately`); or, for an object, those when it was first passed, at most half a minute old then.
   */
  isProtected(paths: readonly string[], look?: Look): Promise<boolean>;
  /** Workspace paths that led elsewhere while these folders were open, with the absolute paths that they led to then. */
  formerPlaces(paths: readonly string[], roots: readonly FolderRoot[]): ReadonlyMap<string, string>;
  /** The folders that are open now. */
  folderRoots(): readonly FolderRoot[];
}

/** Returns the preview; refuses a vote on one that never existed, or was forgotten after it was resolved. */
export function knownPreview(store: PreviewStore, id: string): Preview {
  const preview = store.get(id);
  if (!preview) throw new RefusedVoteError('unknown', unknownPreviewText(id));
  return preview;
}

/** Refuses a vote on a revision that is no longer current. */
export function refuseOutdated(preview: Preview, seen: number | undefined): void {
  if (seen !== undefined && seen !== preview.revision)
    throw new RefusedVoteError('outdated', outdatedVoteText(preview, seen));
}

/** Refuses to apply previews with conflict markers that a rebase left. */
export function refuseConflicts(group: readonly Preview[]): void {
  for (const preview of group) {
    const paths = conflictPaths(preview.changes ?? []);
    if (paths.length > 0) throw new RefusedVoteError('conflicts', openConflictsText(preview, paths), paths);
  }
}

/** Refuses to write to a place other than the one shown because other folders are open now. */
export function refuseElsewhere(group: readonly Preview[], files: ResolvingFiles): void {
  for (const preview of group) {
    const { roots } = preview;
    if (!roots) continue;
    for (const [path, place] of files.formerPlaces(pathsOf(preview), roots))
      throw new RefusedVoteError(
        'elsewhere',
        `Nothing was written: ${elsewhereText(path, place)}`,
        [path],
        'Ask the user to open it as before, or discard this preview.',
      );
  }
}

/** Says that a path leads elsewhere than when it was proposed. @param place where it led then. */
export function elsewhereText(path: string, place: string): string {
  return `${safeName(path)} was ${safeName(place)} when this was proposed. That folder is not open any more, or has another name.`;
}

/** Whether a pending preview of files has no stale path and no conflict, judged from it alone: an apply also reads the files. */
export function isApplicable({ kind, state, changes }: Preview): boolean {
  return (
    kind === 'files' &&
    state.kind === 'pending' &&
    state.stale.length === 0 &&
    conflictPaths(changes).length === 0
  );
}

/** A link may lead anywhere, and programs that read or write there follow it: only the user may make one. */
export function makesLink({ changes }: Preview): boolean {
  return changes?.some(({ after }) => after !== null && isLink(after)) === true;
}

/** One call that votes on several previews looks at the links of the workspace once. */
export function lookOf(request: ResolveRequest): Look {
  return request.voteOn ?? request;
}
