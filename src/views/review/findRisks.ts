import { setOf } from '../../agent/hold/preview/changeSet.ts';
import { contentsAfter } from '../../agent/hold/preview/overlay.ts';
import type { Preview } from '../../agent/hold/preview/preview.ts';
import type { PreviewStore } from '../../agent/hold/preview/previewStore.ts';
import { risksOf, type Risk } from '../../agent/hold/preview/reading/risks.ts';
import type { FindLines } from '../../agent/hold/preview/reading/stillImported.ts';
import { planOf } from '../../agent/hold/preview/plan.ts';
import { commandOf } from '../../agent/sandbox/commands/plannedCommand.ts';
import type { TextSearch } from '../../agent/hold/preview/textSearch.ts';

/** The most lines that are looked at for imports of one file, and how long they are searched for, in milliseconds. */
const MAX_LINES = 1_000;
const SEARCH_MS = 10_000;

/** The risks of a pending preview. The workspace is searched as if all that is pending were applied. */
export function findRisks(
  preview: Preview,
  store: PreviewStore,
  search: TextSearch['search'] | undefined,
): Promise<readonly Risk[]> {
  const find: FindLines = async query => {
    if (!search) return [];
    const pending = [...store.open].filter(({ state }) => state.kind === 'pending');
    const contents = contentsAfter(pending, store.blobs);
    const found = search({ query, isRegex: false }, MAX_LINES, AbortSignal.timeout(SEARCH_MS), contents);
    return (await found).matches;
  };
  return risksOf(preview, planFor(preview, store), find, commandOf(preview)?.command);
}

/** The text of the plan that the user approved for the change set of a preview. */
function planFor(preview: Preview, store: PreviewStore): string | undefined {
  const { setId } = setOf(preview);
  if (setId === undefined) return undefined;
  const plan = store
    .all()
    .findLast(each => each.kind === 'plan' && each.state.kind === 'applied' && setOf(each).setId === setId);
  return plan && planOf(plan)?.text;
}
