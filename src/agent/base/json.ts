import { messageOf } from './errors.ts';

/** The value as JSON would give it back; what JSON cannot hold (cycles, functions at the root) becomes its text. */
export function jsonSafe(value: unknown): unknown {
  try {
    const text = JSON.stringify(value);
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch (error) {
    return `[not storable: ${messageOf(error)}]`;
  }
}
