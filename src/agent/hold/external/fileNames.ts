/**
 * Names of files as bytes. A name in UTF-8 is text; in any other name, each byte from 0x80 becomes half a surrogate pair, which no
 * text has, so that it never looks like the name of another file.
 */
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The first of the 128 halves that stand for the bytes from 0x80. */
const FIRST_HALF = 0xdc80;

/** A character that an earlier program could not read. No known file name contains it. */
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

/** Whether a name has a text form, so that it can be shown, and a file of this name can be read and written. */
export function isNameable(name: string): boolean {
  return name.isWellFormed();
}

/** A name as it is shown, with the bytes that are not text as `\xff`. */
export function shownName(name: string): string {
  return name
    .replace(/[\udc80-\udcff](?<![\ud800-\udbff].)/g, half => {
      const byte = half.charCodeAt(0) - FIRST_HALF + 0x80;
      return `\\x${byte.toString(16)}`;
    })
    .toWellFormed();
}

/** A name as shown by programs that read every name as UTF-8: each bad byte as U+FFFD. */
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
