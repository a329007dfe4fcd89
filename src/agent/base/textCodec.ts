/** How a file's text is stored as bytes. */
export interface TextEncoding {
  readonly name: 'utf8' | 'utf16le' | 'utf16be';
  /** Whether the file begins with a byte order mark. The mark is not part of the text. */
  readonly bom: boolean;
}

/** What a file that is created anew is written in. */
export const defaultEncoding: TextEncoding = { name: 'utf8', bom: false };

export interface DecodedText {
  readonly text: string;
  readonly encoding: TextEncoding;
}

const boms = [
  { encoding: { name: 'utf8', bom: true }, bytes: [0xef, 0xbb, 0xbf] },
  { encoding: { name: 'utf16le', bom: true }, bytes: [0xff, 0xfe] },
  { encoding: { name: 'utf16be', bom: true }, bytes: [0xfe, 0xff] },
] as const;

/**
 * Decodes bytes only if {@link encodeText} gives back the very same bytes; `undefined` means that the file is
 * binary or in an encoding that is not known here, and must not be edited as text.
 */
export function decodeText(bytes: Uint8Array): DecodedText | undefined {
  const mark = boms.find(({ bytes: mark }) => mark.every((byte, i) => bytes[i] === byte));
  const encoding: TextEncoding = mark?.encoding ?? defaultEncoding;
  const body = bytes.subarray(mark?.bytes.length ?? 0);
  const text = decodeBody(body, encoding.name);
  // NUL stands in binary files, and in UTF-32, whose mark begins like that of UTF-16.
  if (text === undefined || text.includes('\0')) return undefined;
  return sameBytes(encodeText(text, encoding), bytes) ? { text, encoding } : undefined;
}

/** The exact bytes of `text` in `encoding`, with its byte order mark if it has one. */
export function encodeText(text: string, encoding: TextEncoding): Uint8Array {
  const mark = boms.find(({ encoding: known }) => known.name === encoding.name);
  const head = encoding.bom && mark ? Uint8Array.from(mark.bytes) : new Uint8Array();
  const body = encodeBody(text, encoding.name);
  if (head.length === 0) return body;
  const bytes = new Uint8Array(head.length + body.length);
  bytes.set(head);
  bytes.set(body, head.length);
  return bytes;
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

function decodeBody(body: Uint8Array, name: TextEncoding['name']): string | undefined {
  if (name !== 'utf8') {
    if (body.length % 2 === 1) return undefined;
    const units = Buffer.from(body);
    return (name === 'utf16be' ? units.swap16() : units).toString('utf16le');
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}

function encodeBody(text: string, name: TextEncoding['name']): Uint8Array {
  const units = Buffer.from(text, name === 'utf8' ? 'utf8' : 'utf16le');
  return Uint8Array.from(name === 'utf16be' ? units.swap16() : units);
}
