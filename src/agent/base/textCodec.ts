import { isTabled, tableFor, type TabledEncoding } from './encodingTable.ts';

export type EncodingName = 'utf8' | 'utf16le' | 'utf16be' | 'iso88591' | TabledEncoding;

/** How a file's text is stored as bytes. Names are those of VS Code's setting `files.encoding`. */
export interface TextEncoding {
  readonly name: EncodingName;
  /** Whether the file begins with a byte order mark. The mark is not part of the text. */
  readonly bom: boolean;
}

/** What a file that is created anew is written in unless the workspace says otherwise. */
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

/** Whether text can be read and written in the encoding of that name. */
export function isEncodingName(name: string): name is EncodingName {
  return ['utf8', 'utf16le', 'utf16be', 'iso88591'].includes(name) || isTabled(name);
}

/**
 * Decodes bytes only if {@link encodeText} gives back the very same bytes; `undefined` means that the file is
 * binary or in another encoding, and must not be edited as text.
 * @param expected what the bytes are stored in unless they begin with a byte order mark.
 */
export function decodeText(bytes: Uint8Array, expected = defaultEncoding): DecodedText | undefined {
  const mark = boms.find(({ bytes: mark }) => mark.every((byte, i) => bytes[i] === byte));
  const encoding: TextEncoding = mark?.encoding ?? { name: expected.name, bom: false };
  const body = bytes.subarray(mark?.bytes.length ?? 0);
  const text = decodeBody(body, encoding.name);
  // NUL stands in binary files, and in UTF-32, whose mark begins like that of UTF-16.
  if (text === undefined || text.includes('\0')) return undefined;
  // What decodes as UTF-8 without an error always encodes to the same bytes.
  const isExact = encoding.name === 'utf8' || sameBytes(encodeText(text, encoding), bytes);
  return isExact ? { text, encoding } : undefined;
}

/**
 * The exact bytes of `text` in `encoding`, with its byte order mark if it has one. Characters that the encoding lacks
 * become a question mark; whoever must know reads the bytes again.
 */
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

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decodeBody(body: Uint8Array, name: EncodingName): string | undefined {
  switch (name) {
    case 'utf8':
      try {
        return utf8.decode(body);
      } catch {
        return undefined;
      }
    case 'utf16le':
    case 'utf16be': {
      if (body.length % 2 === 1) return undefined;
      const units = Buffer.from(body);
      return (name === 'utf16be' ? units.swap16() : units).toString('utf16le');
    }
    case 'iso88591':
      return Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1');
    default:
      return tableFor(name).decode(body);
  }
}

function encodeBody(text: string, name: EncodingName): Uint8Array {
  switch (name) {
    case 'utf8':
      return plain(Buffer.from(text, 'utf8'));
    case 'utf16le':
      return plain(Buffer.from(text, 'utf16le'));
    case 'utf16be':
      return plain(Buffer.from(text, 'utf16le').swap16());
    case 'iso88591':
      // Node takes the low byte of whatever does not fit.
      return plain(Buffer.from(text.replace(/[^\0-\xff]/gu, '?'), 'latin1'));
    default:
      return tableFor(name).encode(text);
  }
}

/** The same bytes as what callers are promised, without a copy. */
function plain({ buffer, byteOffset, length }: Buffer): Uint8Array {
  return new Uint8Array(buffer, byteOffset, length);
}
