import { messageOf } from '../../base/errors.ts';

/** A place in a file, counted from 0. */
interface Place {
  readonly line: number;
  readonly column: number;
}

/** Where in a file something went wrong, and the message without that place. */
export interface ErrorPlace extends Place {
  readonly message: string;
}

const START: Place = { line: 0, column: 0 };

/**
 * Finds the place in `file` that an error speaks of: the end of the message of a syntax error, the line of the innermost
 * frame of the stack that lies in the file, or that which imports what is missing. Unknown is the first character.
 */
export function errorPlace(error: unknown, file: string, source: string): ErrorPlace {
  const text = messageOf(error);
  const at = text.lastIndexOf(`${file}:`);
  const parsed = at < 0 ? undefined : lineAndColumn(text.slice(at + file.length));
  if (parsed) return { ...parsed, message: text.slice(0, at).trim() };
  const message = text.replace(/\nRequire stack:[\s\S]*$/, '');
  const [, missing] = /^Cannot find (?:module|package) '([^']+)'/.exec(message) ?? [];
  if (missing !== undefined) return { ...placeOfText(source, missing), message };
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const frame = stack.split('\n').find(each => each.includes(`${file}:`)) ?? '';
  const line = lineAndColumn(frame.slice(frame.lastIndexOf(`${file}:`) + file.length))?.line;
  // The column is that of the code as it runs, which is not that of the source.
  return { ...(line === undefined ? START : { line, column: indentOf(source, line) }), message };
}

/** Where a source names something between quotes; unknown is the first character. */
export function placeOfText(source: string, quoted: string): Place {
  const at = ["'", '"', '`'].map(mark => source.indexOf(`${mark}${quoted}${mark}`)).find(found => found >= 0);
  if (at === undefined) return START;
  const before = source.slice(0, at);
  return { line: before.split('\n').length - 1, column: at - (before.lastIndexOf('\n') + 1) };
}

/** Reads `:2:12`, as a syntax error has it: lines from 1, columns from 0. */
function lineAndColumn(text: string): Place | undefined {
  const [, line, column] = /^:(\d+):(\d+)/.exec(text) ?? [];
  return line === undefined ? undefined : { line: Number(line) - 1, column: Number(column) };
}

function indentOf(source: string, line: number): number {
  return /^\s*/.exec(source.split('\n')[line] ?? '')?.[0].length ?? 0;
}
