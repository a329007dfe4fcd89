import { TimeSlice } from '../../../base/async.ts';
import { marked } from '../../../base/log/logQueue.ts';
import type { Preview } from '../preview.ts';
import { PreviewProjection } from '../previewProjection.ts';
import type { RevisedChanges } from './keptChanges.ts';
import type { Archive, PreviewLogEntry } from './previewLog.ts';

type Revised = Extract<PreviewLogEntry, { type: 'revised' }>;

/**
 * Replaces log entries: the first entry of each preview gets its last changes, and no revision repeats them. All revisions stay,
 * with their facts.
 */
export async function compacting(
  entries: readonly PreviewLogEntry[],
): Promise<(entry: PreviewLogEntry) => PreviewLogEntry> {
  const projection = new PreviewProjection();
  /** Revisions that took effect, with the one before each. */
  const after = new Map<Revised, number>();
  const slice = new TimeSlice();
  for (const entry of entries) {
    const before = entry.type === 'revised' ? projection.get(entry.id) : undefined;
    const changed = projection.apply(entry);
    if (entry.type === 'revised' && before && changed.some(({ id }) => id === entry.id))
      after.set(entry, before.revision);
    await slice.turn();
  }
  return entry => replacement(entry, after, id => projection.get(id));
}

/** @param last the last state of a preview */
function replacement(
  entry: PreviewLogEntry,
  after: ReadonlyMap<Revised, number>,
  last: (id: string) => Preview | undefined,
): PreviewLogEntry {
  if (entry.type === 'staged') {
    const preview = withLast(entry.preview, last);
    return preview === entry.preview ? entry : { ...entry, preview };
  }
  if (entry.type !== 'revised') return entry;
  const part = entry.part && withLast(entry.part, last);
  const changes = after.has(entry) ? last(entry.id)?.changes : undefined;
  if (!changes && part === entry.part) return entry;
  const follows = after.get(entry) === entry.revision - 1;
  const all: RevisedChanges = changes && changes.length > 0 ? [{ from: 0, to: changes.length }] : [];
  const next = changes ? { ...entry, changes: follows ? all : changes } : entry;
  return part ? { ...next, part } : next;
}

function withLast<T extends { readonly id: string; readonly kind: string }>(
  staged: T,
  last: (id: string) => Preview | undefined,
): T {
  const preview = staged.kind === 'files' ? last(staged.id) : undefined;
  if (!preview?.changes) return staged;
  const { changes, label, labelParts } = preview;
  return { ...staged, changes, label, ...(labelParts ? { labelParts } : {}) };
}

/** Entries that go to the ledger file, and the line that stays in the log, which counts them and those archived before. */
export async function archiving(entries: readonly PreviewLogEntry[], archive: Archive) {
  const moved: PreviewLogEntry[] = [];
  const attempts = new Map<unknown, number>();
  const slice = new TimeSlice();
  for (const entry of entries) {
    const key = entry.mark ?? entry;
    if (entry.type === 'archived') attempts.set(key, entry.attempts);
    else if (entry.type === 'resolved' && archive.takes(entry)) {
      moved.push(entry);
      attempts.set(key, entry.entries.length);
    }
    await slice.turn();
  }
  let total = 0;
  for (const count of attempts.values()) total += count;
  let isTold = false;
  const without = (entry: PreviewLogEntry): readonly PreviewLogEntry[] => {
    if (moved.length === 0 || !(entry.type === 'archived' || archive.takes(entry))) return [entry];
    if (isTold) return [];
    isTold = true;
    return [marked({ type: 'archived', attempts: total, last: archive.last })];
  };
  return { moved, without };
}
