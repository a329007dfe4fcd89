import type { Preview } from '../../../agent/hold/preview/preview.ts';
import { seenPart, type SeenPart } from '../../../agent/hold/preview/resolve/ownParts.ts';
import { refuseOutdated } from '../../../agent/hold/preview/resolve/refusals.ts';
import type { PreviewPart } from '../../../agent/hold/preview/resolve/splitPreview.ts';
import type { Ctx } from '../../ctx.ts';

/**
 * What the person saw, as it is now. What anyone else has changed since is shown again instead.
 * @param seen the revision that they saw
 * @throws RefusedVoteError for what anyone else has changed
 */
export async function seenNow(
  { store, opener }: Ctx,
  preview: Preview,
  seen: number,
  part?: PreviewPart,
): Promise<Exclude<SeenPart, { kind: 'outdated' }>> {
  const found = seenPart(store, preview, seen, part);
  if (found.kind !== 'outdated') return found;
  await opener.open(preview, part?.path);
  refuseOutdated(preview, seen);
  return { kind: 'decided' };
}
