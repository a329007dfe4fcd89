import { editsGive, type TextEdit } from '../../text/textEdit.ts';
import { isBinary, isText, type FileChange, type FileSide } from '../fileChange.ts';
import { CutEdits, StoredBinary, StoredText, type Cut } from '../previewSchema.ts';
import type { Contents } from './contents.ts';
import { hasConflict } from '../rebase/conflictMarkers.ts';
import { isKept, type RevisedChanges } from './keptChanges.ts';
import type { PreviewLogEntry } from './previewLog.ts';

/** How many changes, or characters of text, are stored in turns. */
const MANY = 500;
const MUCH = 1024 * 1024;

/** The entry with its changes mapped, including those of the part that it mentions. */
function mapped(entry: PreviewLogEntry, map: (change: FileChange) => unknown): unknown {
  const of = (one: { readonly changes: RevisedChanges | null }): object =>
    one.changes ? { ...one, changes: one.changes.map(each => (isKept(each) ? each : map(each))) } : one;
  if (entry.type === 'staged') return { ...entry, preview: of(entry.preview) };
  if (entry.type !== 'revised') return entry;
  return { ...of(entry), ...(entry.part ? { part: of(entry.part) } : {}) };
}

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
  return mapped(entry, change => lean.get(change));
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
  const lean = { ...fieldsOf(change), before: before && placedSide(path, before, contents) };
  const next = { ...lean, after: after && placedSide(path, after, contents) };
  const cuts = cutsOf.get(change);
  if (cuts) return { ...next, cuts };
  if (change.kind !== 'modify' || !change.edits || !after || next.after === after) return next;
  const { edits, ...rest } = { ...next, edits: change.edits };
  return fit(change, edits)
    ? { ...rest, cuts: edits.map(({ start, end, text }) => [start, end, text.length]) }
    : rest;
}

/** The edits of changes that were read, without their texts. */
const cutsOf = new WeakMap<FileChange, readonly Cut[]>();

/** Fields of a change, without edits that are in {@link cutsOf}: their texts may be gone. */
function fieldsOf(change: FileChange): FileChange {
  if (!cutsOf.has(change)) return change;
  const { edits: _edits, ...fields } = Object.getOwnPropertyDescriptors(change) as PropertyDescriptorMap;
  return Object.defineProperties({}, fields) as FileChange;
}

function fit({ before, after }: FileChange, edits: readonly TextEdit[]): boolean {
  return (
    before !== null &&
    after !== null &&
    isText(before) &&
    isText(after) &&
    editsGive(before.text, edits, after.text)
  );
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

/** The entry of a line, with its texts read on demand. */
export function withTexts(entry: PreviewLogEntry, contents: Contents): PreviewLogEntry {
  return mapped(entry, change => readable(change, contents)) as PreviewLogEntry;
}

function readable(change: FileChange, contents: Contents): FileChange {
  const [before, after] = [change.before, change.after].map(side => {
    if (side instanceof StoredBinary) return contents.binaryAt(side, side.at);
    return side instanceof StoredText ? contents.sideAt(side.hash, side.encoding, side.at) : side;
  });
  if (before === change.before && after === change.after) return change;
  const next = { ...change, before, after } as FileChange;
  if (next.kind !== 'modify' || !(next.edits instanceof CutEdits) || !isText(next.after)) return next;
  const { cuts } = next.edits;
  const { after: side } = next;
  let edits: readonly TextEdit[] | undefined;
  cutsOf.set(next, cuts);
  return Object.defineProperty(next, 'edits', {
    enumerable: true,
    get: () => (edits ??= editsOf(cuts, side.text)),
  });
}

function editsOf(cuts: readonly Cut[], after: string): readonly TextEdit[] {
  let shift = 0;
  return cuts.map(([start, end, length]) => {
    const at = start + shift;
    shift += length - (end - start);
    return { start, end, text: after.slice(at, at + length) };
  });
}
