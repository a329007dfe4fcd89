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
  const parsed = placeIn(text, file);
  if (parsed) return { ...parsed.place, message: text.slice(0, parsed.at).trim() };
  const message = text.replace(/\nRequire stack:[\s\S]*$/, '');
  const [, missing] = /^Cannot find (?:module|package) '([^']+)'/.exec(message) ?? [];
  if (missing !== undefined) return { ...placeOfText(source, missing), message };
  const line = frameIn(error, file)?.line;
  // The column is that of the code as it runs, which is not that of the source.
  return { ...(line === undefined ? START : { line, column: indentOf(source, line) }), message };
}

/** Whether an error was thrown in a file, or by what was called from there. */
export function isThrownIn(error: unknown, file: string): boolean {
  return frameIn(error, file) !== undefined;
}

/** The innermost frame of an error's stack that lies in the file. */
function frameIn(error: unknown, file: string): Place | undefined {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  for (const frame of stack.split('\n')) {
    const found = placeIn(frame, file);
    if (found) return found.place;
  }
  return undefined;
}

/** Where a source names something between quotes; unknown is the first character. */
export function placeOfText(source: string, quoted: string): Place {
  const at = ["'", '"', '`'].map(mark => source.indexOf(`${mark}${quoted}${mark}`)).find(found => found >= 0);
  if (at === undefined) return START;
  const before = source.slice(0, at);
  return { line: before.split('\n').length - 1, column: at - (before.lastIndexOf('\n') + 1) };
}

/** What a text says last of a place in the file, such as `/tool.ts:2:12`: lines from 1, columns from 0. */
function placeIn(text: string, file: string): { readonly at: number; readonly place: Place } | undefined {
  // Loaders write paths with slashes on Windows too.
  for (const name of new Set([file, file.replaceAll('\\', '/')])) {
    const at = text.lastIndexOf(`${name}:`);
    const [, line, column] = at < 0 ? [] : (/^:(\d+):(\d+)/.exec(text.slice(at + name.length)) ?? []);
    if (line !== undefined) return { at, place: { line: Number(line) - 1, column: Number(column) } };
  }
  return undefined;
}

function indentOf(source: string, line: number): number {
  return /^\s*/.exec(source.split('\n')[line] ?? '')?.[0].length ?? 0;
}
