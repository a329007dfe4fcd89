import { TimeSlice } from '../../base/async.ts';
import { beginningOf } from '../../base/cutText.ts';
import { plural } from '../../base/phrases.ts';
import { safeName } from '../../base/safeName.ts';
import { hunksOf, patchText } from '../text/hunks.ts';
import { changedLines } from '../text/rewriteSummary.ts';
import { isBinary, isLink, textOf, type FileChange } from './fileChange.ts';

/** The room for diffs that the model looks at, in characters. */
export const MAX_LOOK_CHARS = 24_000;
/** The most files that are named. */
const MAX_FILES = 200;
/** With less room than this, in characters, only the lines of a longer diff are counted. */
const MIN_CHARS = 400;

/** Diffs as the model is shown them. */
export interface ShownDiffs {
  readonly text: string;
  /** Whether they show every changed line. */
  readonly isWhole: boolean;
}

/**
 * The diffs of changes in about this many characters. If they do not fit, the longest are cut, to the same length; where that is
 * next to nothing, the first that fit are shown, and of the others how many lines change.
 */
export async function diffsOf(changes: readonly FileChange[], maxChars: number): Promise<ShownDiffs> {
  const slice = new TimeSlice();
  const diffs: Diff[] = [];
  for (const change of changes.slice(0, MAX_FILES)) {
    await slice.turn();
    diffs.push(await diffOf(change, maxChars + 1));
  }
  let left = Math.max(0, maxChars - diffs.reduce((sum, { head }) => sum + head.length, 0));
  const room = roomFor(
    diffs.map(({ patch }) => patch.length),
    left,
  );
  const texts = diffs.map(({ head, patch }) => {
    if (patch.length <= (room < MIN_CHARS ? left : room)) {
      left -= patch.length;
      return patch === '' ? head : `${head}\n${patch}`;
    }
    return room < MIN_CHARS ? head : `${head}\n${beginningOf(patch, room)}\n[Cut off here.]`;
  });
  const more = changes.length - MAX_FILES;
  if (more > 0) texts.push(`[${plural(more, 'more file')} not shown]`);
  return { text: texts.join('\n'), isWhole: more <= 0 && diffs.every(({ patch }) => patch.length <= room) };
}

/** How much of each text there is room for, if the shorter ones are shown whole. */
function roomFor(lengths: readonly number[], all: number): number {
  let left = all;
  for (const [at, length] of lengths.toSorted((a, b) => a - b).entries()) {
    const share = Math.floor(left / (lengths.length - at));
    if (length > share) return share;
    left -= length;
  }
  return Infinity;
}

interface Diff {
  readonly head: string;
  readonly patch: string;
}

async function diffOf({ kind, path, before, after }: FileChange, maxChars: number): Promise<Diff> {
  const name = safeName(path);
  if ([before, after].some(side => side !== null && (isLink(side) || isBinary(side)))) {
    const head = `${name} (${kind}): a symbolic link or binary file, before or after, which has no diff.`;
    return { head, patch: '' };
  }
  const [old, now] = [textOf(before), textOf(after)];
  // A line has a character at least.
  const lines = patchText(path, await hunksOf(old, now), maxChars)
    .split('\n')
    .slice(2);
  return { head: await changedLines(name, old, now), patch: beginningOf(lines.join('\n'), maxChars) };
}
