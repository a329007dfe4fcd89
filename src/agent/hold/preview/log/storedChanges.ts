import { isBinary, isText, type FileChange, type FileSide } from '../fileChange.ts';
import { placesOfSides } from '../previewSchema.ts';
import type { Contents } from './contents.ts';
import { cutsOf } from './cutEdits.ts';
import { hasConflict } from '../rebase/conflictMarkers.ts';
import { isKept, type RevisedChanges } from './keptChanges.ts';
import type { PreviewLogEntry } from './previewLog.ts';

/** How many changes, or characters of text, are stored in turns. */
const MANY = 500;
const MUCH = 1024 * 1024;

/**
 * Makes the stored form of an entry: its texts go to the contents, and their places into the line. Yields after each change.
 * @throws any error of the file system
 */
export function* withPlaces(entry: PreviewLogEntry, contents: Contents): Generator<undefined, unknown> {
  const { failure } = contents;
  const lean = new Map<FileChange, unknown>();
  for (const change of changesOf(entry)) yield void lean.set(change, placed(change, contents));
  contents.write();
  if (contents.failure !== failure) throw contents.failure; // a write in between, of others, has lost some
  const form = (one: { readonly changes: RevisedChanges | null }): object =>
    one.changes ? { ...one, changes: one.changes.map(each => (isKept(each) ? each : lean.get(each))) } : one;
  if (entry.type === 'staged') return { ...entry, preview: form(entry.preview) };
  if (entry.type !== 'revised') return entry;
  return { ...form(entry), ...(entry.part ? { part: form(entry.part) } : {}) };
}

/** Whether storing an entry may take over 20 ms, since it has many changes or much text. */
export function isLong(entry: PreviewLogEntry, contents: Contents): boolean {
  const changes = changesOf(entry);
  let chars = 0;
  for (const side of changes.length > MANY ? [] : sidesIn(changes))
    if (isText(side) && !contents.holds(side)) chars += side.text.length;
  return changes.length > MANY || chars > MUCH;
}

/** The changes that an entry has in full. */
export function changesOf(entry: PreviewLogEntry): readonly FileChange[] {
  if (entry.type === 'staged') return entry.preview.changes ?? [];
  if (entry.type !== 'revised') return [];
  return [...entry.changes, ...(entry.part?.changes ?? [])].flatMap(change =>
    isKept(change) ? [] : [change],
  );
}

/** The files of changes, as they were and as they are to be. */
export function sidesIn(changes: readonly FileChange[]): readonly FileSide[] {
  return changes.flatMap(({ before, after }) => [before ?? [], after ?? []].flat());
}

function placed(change: FileChange, contents: Contents): unknown {
  const { path, before, after } = change;
  // While its text is in memory: to read thousands of them again takes long.
  if (after && isText(after) && !contents.holds(after)) hasConflict(change);
  const lean = { ...change, before: before && placedSide(path, before, contents) };
  const next = { ...lean, after: after && placedSide(path, after, contents) };
  if (next.kind !== 'modify' || !next.edits || next.after === after) return next;
  const { edits, ...rest } = next;
  const cuts = cutsOf(edits, before, after);
  return cuts ? { ...rest, cuts } : rest;
}

function placedSide(path: string, side: FileSide, contents: Contents): unknown {
  if (isBinary(side)) {
    const at = contents.placeOfBinary(side);
    return at ? { ...side, at } : side;
  }
  const at = isText(side) ? contents.placeOf(side, path) : undefined;
  if (!at || !isText(side)) return side;
  return { hash: side.hash, at, encoding: side.encoding };
}

/** Binds an entry that was read to its contents: its texts are read on demand. */
export function bindTexts(entry: PreviewLogEntry, contents: Contents): void {
  for (const side of sidesIn(changesOf(entry))) {
    const place = placesOfSides.get(side);
    if (place) contents.bind(side, place);
  }
}
