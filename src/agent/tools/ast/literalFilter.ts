import { Buffer } from 'node:buffer';
import type { Literal } from './literals.ts';

/** A literal as bytes of UTF-8. */
export interface ByteLiteral {
  readonly bytes: Buffer;
  readonly whole: boolean;
}

export function toBytes({ text, whole }: Literal): ByteLiteral {
  return { bytes: Buffer.from(text), whole };
}

/** Whether the text holds each of the literals. Linear for each; the first one missing ends it. */
export function holdsAll(text: Buffer, literals: readonly ByteLiteral[]): boolean {
  return literals.every(literal => indexOfLiteral(text, literal, 0) >= 0);
}

/** Where a literal stands at or after `from`; -1 when it does not. */
export function indexOfLiteral(text: Buffer, { bytes, whole }: ByteLiteral, from: number): number {
  for (let at = text.indexOf(bytes, from); at >= 0; at = text.indexOf(bytes, at + 1)) {
    if (!whole || isWhole(text, at, at + bytes.length)) return at;
  }
  return -1;
}

/** Whether the bytes from `start` up to `end` are not part of a longer word. */
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
