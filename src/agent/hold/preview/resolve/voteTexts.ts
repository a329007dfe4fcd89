import { listed } from '../../../base/phrases.ts';
import { namesOf, type Preview, type ResolveAction } from '../preview.ts';
import { unprovedText } from './checkTexts.ts';
import type { Unproved } from './proof.ts';

/** The result of one vote that was carried out on several previews. */
export function votedText(
  done: 'Applied' | 'Discarded',
  previews: readonly Preview[],
  reason: string,
  unsaved: readonly string[] = [],
): string {
  return `${done}: ${namesOf(previews)}. Reason: ${reason}${unsavedText(unsaved)}`;
}

/** The result of applying previews: the requested one, after those that it builds on. */
export function appliedText(group: readonly Preview[], reason: string, unsaved: readonly string[]): string {
  return votedText('Applied', group, reason, unsaved);
}

export function unsavedText(unsaved: readonly string[] = []): string {
  if (unsaved.length === 0) return '';
  return ` Not on disk until the user saves, since the editor has other unsaved changes: ${listed(unsaved)}.`;
}

/**
 * The result of votes that were only recorded.
 * @param planning the model's vote, if it is only recorded because plan mode is on
 * @param unproved why it is only recorded, in the mode in which checks must pass
 * @param isUnread whether the model was not shown all of the diff
 */
export function recommendedText(
  previews: readonly Preview[],
  planning?: ResolveAction,
  unproved?: Unproved,
  isUnread = false,
): string {
  if (unproved) return unprovedText(unproved);
  const names = namesOf(previews);
  const [recommendation, it, they] =
    previews.length === 1
      ? ['recommendation for', 'it', 'it has']
      : ['recommendations for', 'them', 'they have'];
  const recorded =
    planning === undefined
      ? `Your ${recommendation} ${names} ${previews.length === 1 ? 'is' : 'are'} recorded${isUnread ? ', with the remark that you were not shown all of the diff' : ''}.`
      : `Plan mode is on, so your vote to ${planning} ${names} is only recorded, as a recommendation.`;
  return `${recorded} The user decides; ${they} changed nothing yet. Do not resolve ${it} again: you will be told the outcome.`;
}
