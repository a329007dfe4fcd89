import type { Preview } from '../../../agent/hold/preview/preview.ts';
import { setVotes, type IsEdited } from '../../../agent/hold/preview/setVotes.ts';
import { planOf } from '../../../agent/hold/preview/plan.ts';
import type { DiffStat } from '../../../agent/hold/text/lineDiff.ts';
import type { ChatStatus } from '../protocol.ts';
import { totalOf } from '../../../agent/hold/preview/previewView.ts';
import type { CheckRow } from '../viewItem.ts';
import { lineStat } from './previewCard.ts';

/** The most pending previews whose lines are counted for the sum. */
const MAX_COUNTED = 100;

/** How much is pending, with the sum of its lines; `undefined` if nothing but plans is. */
export function reviewOf(
  listed: readonly Preview[],
  statsOf: (preview: Preview) => readonly DiffStat[] | undefined,
  checks?: CheckRow[],
  isEdited?: IsEdited,
): ChatStatus['review'] {
  // A plan is approved, not applied: that is on its card.
  const open = listed.filter(preview => !planOf(preview));
  if (open.length === 0) return undefined;
  const changes = open.flatMap(preview => preview.changes ?? []);
  const files = new Set(changes.map(({ path }) => path)).size;
  const isCountable = files > 0 && open.length <= MAX_COUNTED;
  const sum = isCountable
    ? totalOf(
        open.flatMap(preview => statsOf(preview) ?? []),
        changes.length,
      )
    : undefined;
  const votes = setVotes(listed, isEdited ? { isEdited } : {});
  return { previews: open.length, ...votes, files, stat: lineStat(sum), ...(checks ? { checks } : {}) };
}
