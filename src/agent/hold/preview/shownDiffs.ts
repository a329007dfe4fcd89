import { TimeSlice } from '../../base/async.ts';
import { beginningOf } from '../../base/cutText.ts';
import { fenced, plural } from '../../base/phrases.ts';
import { quoted, safeName } from '../../base/safeName.ts';
import { encodingTitle } from '../text/encodings.ts';
import { LINE_ENDING_NAMES, lineEndingOf } from '../text/lines.ts';
import { rewriteSummary } from '../text/rewriteSummary.ts';
import {
  isBinary,
  isLink,
  isText,
  isWhole,
  textOf,
  type FileChange,
  type FileSide,
  type TextSide,
} from './fileChange.ts';
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

async function diffOf(change: FileChange): Promise<string> {
  const { kind, path, before, after } = change;
  const name = `${kind === 'rename' ? `${safeName(change.from)} to ` : ''}${safeName(path)}`;
  const notes = unseenNotes(change);
  if (isWhole(change)) {
    const sides = [before, after].filter(side => side !== null).map(sideName);
    return [`${name} (${kind}): ${sides.join(' becomes ')}, which has no diff.`, ...notes].join('\n');
  }
  const [head = '', ...diff] = (
    await rewriteSummary(name, textOf(before), textOf(after), Infinity, Infinity)
  ).split('\n');
  return [head, ...notes, ...diff].join('\n');
}

function sideName(side: FileSide): string {
  if (isLink(side)) return `a symbolic link to ${quoted(side.link)}`;
  return isBinary(side) ? `a binary file of ${plural(side.size, 'byte')}` : 'a text file';
}

/** Differences that no line of a diff shows: permission bits, the encoding and line endings. */
function unseenNotes(change: FileChange): string[] {
  const { before, after } = change;
  const notes: string[] = [];
  if ('mode' in change && change.mode !== undefined)
    notes.push(`Its permission bits become ${change.mode.toString(8).padStart(3, '0')}.`);
  if (!after || !isText(after)) return notes;
  const from = before && isText(before) ? before : undefined;
  const encoding = encodingName(after);
  if (encoding !== (from ? encodingName(from) : 'UTF-8')) notes.push(`Its encoding becomes ${encoding}.`);
  const endings = endingsName(after);
  if (endings !== '' && endings !== ((from && endingsName(from)) || 'LF'))
    notes.push(`Its line endings become ${endings}.`);
  return notes;
}

function encodingName({ encoding }: TextSide): string {
  return `${encodingTitle(encoding)}${encoding.bom ? ' with a byte order mark' : ''}`;
}

/** The kinds of line endings in a text, each with their number if there are several kinds; empty if it has none. */
function endingsName({ text }: TextSide): string {
  const kind = lineEndingOf(text);
  if (kind !== 'mixed') return kind === undefined ? '' : LINE_ENDING_NAMES[kind];
  const found = text.match(/\r\n|\r|\n/g) ?? [];
  return Object.entries(LINE_ENDING_NAMES)
    .map(([ending, name]) => [name, found.filter(each => each === ending).length] as const)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}
