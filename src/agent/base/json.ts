import { messageOf } from './errors.ts';

/** The most characters that a foreign value may take up as JSON. */
const MAX_CHARS = 1_000_000;

/**
 * A foreign value as JSON would give it back, which can be kept; `undefined` for a function. What JSON cannot hold (cycles, a
 * `BigInt`), and what is too large, becomes a text that says so.
 */
export function jsonSafe(value: unknown): unknown {
  try {
    // A function gives `undefined`, which its type does not tell.
    const text = JSON.stringify(value) as string | undefined;
    if (text === undefined) return undefined;
    return text.length > MAX_CHARS
      ? `[not storable: ${text.length} characters]`
      : (JSON.parse(text) as unknown);
  } catch (error) {
    return `[not storable: ${messageOf(error)}]`;
  }
}
