import { ToolError } from '../../base/errors.ts';
import { pathsOf, type Preview } from '../preview.ts';
import { conflictPaths } from '../rebase/conflictMarkers.ts';
import type { ResolvingFiles } from './invoker.ts';
import { openConflictsText, outdatedVoteText } from './resolveTexts.ts';

/** Refuses a vote on a revision that is no longer current. */
export function refuseOutdated(preview: Preview, seen: number | undefined): void {
  if (seen !== undefined && seen !== preview.revision) throw new ToolError(outdatedVoteText(preview, seen));
}

/** Refuses to apply previews with conflict markers that a rebase left. */
export function refuseConflicts(group: readonly Preview[]): void {
  for (const preview of group) {
    const paths = conflictPaths(preview.changes ?? []);
    if (paths.length > 0) throw new ToolError(openConflictsText(preview, paths));
  }
}

/** Refuses to write to any other place than the one that was shown, since other folders are open now. */
export function refuseElsewhere(
  group: readonly Preview[],
  files: Pick<ResolvingFiles, 'formerPlaces'>,
): void {
  for (const preview of group) {
    const { roots } = preview;
    if (!roots) continue;
    for (const [path, place] of files.formerPlaces(pathsOf(preview), roots))
      throw new ToolError(`Nothing was written: ${elsewhereText(path, place)}`, {
        advice: 'Ask the user to open it as before, or discard this preview.',
      });
  }
}

/** Says that a path leads elsewhere than when it was proposed. @param place where it led then. */
export function elsewhereText(path: string, place: string): string {
  return `${path} was ${place} when this was proposed. That folder is not open any more, or has another name.`;
}
