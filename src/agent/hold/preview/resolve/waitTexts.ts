import { quoted } from '../../../base/safeName.ts';
import { listed } from '../../../base/phrases.ts';
import { isStale, type Preview } from '../preview.ts';
import { conflictPaths } from '../rebase/conflictMarkers.ts';
import type { ModelAuthority } from '../resolveSettings.ts';
import { idsOf } from './resolveTexts.ts';

/**
 * The line before the result of a tool call that staged something.
 * @param who `userReviews`: the model has no vote at all, as in Manual mode; `usersAlone`: those on which it cannot decide in any mode,
 *   since they run something, or change a protected file.
 */
export function stagedText(
  previews: readonly Preview[],
  {
    userReviews,
    usersAlone = [],
  }: { readonly userReviews: boolean; readonly usersAlone?: readonly Preview[] },
): string {
  const named = usersAlone.length < previews.length ? idsOf(usersAlone) : 'it';
  const who = userReviews
    ? ' The user reviews it.'
    : usersAlone.length > 0
      ? ` Only the user decides on ${named}; you will be told the outcome.`
      : '';
  return `Staged as ${idsOf(previews)}, no file modified yet.${buildsOnText(previews)}${who}`;
}

/** ` Builds on the pending preview p1.`; empty if they build on no others. */
export function buildsOnText(previews: readonly Preview[]): string {
  const own = new Set(previews.map(preview => preview.id));
  const beneath = [...new Set(previews.flatMap(preview => preview.dependsOn))].filter(id => !own.has(id));
  if (beneath.length === 0) return '';
  return ` Builds on the pending ${beneath.length === 1 ? 'preview' : 'previews'} ${beneath.join(', ')}.`;
}

/** Facts that {@link waitText} needs beyond the preview. */
export interface WaitFacts {
  readonly authority: ModelAuthority;
  /** Whether only the user can apply it, in every mode. */
  readonly isUsersAlone: boolean;
  /** The ids of the previews that must be applied first. */
  readonly blockers: readonly string[];
  /** If it is stale: the previews beneath that were not applied, if that is why. */
  readonly lost: readonly string[];
}

/** Tells the model who must decide on an open preview, and what the model can do meanwhile. */
export function waitText(preview: Preview, { authority, isUsersAlone, blockers, lost }: WaitFacts): string {
  const { state, editedByUser, origin } = preview;
  if (state.kind !== 'pending') return 'is being resolved right now';
  const conflicts = conflictPaths(preview.changes ?? []);
  if (conflicts.length > 0) return `the user must settle the conflicts in ${listed(conflicts)}`;
  if (isStale(preview))
    return lost.length > 0
      ? `stale, since ${listed(lost)}, on which it builds, ${lost.length === 1 ? 'was' : 'were'} not applied`
      : `stale, since ${listed(state.stale)} changed`;
  const failed =
    state.lastError === undefined ? '' : `the last attempt failed (${quoted(state.lastError)}); `;
  const after = blockers.length === 0 ? '' : `${listed(blockers)} must be applied first; `;
  return `${failed}${after}${whoDecides()}`;

  function whoDecides(): string {
    if (editedByUser) return 'the user edited it and decides';
    if (origin?.asksModel !== true) return 'the user asked for it and decides';
    if (isUsersAlone) return 'only the user decides';
    if (authority === 'none') return 'the user decides';
    const vote = state.kind === 'pending' ? state.recommendation?.action : undefined;
    return vote === undefined ? 'waits for your vote' : `you recommended to ${vote} it, and the user decides`;
  }
}

/**
 * The line before the result of a tool call that amended a preview.
 * @param above the previews that build on it, which are rebased.
 * @param vote whether the model had voted on it, or has no vote, as in Manual mode.
 */
export function amendedText(
  { id, revision }: Preview,
  above: readonly string[],
  vote: 'none' | 'open' | 'outdated',
): string {
  const [verb, be] = above.length === 1 ? ['builds', 'is'] : ['build', 'are'];
  const moved =
    above.length === 0 ? '' : ` ${listed(above)}, which ${verb} on it, ${be} rebased or stale now.`;
  const then = {
    none: ' The user reviews it.',
    open: '',
    outdated: ' Your earlier vote on it no longer counts.',
  };
  return `${id} is now at revision ${revision}, no file modified yet.${then[vote]}${moved}`;
}
