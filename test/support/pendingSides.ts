import { MemoryBlobs, type Blobs } from '../../src/agent/hold/preview/blobs.ts';
import type { FileSide } from '../../src/agent/hold/preview/fileChange.ts';
import type { PendingContents } from '../../src/agent/hold/preview/overlay.ts';

/** Contents that the pending preview `p1` proposes, by path. They may change later. */
export function pendingSides(
  sides: () => Readonly<Record<string, FileSide | null>>,
  blobs: Blobs = new MemoryBlobs(),
): PendingContents {
  return {
    paths: () => Object.keys(sides()),
    at: path => {
      const side = sides()[path];
      return side === undefined ? undefined : { previewId: 'p1', side };
    },
    blobs,
  };
}

/** Nothing is pending. */
export const nothingPending: PendingContents = pendingSides(() => ({}));
