import { revisionsOf, type Preview, type Recommendation, type SeenRevisions } from '../preview.ts';
import type { PreviewStore } from '../previewStore.ts';
import type { Proof } from './proof.ts';
import { isApplicable } from './refusals.ts';

/** How many parts of a vote are checked alone at most: each may take a run of every check. */
const MAX_ALONE = 8;

/**
 * The group, preceded by the other previews of its conversation that the model would apply, and may if they are proved.
 * @param mayProve whether the model may apply one if the checks prove it
 */
export async function withRecommended(
  group: readonly Preview[],
  store: PreviewStore,
  mayProve: (preview: Preview) => Promise<boolean>,
): Promise<readonly Preview[]> {
  const own = new Set(group.map(({ id }) => id));
  const last = group.at(-1);
  const sessionId = last?.origin?.sessionId;
  const others = store
    .list('oldestFirst')
    .filter(each => !own.has(each.id) && each.origin?.sessionId === sessionId && isVotedFor(each));
  const chosen: Preview[] = [];
  for (const each of others) {
    const before = new Set([...own, ...chosen.map(({ id }) => id)]);
    const isComplete = store.open.blockersOf(each).every(({ id }) => id !== last?.id && before.has(id));
    if (isComplete && (await mayProve(each))) chosen.push(each);
  }
  // In the order of staging, in which each comes after the previews that it builds on.
  const all = new Set([...own, ...chosen.map(({ id }) => id)]);
  const ordered = store.list('oldestFirst').filter(({ id }) => all.has(id));
  return last && chosen.length > 0 && ordered.length === all.size
    ? [...ordered.filter(({ id }) => id !== last.id), last]
    : group;
}

/**
 * Previews that this one builds on and that the model has voted to apply, too: they are tried, and written, together.
 * @param mayProve whether the model may apply one if the checks prove it
 */
export async function votedBlockers(
  preview: Preview,
  store: PreviewStore,
  mayProve: (preview: Preview) => Promise<boolean>,
): Promise<SeenRevisions> {
  const voted: Preview[] = [];
  for (const each of store.open.blockersOf(preview))
    if (isVotedFor(each) && (await mayProve(each))) voted.push(each);
  return revisionsOf(voted);
}

/**
 * Whether the checks decide on no other preview of one vote after this one: the invoker records those before, and proves them with
 * it. Not if the vote on one of those was refused, for then none of them is applied.
 * @param mayProve whether the model may apply one if the checks prove it
 */
export async function isLastToProve(
  { id }: Preview,
  voteOn: readonly string[],
  store: PreviewStore,
  mayProve: (preview: Preview) => Promise<boolean>,
): Promise<boolean> {
  for (const [at, otherId] of voteOn.entries()) {
    const other = store.get(otherId);
    if (otherId === id || !other || !isApplicable(other) || adviceOn(other)?.isUnread) continue;
    if (at < voteOn.indexOf(id) && isVotedFor(other)) continue;
    const isComplete = store.open
      .blockersOf(other)
      .every(each => voteOn.includes(each.id) || isVotedFor(each));
    if (isComplete && (await mayProve(other))) return false;
  }
  return true;
}

/** Previews that pass without the others, after those they build on. */
export async function provedAlone(
  previews: readonly Preview[],
  store: PreviewStore,
  prove: (previews: readonly Preview[]) => Promise<Proof>,
): Promise<readonly (readonly Preview[])[]> {
  const alone: (readonly Preview[])[] = [];
  for (const preview of previews.length > 1 ? previews.slice(0, MAX_ALONE) : []) {
    const part = [...store.open.blockersOf(preview), preview];
    if (part.length < previews.length && (await prove(part)).isProved) alone.push(part);
  }
  return alone;
}

/** Whether it can be applied as it is, and the model would apply this very revision, of which it was shown all. */
function isVotedFor(preview: Preview): boolean {
  const vote = adviceOn(preview);
  return vote?.action === 'apply' && !vote.isOfWhole && !vote.isUnread && isApplicable(preview);
}

function adviceOn({ state }: Preview): Recommendation | undefined {
  return state.kind === 'pending' ? state.recommendation : undefined;
}
