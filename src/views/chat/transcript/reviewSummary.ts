import type { Preview } from '../../../agent/preview/preview.ts';
import { planOf } from '../../../agent/session/planMode.ts';
import type { DiffStat } from '../../../agent/text/lineDiff.ts';
import { fill } from '../../../agent/base/localiser.ts';
import type { ChatStatus } from '../protocol.ts';
import type { TranscriptStrings } from './transcriptStrings.ts';
import { shownStat, sumOf } from './previewCard.ts';

/** The most pending previews whose lines are counted for the sum. */
const MAX_COUNTED = 100;

/** `3 changes · 5 files` with the sum of their lines; `undefined` if nothing but plans is pending. */
export function reviewOf(
  listed: readonly Preview[],
  statsOf: (preview: Preview) => readonly DiffStat[] | undefined,
  strings: Pick<TranscriptStrings, 'pending' | 'changes' | 'files'>,
): ChatStatus['review'] {
  // A plan is approved, not applied: that is on its card.
  const open = listed.filter(preview => !planOf(preview));
  if (open.length === 0) return undefined;
  const changes = open.flatMap(preview => preview.changes ?? []);
  const files = new Set(changes.map(({ path }) => path)).size;
  const previews = strings.changes(open.length);
  const label = files === 0 ? previews : fill(strings.pending, previews, strings.files(files));
  const isCountable = files > 0 && open.length <= MAX_COUNTED;
  const sum = isCountable
    ? sumOf(
        open.flatMap(preview => statsOf(preview) ?? []),
        changes.length,
      )
    : undefined;
  return sum ? { label, stat: shownStat(sum) } : { label };
}
