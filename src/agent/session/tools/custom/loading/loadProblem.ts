import { messageOf } from '../../../../base/errors.ts';

/** A fault of a custom tool. Views turn it into a sentence. */
export type LoadFault =
  | { readonly kind: 'noDefaultExport' }
  /** The default export is not a function. */
  | { readonly kind: 'noFactory' }
  | { readonly kind: 'importFailed'; readonly message: string }
  /** The import or the factory did not settle. */
  | { readonly kind: 'timedOut'; readonly seconds: number }
  | { readonly kind: 'factoryThrew'; readonly message: string }
  /** `index` counts from 0; it is 0 for a factory that returns a single tool. */
  | { readonly kind: 'invalidTool'; readonly index: number; readonly message: string }
  /** `by` is the file whose tool has the name; left out for a tool of Redline or another extension. */
  | { readonly kind: 'nameTaken'; readonly name: string; readonly by?: string }
  /** It tried to end the process with `call`. */
  | { readonly kind: 'exitCalled'; readonly call: string }
  /** It threw outside any call: in a timer, in `onSession`, or in a promise that nothing awaits. */
  | { readonly kind: 'threwLater'; readonly message: string };

/** A fault at its place. */
export interface LoadProblem {
  /** Absolute path. */
  readonly file: string;
  /** Both count from 0; the first character of the file if the place is not known. */
  readonly line: number;
  readonly column: number;
  readonly fault: LoadFault;
}

/** A fault as one line of the log. */
export function faultText(fault: LoadFault): string {
  const { kind, ...rest } = fault;
  return [kind, ...Object.entries(rest).map(([key, value]) => `${key}: ${String(value)}`)].join(', ');
}

/**
 * Locates a fault in its file.
 * @param error the thrown value, if any.
 * @param source the text of the file.
 */
export function locateFault(fault: LoadFault, error: unknown, file: string, source: string): LoadProblem {
  if (fault.kind === 'nameTaken') return { file, ...placeOfText(source, fault.name), fault };
  const { message, ...place } = errorPlace(error, file, source);
  // The problem has the place already, so the message need not repeat it.
  const hasPlace = fault.kind === 'importFailed' || fault.kind === 'factoryThrew';
  return { file, ...place, fault: hasPlace ? { ...fault, message } : fault };
}

/** A place in a file, counted from 0. */
interface Place {
  readonly line: number;
  readonly column: number;
}

/** The place of an error in a file, and its message without that place. */
export interface ErrorPlace extends Place {
  readonly message: string;
}

const START: Place = { line: 0, column: 0 };

/** The file that loaders on Windows report for a source without one: the root of the drive. */
const NO_FILE = /\b[A-Z]:\\: /i;

/**
 * Finds the place in `file` that an error is about: the one at the end of a syntax error's message, the import of a missing
 * module, or the innermost stack frame in the file. If there is none, it is the first character.
 */
export function errorPlace(error: unknown, file: string, source: string): ErrorPlace {
  const text = messageOf(error);
  const parsed = placeIn(text, file);
  if (parsed) return { ...parsed.place, message: text.slice(0, parsed.at).replace(NO_FILE, '').trim() };
  const message = text.replace(/\nRequire stack:[\s\S]*$/, '');
  const [, missing] = /^Cannot find (?:module|package) '([^']+)'/.exec(message) ?? [];
  if (missing !== undefined) return { ...placeOfText(source, missing), message };
  const line = frameIn(error, file)?.line;
  // The column of a frame is that of the transpiled code, not of the source.
  return { ...(line === undefined ? START : { line, column: indentOf(source, line) }), message };
}

/** Whether an error was thrown in a file or in code called from it. */
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

/** The place of the first string literal with this text; the first character if there is none. */
export function placeOfText(source: string, quoted: string): Place {
  const at = ["'", '"', '`'].map(mark => source.indexOf(`${mark}${quoted}${mark}`)).find(found => found >= 0);
  if (at === undefined) return START;
  const before = source.slice(0, at);
  return { line: before.split('\n').length - 1, column: at - (before.lastIndexOf('\n') + 1) };
}

/** The last mention of a place in the file, such as `/tool.ts:2:12`: lines count from 1, columns from 0. */
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
