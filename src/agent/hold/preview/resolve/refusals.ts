import { safeName } from '../../../base/safeName.ts';
import { RefusedVoteError } from '../errors.ts';
import { isLink } from '../fileChange.ts';
import { pathsOf, type Preview } from '../preview.ts';
import type { PreviewStore } from '../previewStore.ts';
import type { FolderRoot, Workspace } from '../workspace.ts';
import { conflictPaths } from '../rebase/conflictMarkers.ts';
import type { ResolveRequest } from './resolved.ts';
import { openConflictsText, outdatedVoteText, unknownPreviewText } from './resolveTexts.ts';

/** How old the links may be that give files other names, see {@link ResolvingFiles.isProtected}. */
export type Look = 'lately' | object;

/** The parts of the workspace that resolving uses. */
export interface ResolvingFiles extends Workspace {
  /**
   * Whether only the user may apply a change of one of these files, in every mode. All names of a file count: the given path,
   * its real path, and paths through links.
   * @param look which links count, since the whole workspace is read to find them: those that there are now; those of
   *   half a minute ago (`lately`); or, for an object, those when it was asked with first, of half a minute ago at most.
   */
  isProtected(paths: readonly string[], look?: Look): Promise<boolean>;
  /** Those of the workspace paths that led elsewhere while these folders were open, and where: absolute paths. */
  formerPlaces(paths: readonly string[], roots: readonly FolderRoot[]): ReadonlyMap<string, string>;
  /** The folders that are open now. */
  folderRoots(): readonly FolderRoot[];
}

/** Refuses a vote on a preview that there never was, or that has been forgotten since it was resolved. */
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

/** Refuses to write to any other place than the one that was shown, since other folders are open now. */
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

/** Whether a pending preview of files can be applied as it is: no base has changed, and no conflict is left in it. */
export function isApplicable({ kind, state, changes }: Preview): boolean {
  return (
    kind === 'files' &&
    state.kind === 'pending' &&
    state.stale.length === 0 &&
    conflictPaths(changes).length === 0
  );
}

/** A link may lead anywhere, and whoever reads or writes there follows it: only the user may make one. */
export function makesLink({ changes }: Preview): boolean {
  return changes?.some(({ after }) => after !== null && isLink(after)) === true;
}

/** One call that votes on several previews looks at the links of the workspace once. */
export function lookOf(request: ResolveRequest): Look {
  return request.voteOn ?? request;
}
