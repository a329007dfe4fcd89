import * as z from 'zod/mini';
import { safeText } from '../../base/safeName.ts';
import { listed, plural } from '../../base/phrases.ts';
import { renewText } from '../../hold/preview/errors.ts';
import { textResult } from '../../hold/preview/pendingAction.ts';
import { nameOf, type Preview } from '../../hold/preview/preview.ts';
import type { ReviewComment } from '../../hold/preview/reviewComments.ts';
import { commentText } from '../../hold/preview/reviewTexts.ts';
import { defineTool, type Tool } from '../../session/tools/tool.ts';
import type { ListedPreviews } from '../ownPreviews.ts';

/** The most pending previews that are listed, the latest. */
const MAX_OPEN = 200;
/** The most decided previews that are listed, the latest. */
const MAX_ENDED = 50;

/** The most comments that are listed, the latest. */
const MAX_COMMENTS = 50;

/** Lists the agent's own previews. @param comments that the user has sent on them */
export function statusTool(
  previews: ListedPreviews,
  comments: () => readonly ReviewComment[] = () => [],
): Tool {
  return defineTool({
    name: 'status',
    label: 'Status',
    description:
      'List your previews: those that are pending, and the decisions on the latest others, with the comments of the user.',
    parameters: z.object({}),
    readOnly: true,
    async execute() {
      const find = (id: string): Preview | undefined =>
        [...previews.open, ...previews.ended].find(preview => preview.id === id);
      const shown = comments().slice(-MAX_COMMENTS);
      const texts = await Promise.all(
        shown.map(async comment => `[${comment.id}] ${await commentText(comment, find(comment.previewId))}`),
      );
      const head = texts.length > 0 ? ['Comments of the user; call answer to reply:'] : [];
      return textResult([statusText(previews), ...head, ...texts].join('\n'));
    },
  });
}

/** An agent's pending previews, and the latest decisions. @param lineOf describes a preview in one line */
export function statusText({ open, ended }: ListedPreviews, lineOf = lineForVotes): string {
  const listing = (previews: readonly Preview[], limit: number, head: string): string[] => {
    const left = previews.length - limit;
    const more = left > 0 ? [`[${plural(left, 'older one')} not shown]`] : [];
    return [head, ...more, ...previews.slice(-limit).map(preview => `- ${lineOf(preview)}`)];
  };
  return [
    ...listing(open, MAX_OPEN, open.length === 0 ? 'Nothing of yours is pending.' : 'Pending:'),
    ...(ended.length === 0 ? [] : listing(ended, MAX_ENDED, 'Decided:')),
  ].join('\n');
}

/** For an agent that votes: with ids and revisions. */
function lineForVotes(preview: Preview): string {
  const { dependsOn, part } = preview;
  const notes = [
    ...(part ? [`a part of ${part.previewId}`] : []),
    ...(dependsOn.length > 0 ? [`builds on ${dependsOn.join(', ')}`] : []),
    ...(preview.origin?.setId === undefined ? [] : [`set ${preview.origin.setId}`]),
    ...(preview.editedByUser ? ['edited by the user, who decides'] : []),
  ];
  const about = notes.length > 0 ? ` (${notes.join('; ')})` : '';
  return `${nameOf(preview)}, revision ${preview.revision}: ${stateText(preview)}${about}`;
}

function stateText({ state }: Preview): string {
  switch (state.kind) {
    case 'pending':
      if (state.stale.length > 0)
        return `stale, since ${listed(state.stale)} changed. ${renewText(state.stale)}`;
      if (state.lastError !== undefined) return `pending; applying it failed: ${safeText(state.lastError)}`;
      if (state.recommendation) return `pending; you recommended to ${state.recommendation.action} it`;
      return 'pending, not on disk';
    case 'applying':
      return `being resolved (${state.action})`;
    case 'applied':
    case 'discarded':
      return `${state.kind} by ${{ human: 'the user', model: 'you', extension: 'another extension' }[state.by.actor]}. Reason: ${safeText(state.by.reason)}`;
    case 'expired':
      return 'expired';
  }
}
