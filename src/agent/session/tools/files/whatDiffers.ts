import type { TimeSlice } from '../../../base/async.ts';
import { beginningOf } from '../../../base/cutText.ts';

/** The most lines of the file that are shown. */
const MAX_LINES = 5;
const MAX_LINE_CHARS = 200;

/** A line number with its separator, as our results and other tools write it. */
const NUMBER = /^[ \t]*\d+(?:\t|: ?|- ?|\||→)/;

/**
 * Common mistakes of models in repeated text, each with a function that folds a line. Each includes the folds before it.
 */
const FOLDS: readonly (readonly [what: string, fold: (line: string) => string])[] = [
  ['blanks at the ends of lines', line => line.trimEnd()],
  ['tabs and spaces', withoutBlanks],
  [
    'characters that look alike (Unicode normalisation, quotes, dashes, no-break spaces)',
    line =>
      withoutBlanks(
        line
          .normalize('NFKC')
          .replace(/[‘’‚`´]/g, "'")
          .replace(/[“”„«»]/g, '"')
          .replace(/[‐-―−]/g, '-'),
      ),
  ],
];

/**
 * How a text that a model wants to replace differs from the place that it means, in words for the model.
 * @param text with LF as line ending, as `old` is.
 * @returns `undefined` if it differs in more than easily overlooked details.
 */
export async function whatDiffers(
  text: string,
  old: string,
  field: string,
  slice: TimeSlice,
): Promise<string | undefined> {
  const lines = text.split('\n');
  const given = old.split('\n');
  const isNumbered = given.every(line => line.trim() === '' || NUMBER.test(line));
  const bare = isNumbered ? given.map(line => line.replace(NUMBER, '')) : given;
  const numbers = isNumbered ? ['line numbers, which are not part of the file'] : [];
  for (const [what, fold] of [['', (line: string) => line] as const, ...FOLDS]) {
    await slice.turn();
    const wanted = bare.map(fold).join('\n');
    if (wanted.trim() === '') return undefined;
    const folded = lines.map(fold).join('\n');
    const at = folded.indexOf(wanted);
    if (at < 0) continue;
    const first = folded.slice(0, at).split('\n').length - 1;
    const differences = [...numbers, ...(what === '' ? [] : [what])].join(', and in ');
    return `${field} differs from line ${first + 1} only in ${differences}. ${shown(lines.slice(first, first + given.length))}`;
  }
  return undefined;
}

function withoutBlanks(line: string): string {
  return line.trim().replace(/\s+/g, ' ');
}

/** Lines as JSON, which shows their white space. */
function shown(lines: readonly string[]): string {
  const rows = lines.slice(0, MAX_LINES).map(line => JSON.stringify(beginningOf(line, MAX_LINE_CHARS)));
  const more = lines.length > MAX_LINES ? ['…'] : [];
  return `As JSON, the file has there:\n${[...rows, ...more].join('\n')}`;
}
