import { TimeSlice } from '../../base/async.ts';
import type { PreviewLogEntry, UnreadableLine } from './log/previewLog.ts';
import { isOpen, type Preview } from './preview.ts';
import type { PreviewProjection } from './previewProjection.ts';

/**
 * Builds the state from a log that was just read, and records the effects of the restart. Yields after each step.
 * @param record records an entry of the store
 */
export function* restored(
  projection: PreviewProjection,
  entries: readonly PreviewLogEntry[],
  unreadable: readonly UnreadableLine[],
  record: (entry: PreviewLogEntry) => void,
): Generator<undefined, void, undefined> {
  yield* replay(projection, entries, unreadable);
  for (const preview of projection.all()) {
    const expiry = expiryAtRestart(preview, projection);
    if (expiry) yield void record(expiry);
  }
  // The attempt on such a part ended with the process: from now on it is a stale preview like any other.
  for (const [id, paths] of projection.untoldParts) record({ type: 'stale', id, paths });
}

/** Adds the entries of another log. @returns the ids of the previews that it changes */
export async function adopted(
  projection: PreviewProjection,
  entries: readonly PreviewLogEntry[],
): Promise<ReadonlySet<string>> {
  const changed = new Set<string>();
  const slice = new TimeSlice();
  for (const entry of entries) {
    for (const { id } of projection.apply(entry)) changed.add(id);
    await slice.turn();
  }
  return changed;
}

/** Replays a log that was just read, with its unreadable lines in their places. Yields after each entry. */
function* replay(
  projection: PreviewProjection,
  entries: readonly PreviewLogEntry[],
  unreadable: readonly UnreadableLine[],
): Generator<undefined, void, undefined> {
  let position = 0;
  for (const line of [...unreadable, undefined]) {
    for (const entry of entries.slice(position, line?.position)) yield void projection.apply(entry);
    if (!line) return;
    position = Math.max(position, line.position);
    yield void projection.skip(line);
  }
}

type Expiry = Extract<PreviewLogEntry, { type: 'expired' }>;

/**
 * The expiry of an open preview with the process that staged it; `undefined` if it can still be resolved. The callbacks of opaque
 * previews are lost, and a preview that an older version showed for an agent in a terminal has no one left to write it.
 */
function expiryAtRestart(preview: Preview, projection: PreviewProjection): Expiry | undefined {
  if (!isOpen(preview) || (preview.kind === 'files' && !preview.agentWrites)) return undefined;
  const expired = { type: 'expired', id: preview.id } as const;
  if (projection.isInterrupted(preview.id)) return { ...expired, interrupted: true };
  const reason = 'An agent in a terminal would have written it. Redline no longer shows such changes.';
  return preview.agentWrites ? { ...expired, reason } : expired;
}
