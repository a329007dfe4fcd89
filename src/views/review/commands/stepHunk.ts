import type { Ctx } from '../../ctx.ts';
import { hunkAt, hunksOnce } from '../reviewPlaces.ts';
import { shownChange } from '../shownChange.ts';
import type { ActivePlace } from './previewTargets.ts';
import { showHunk } from './showHunk.ts';

/**
 * Goes to the next hunk or back, from file to file and from preview to preview, without a decision. From elsewhere it goes
 * where Next and Previous go.
 * @param at where the cursor was when the command was called
 */
export async function stepHunk(ctx: Ctx, direction: 1 | -1, at: ActivePlace | undefined): Promise<void> {
  const { store, files, opener, tabs } = ctx;
  const shown = at && shownChange(store, files, at.address);
  const isHere = shown?.preview.id === at?.address.previewId;
  if (at && shown && isHere) {
    const { preview, change } = shown;
    const hunks = await hunksOnce(change);
    const here = hunkAt(hunks, at.address.side, at.line);
    // Above the first hunk, the next one is the first, and there is none before it.
    const next = here + direction;
    if (next >= 0 && next < hunks.length)
      return showHunk(ctx, { id: preview.id, path: change.path, hunk: next });
  }
  const from =
    at && isHere
      ? { previewId: at.address.previewId, ...(shown ? { path: shown.change.path } : {}) }
      : undefined;
  await opener.step(direction, from);
  const address = tabs.activeAddress();
  const there = address && shownChange(store, files, address);
  if (!there || there.preview.id !== address.previewId) return;
  const { preview, change } = there;
  const last = (await hunksOnce(change)).length - 1;
  if (last >= 0) await showHunk(ctx, { id: preview.id, path: change.path, hunk: direction === 1 ? 0 : last });
}
