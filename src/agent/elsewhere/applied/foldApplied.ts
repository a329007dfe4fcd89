import { diffLines } from '../../text/lineDiff.ts';
import { splitLinesInTurns } from '../../text/lines.ts';
import { mergeTexts } from '../../text/threeWayMerge.ts';

/** What git stores, or would store, of a file: a character for each byte. `null`: there is no file. */
export type Stored = string | null;

/** What an applied preview changed in one file, as git would store it. Paths are those of the repository. */
export interface AppliedChange {
  readonly previewId: string;
  readonly path: string;
  /** The path that it was renamed from. */
  readonly from?: string;
  readonly before: Stored;
  readonly after: Stored;
}

/** A path of the last commit once changes are put on it. */
export interface Folded {
  readonly text: Stored;
  /** What the last commit has at the path, or at the one that it was renamed from. */
  readonly base: Stored;
  /** The path in the last commit, if it was renamed since. */
  readonly from?: string;
  /** The previews that changed something here that the last commit does not have. */
  readonly by: ReadonlySet<string>;
  /** Those whose change does not fit on the last commit. */
  readonly unfit: ReadonlySet<string>;
}

interface Place extends Folded {
  readonly by: Set<string>;
  readonly unfit: Set<string>;
}

/**
 * Puts changes, in the order in which they were applied, on what the last commit has. What it has already changes nothing, and
 * neither does a change that does not fit.
 */
export async function foldApplied(
  changes: readonly AppliedChange[],
  headOf: (path: string) => Stored,
): Promise<ReadonlyMap<string, Folded>> {
  const places = new Map<string, Place>();
  const at = (path: string): Place => {
    const head = headOf(path);
    const place = places.get(path) ?? { text: head, base: head, by: new Set(), unfit: new Set() };
    places.set(path, place);
    return place;
  };
  for (const { previewId, path, from, before, after } of changes) {
    const place = at(path);
    const origin = from === undefined ? place : at(from);
    // A rename that the last commit has is an ordinary change of the file at its new path.
    const isMove = from !== undefined && place.text === null && origin.text !== null;
    const current = isMove ? origin.text : place.text;
    const text = await changed(current, before, after);
    if (text === undefined) {
      place.unfit.add(previewId);
      continue;
    }
    if (isMove) {
      const by = [...origin.by, previewId];
      places.set(from, { ...origin, text: null, by: new Set(by) });
      const { base, unfit } = origin;
      places.set(path, {
        ...{ text, base, from: origin.from ?? from },
        ...{ by: new Set(by), unfit: new Set([...unfit, ...place.unfit]) },
      });
    } else if (text !== current) {
      place.by.add(previewId);
      places.set(path, { ...place, text });
    }
  }
  return places;
}

/** What `current` becomes; `undefined` if the change does not fit there. */
async function changed(current: Stored, before: Stored, after: Stored): Promise<Stored | undefined> {
  // Of its permission bits alone.
  if (before === after && current !== null) return current;
  if (current === after || current === before || after === null) return after;
  if (before === null || current === null) return undefined;
  return merged(before, current, after);
}

/**
 * Whether a file holds everything that `text` changes in `base`, whatever else it holds: then committing `text` commits nothing
 * that is not there.
 */
export async function holds(file: Stored, text: Stored, base: Stored): Promise<boolean> {
  if (file === null || text === null) return file === text;
  if (file === text) return true;
  if (base !== null) return (await merged(base, text, file)) === file;
  if (isBinary(file)) return false;
  const { runs } = await diffLines(await splitLinesInTurns(text), await splitLinesInTurns(file));
  return runs.every(({ beforeStart, beforeEnd }) => beforeStart === beforeEnd);
}

/** What `base` becomes with what both sides change in it; `undefined` where they conflict, or if lines mean nothing there. */
export async function merged(base: string, one: string, other: string): Promise<string | undefined> {
  if ([base, one, other].some(isBinary)) return undefined;
  const { text, conflicts } = await mergeTexts(base, one, other, { current: '', proposed: '' });
  return conflicts === 0 ? text : undefined;
}

function isBinary(text: string): boolean {
  return text.includes('\0');
}
