import { Buffer } from 'node:buffer';
import type { Literal } from './literals.ts';

/** A literal as UTF-8. */
export interface ByteLiteral {
  readonly bytes: Buffer;
  readonly whole: boolean;
}

export function toBytes({ text, whole }: Literal): ByteLiteral {
  return { bytes: Buffer.from(text), whole };
}

/** Whether the text contains all of the literals. Linear for each one. */
export function holdsAll(text: Buffer, literals: readonly ByteLiteral[]): boolean {
  return literals.every(literal => indexOfLiteral(text, literal, 0) >= 0);
}

/** The first offset of a literal at or after `from`; -1 if there is none. */
export function indexOfLiteral(text: Buffer, { bytes, whole }: ByteLiteral, from: number): number {
  for (let at = text.indexOf(bytes, from); at >= 0; at = text.indexOf(bytes, at + 1)) {
    if (!whole || isWhole(text, at, at + bytes.length)) return at;
  }
  return -1;
}

/** Whether the bytes from `start` to `end` are a word of their own, not part of a longer one. */
export function isWhole(text: Uint8Array, start: number, end: number): boolean {
  return !isWordByte(text[start - 1]) && !isWordByte(text[end]);
}

function isWordByte(byte: number | undefined): boolean {
  return (
    byte !== undefined &&
    ((byte >= 0x30 && byte <= 0x39) ||
      (byte >= 0x41 && byte <= 0x5a) ||
      byte === 0x5f ||
      (byte >= 0x61 && byte <= 0x7a))
  );
}
