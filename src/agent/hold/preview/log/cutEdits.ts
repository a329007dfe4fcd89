import { editsGive, type TextEdit } from '../../text/textEdit.ts';
import { isText, type FileSide, type TextSide } from '../fileChange.ts';

/** An edit without its text, which the text after all edits contains: its start and end, and the length of its text. */
export type Cut = readonly [start: number, end: number, length: number];

const cutsOfRead = new WeakMap<readonly TextEdit[], readonly Cut[]>();

/**
 * Gives a change that was read its edits. They are made whenever they are asked for, since there may be very many; their texts are
 * read from the text after them.
 */
export function withEdits<T extends object>(change: T, cuts: readonly Cut[], after: TextSide): T {
  return Object.defineProperty(change, 'edits', { enumerable: true, get: () => editsOf(cuts, after) });
}

function editsOf(cuts: readonly Cut[], after: TextSide): readonly TextEdit[] {
  let shift = 0;
  const edits = cuts.map(([start, end, length]): TextEdit => {
    const at = start + shift;
    shift += length - (end - start);
    const get = (): string => after.text.slice(at, at + length);
    return Object.defineProperty({ start, end, text: '' }, 'text', { get, enumerable: true });
  });
  cutsOfRead.set(edits, cuts);
  return edits;
}

/** The edits without their texts, none of which is read if they were read themselves; `undefined` if they do not fit these sides. */
export function cutsOf(
  edits: readonly TextEdit[],
  before: FileSide | null,
  after: FileSide | null,
): readonly Cut[] | undefined {
  const read = cutsOfRead.get(edits);
  if (read) return read;
  const areTexts = before && after && isText(before) && isText(after);
  if (!areTexts || !editsGive(before.text, edits, after.text)) return undefined;
  return edits.map(({ start, end, text }) => [start, end, text.length]);
}
