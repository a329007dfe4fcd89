import { listed } from '../../../base/phrases.ts';
import { nameOf, namesOf, type Preview } from '../preview.ts';
import type { ShownDiff } from '../shownDiffs.ts';
import { NOTHING_PENDING } from './resolveTexts.ts';

/** Answers a `resolve` that would have submitted a plan. */
export const PLAN_MODE_ENDED =
  'Plan mode was switched off before this arrived, so no plan was submitted. Nothing was changed. Call resolve with the id of a preview to resolve it.';

/**
 * Answers a `resolve` that means none of the pending previews.
 * @param pending previews that wait for someone else.
 */
export function notYoursText(pending: readonly Preview[]): string {
  if (pending.length === 0) return NOTHING_PENDING;
  return `No pending preview waits for you. The user decides on ${listed(pending.map(nameOf))}; you will be told the outcome.`;
}

/** Answers a `resolve` that may mean any of these. */
export function severalText(previews: readonly Preview[]): string {
  return `This vote may mean any of ${namesOf(previews)}. Nothing was changed. Name the ones that you mean with ids.`;
}

/** The last sentence for a model that has not seen a preview yet, by what it wanted to do; `user`: only the user decides on it. */
const UNSEEN = {
  vote: 'Vote on it in your next message.',
  amend: 'Amend it in your next message.',
  user: 'Only the user decides on it; you will be told the outcome.',
} as const;

export function unseenText(preview: Preview, then: keyof typeof UNSEEN): string {
  return `${nameOf(preview)} was staged only now, so you have not seen it yet. It is still pending. ${UNSEEN[then]}`;
}

/** Answers a call of a tool that the mode does not offer. */
export function unavailableText(tool: string, isPlanning: boolean): string {
  return isPlanning
    ? `${tool} cannot be called while plan mode is on. Put what you want to do into the plan and submit it with resolve; you can call ${tool} once the user has approved it.`
    : `${tool} cannot be called in Manual mode: the user decides on the previews, and you will be told the outcome.`;
}

/**
 * Answers a vote to apply lines that the model was not shown, and shows them.
 * @param from where in the diff the shown part begins
 */
export function unshownText(preview: Preview, from: number, { text, end }: ShownDiff): string {
  const what = end < Infinity ? 'A part of its diff' : from > 0 ? 'The rest of its diff' : 'Its diff';
  const when = end < Infinity ? 'to see the next part' : 'in your next message';
  return `Your vote on ${nameOf(preview)} does not count yet, since you have not been shown all of it at revision ${preview.revision}. ${what} follows; vote again ${when}.\n${text}`;
}

export function unamendedText(preview: Preview): string {
  return `${nameOf(preview)} could not be amended, so this vote does not count: it was meant for the amended preview. Amend it again, or apply it as it is, in your next message.`;
}

export function usersOwnText(preview: Preview): string {
  return `The user asked for ${nameOf(preview)} and decides on it; you will be told the outcome.`;
}

export function otherConversationText(preview: Preview): string {
  return `${nameOf(preview)} does not belong to this conversation. The user decides on it.`;
}
