import type { Preview } from '../../../agent/hold/preview/preview.ts';
import { seenPart, type SeenPart } from '../../../agent/hold/preview/resolve/ownParts.ts';
import { refuseOutdated } from '../../../agent/hold/preview/resolve/refusals.ts';
import type { PreviewPart } from '../../../agent/hold/preview/resolve/splitPreview.ts';
import type { Ctx } from '../../ctx.ts';

/**
 * Maps the target that the person saw to the current revision. If anyone else has changed it since, it is shown again instead.
 * @param seen the revision that they saw
 * @throws RefusedVoteError if anyone else has changed it
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
