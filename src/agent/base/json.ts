import { messageOf } from './errors.ts';

/** The longest JSON text of a foreign value that is kept, in characters. */
const MAX_CHARS = 1_000_000;
/** The deepest nesting of lists and objects of a foreign value that is kept, so that no recursion over it overflows the stack. */
export const MAX_DEPTH = 100;

/**
 * A foreign value as it would come back from JSON, so that it can be stored; `undefined` for a function. A value that JSON
 * cannot represent (cycles, a `BigInt`), or that is too large or nested too deeply, is replaced by a string that says so.
 */
export function jsonSafe(value: unknown): unknown {
  try {
    // Returns `undefined` for a function, contrary to its type.
    const text = JSON.stringify(value) as string | undefined;
    if (text === undefined) return undefined;
    if (text.length > MAX_CHARS) return `[not storable: ${text.length} characters]`;
    const safe: unknown = JSON.parse(text);
    return isDeeperThan(MAX_DEPTH, safe) ? `[not storable: more than ${MAX_DEPTH} levels]` : safe;
  } catch (error) {
    return `[not storable: ${messageOf(error)}]`;
  }
}

/** Whether lists and objects in a value are nested more than this many levels deep. */
export function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some(part => isDeeperThan(levels - 1, part));
}

/** The value of a JSON text; `undefined` if the text is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** True for the JSON text of an object. */
export function isJsonObject(text: string): boolean {
  return isRecord(parsedJson(text));
}

/** True for a plain object, not for null or an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields of an object; none of anything else. */
export function fieldsIn(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

/** The strings in a list; none in anything else. */
export function stringsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter(each => typeof each === 'string') : [];
}

/** The same data, deeply readonly. */
export type DeepReadonly<T> = T extends object ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> } : T;
