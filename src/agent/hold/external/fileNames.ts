/**
 * Names of files as bytes. A name is text here where it is UTF-8; each byte of another one becomes half a surrogate pair, which
 * no text has, so that it never looks like the name of a file that is called so.
 */
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The first of the 128 halves that stand for the bytes from 0x80. */
const FIRST_HALF = 0xdc80;

/** A character that a program before us could not read. No name of a file is known that has it. */
export const LOST = '\udc00';

export function nameOfBytes(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes);
  } catch {
    return Array.from(bytes, byte => String.fromCharCode(byte < 0x80 ? byte : FIRST_HALF + byte - 0x80)).join(
      '',
    );
  }
}

/** Whether there is a text for a name, so that it can be shown, and a file of this name be read and written. */
export function isNameable(name: string): boolean {
  return name.isWellFormed();
}

/** A name as it is shown: the bytes that are no text as `\xff`. */
export function shownName(name: string): string {
  return name
    .replace(/[\udc80-\udcff](?<![\ud800-\udbff].)/g, half => {
      const byte = half.charCodeAt(0) - FIRST_HALF + 0x80;
      return `\\x${byte.toString(16)}`;
    })
    .toWellFormed();
}

/** What programs show that read a name as UTF-8 whatever it is: each of its bad bytes as U+FFFD. */
export function misreadName(name: string): string {
  return isNameable(name) ? name : Buffer.from(bytesOfName(name)).toString('utf8');
}

function bytesOfName(name: string): Uint8Array {
  return Buffer.from(
    Array.from({ length: name.length }, (_, n) => {
      const unit = name.charCodeAt(n);
      return unit < FIRST_HALF ? unit : unit - FIRST_HALF + 0x80;
    }),
  );
}
