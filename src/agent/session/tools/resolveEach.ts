import { messageOf } from '../../base/errors.ts';
import type { ResolveCall } from '../forcing/modelResolver.ts';
import { resultText, textResult, type AgentToolResult } from '../../hold/preview/pendingAction.ts';
import type { Preview } from '../../hold/preview/preview.ts';
import { modelResult } from '../../hold/preview/resolve/modelResult.ts';
import { withDetails, type Handled, type Resolved } from '../../hold/preview/resolve/resolved.ts';
import { recommendedText, votedText } from '../../hold/preview/resolve/voteTexts.ts';
import type { ToolContext } from './tool.ts';

export { modelResult };

/** How the vote on one preview ended. */
type Ended = { readonly id: string } & (
  { readonly resolved: Resolved | Handled } | { readonly error: unknown }
);

/**
 * One vote on several previews, one after the other in the given order. Each has its own outcome; equal outcomes share one
 * sentence. It is an error if none of the votes could be cast.
 * @throws the abort error when the call's signal fires.
 */
export async function resolveEach(
  ids: readonly string[],
  vote: ResolveCall,
  { resolve, signal }: Pick<ToolContext, 'resolve' | 'signal'>,
): Promise<AgentToolResult> {
  const all: Ended[] = [];
  for (const id of ids) {
    try {
      all.push({ id, resolved: await resolve({ ...vote, id, voteOn: ids }) });
    } catch (error) {
      if (signal.aborted) throw error;
      all.push({ id, error });
    }
  }
  const { action, reason } = vote;
  return {
    ...textResult(linesOf(all, vote).join('\n'), {
      action,
      reason,
      label: ids.join(', '),
      votes: all.map(each => detailsOf(each, all, vote)),
    }),
    ...(all.every(each => 'error' in each) && { isError: true }),
  };
}

/** The result with the previews that wait for another vote. */
export function withUnvoted(result: AgentToolResult, ids: readonly string[]): AgentToolResult {
  if (ids.length === 0 || result.isError) return result;
  return {
    ...result,
    content: [...result.content, { type: 'text', text: `Not voted on yet: ${ids.join(', ')}.` }],
  };
}

/** The previews that this vote applied or would have applied. */
function decided(each: Ended): readonly Preview[] {
  if ('error' in each || (each.resolved.kind !== 'applied' && each.resolved.kind !== 'recommended'))
    return [];
  return each.resolved.kind === 'applied' ? each.resolved.group : (each.resolved.unproved?.on ?? []);
}

function detailsOf(each: Ended, all: readonly Ended[], vote: ResolveCall): object {
  if ('error' in each) return { id: each.id, isError: true, failed: true };
  const { details, isError } = modelResult(each.resolved);
  const landed =
    each.resolved.kind === 'recommended' &&
    all
      .filter(other => kindOf(other) === 'applied')
      .flatMap(decided)
      .find(({ id }) => id === each.id);
  return {
    id: each.id,
    details: landed ? withDetails(textResult(''), vote, sourceOf(landed)).details : details,
    ...(isError && { isError }),
  };
}

function sourceOf({ sourceToolName, label }: Preview): Pick<Preview, 'sourceToolName' | 'label'> {
  return { sourceToolName, label };
}

/** One line for each outcome. A preview that another vote decided is named in the line of that vote. */
function linesOf(all: readonly Ended[], { action, reason }: ResolveCall): readonly string[] {
  const elsewhere = new Set(
    all.flatMap(each => decided(each).flatMap(({ id }) => (id === each.id ? [] : id))),
  );
  const told = all.filter(({ id }) => !elsewhere.has(id));
  return told.flatMap(each => {
    const kind = kindOf(each);
    if (kind === undefined) return ownLine(each, told);
    const same = told.filter(other => kindOf(other) === kind);
    if (same[0] !== each) return [];
    const resolved = same.flatMap(other => ('resolved' in other ? other.resolved : []));
    const previews = resolved.flatMap(one =>
      one.kind === 'applied' ? one.group : one.kind === 'handled' ? [] : one.preview,
    );
    if (kind !== 'applied' && kind !== 'discarded')
      return recommendedText(previews, kind === 'planning' ? action : undefined);
    const unsaved = resolved.flatMap(one => (one.kind === 'applied' ? one.unsaved : []));
    return votedText(kind === 'applied' ? 'Applied' : 'Discarded', previews, reason, unsaved);
  });
}

/** The kind of outcome that one sentence can tell for several previews; `undefined` for an outcome with a text of its own. */
function kindOf(each: Ended): 'applied' | 'discarded' | 'recommended' | 'planning' | undefined {
  if ('error' in each) return undefined;
  const { resolved } = each;
  if (resolved.kind === 'recommended')
    return resolved.unproved || resolved.isUnread
      ? undefined
      : resolved.planning
        ? 'planning'
        : 'recommended';
  if (resolved.kind !== 'applied' && resolved.kind !== 'discarded') return undefined;
  return resolved.answer?.content?.length ? undefined : resolved.kind;
}

/** One line for all with the same text, unless that names the one that it is about. */
function ownLine(each: Ended, told: readonly Ended[]): string | [] {
  const text = ownText(each);
  const [first = ''] = text.split('\n');
  if (first.split(/[^\w-]+/).includes(each.id)) return text;
  const same = told.filter(other => kindOf(other) === undefined && ownText(other) === text);
  return same[0] === each ? `${same.map(({ id }) => id).join(', ')}: ${text}` : [];
}

function ownText(each: Ended): string {
  return 'error' in each ? messageOf(each.error) : resultText(modelResult(each.resolved));
}
