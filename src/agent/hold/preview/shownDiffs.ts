import { TimeSlice } from '../../base/async.ts';
import { beginningOf } from '../../base/cutText.ts';
import { fenced } from '../../base/phrases.ts';
import { safeName } from '../../base/safeName.ts';
import { rewriteSummary } from '../text/rewriteSummary.ts';
import { isBinary, isLink, textOf, type FileChange } from './fileChange.ts';
import type { Preview } from './preview.ts';

/** The room for a diff that the model looks at, in characters. */
export const MAX_LOOK_CHARS = 24_000;
/** The room for the diff in the result of the call that stages it, in characters. */
export const MAX_RESULT_DIFF_CHARS = 8_000;

/** A part of a diff as the model is shown it. */
export interface ShownDiff {
  /** Fenced; says how to see more of it, if there is more. */
  readonly text: string;
  /** Where in the diff it ends, in characters; `Infinity`: at the diff's end. */
  readonly end: number;
}

/** A part of a diff that begins at this place, in characters; `text` is whole in the message that shows it. */
export interface ShownPart extends ShownDiff {
  readonly from: number;
}

/** Notes that the model is shown this part of a preview's diff. */
export type NoteShown = (preview: Preview, part: ShownPart) => void;

/** The diff of a preview from a place in it on, in about this many characters, in whole lines where they fit. */
export async function shownDiff(
  { id, changes }: Preview,
  from: number,
  maxChars: number,
): Promise<ShownDiff> {
  const slice = new TimeSlice();
  let diff = '';
  for (const change of changes ?? []) {
    await slice.turn();
    diff += `${await diffOf(change)}\n`;
    if (diff.length <= from + maxChars) continue;
    const line = diff.lastIndexOf('\n', from + maxChars - 1) + 1;
    const end = line > from ? line : from + beginningOf(diff.slice(from), maxChars).length;
    const more = `The diff goes on. Call pending with id "${id}" and offset ${end} to see more of it.`;
    return { text: `${fenced(diff.slice(from, end))}\n${more}`, end };
  }
  return { text: fenced(diff.slice(from)), end: Infinity };
}

function diffOf(change: FileChange): string | Promise<string> {
  const { kind, path, before, after } = change;
  const name = `${kind === 'rename' ? `${safeName(change.from)} to ` : ''}${safeName(path)}`;
  return [before, after].some(side => side !== null && (isLink(side) || isBinary(side)))
    ? `${name} (${kind}): a symbolic link or binary file, before or after, which has no diff.`
    : rewriteSummary(name, textOf(before), textOf(after), Infinity, Infinity);
}
