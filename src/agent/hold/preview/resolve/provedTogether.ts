import { revisionsOf, type Preview, type SeenRevisions } from '../preview.ts';
import type { PreviewStore } from '../previewStore.ts';
import { isApplicable } from './refusals.ts';

/**
 * The group after the other previews of its conversation that the model would apply and may, if they are proved.
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
    const isComplete = store.blockersOf(each).every(({ id }) => id !== last?.id && before.has(id));
    if (isComplete && (await mayProve(each))) chosen.push(each);
  }
  // In the order of staging, in which each comes after what it builds on.
  const all = new Set([...own, ...chosen.map(({ id }) => id)]);
  const ordered = store.list('oldestFirst').filter(({ id }) => all.has(id));
  return last && chosen.length > 0 && ordered.length === all.size
    ? [...ordered.filter(({ id }) => id !== last.id), last]
    : group;
}

/**
 * What the preview builds on and the model has voted to apply, too: that is tried, and written, together.
 * @param mayProve whether the model may apply one if the checks prove it
 */
export async function votedBlockers(
  preview: Preview,
  store: PreviewStore,
  mayProve: (preview: Preview) => Promise<boolean>,
): Promise<SeenRevisions> {
  const voted: Preview[] = [];
  for (const each of store.blockersOf(preview))
    if (isVotedFor(each) && (await mayProve(each))) voted.push(each);
  return revisionsOf(voted);
}

/** Whether it can be applied as it is, and the model would apply this very revision. */
function isVotedFor(preview: Preview): boolean {
  const { state } = preview;
  const vote = state.kind === 'pending' ? state.recommendation : undefined;
  return vote?.action === 'apply' && !vote.isOfWhole && isApplicable(preview);
}
