import type Iconv from 'iconv-lite';

/** Encodings that Node supports. */
const builtIn = ['utf8', 'utf16le', 'utf16be', 'iso88591'] as const;

/**
 * The other encodings that VS Code supports, with tables of the library that VS Code uses: an unsaved editor must become
 * exactly the bytes that saving it would write, and the tables of Node's TextDecoder differ.
 */
// prettier-ignore
const tabled = [
  'windows1250', 'windows1251', 'windows1252', 'windows1253', 'windows1254', 'windows1255', 'windows1256',
  'windows1257', 'windows1258', 'windows874', 'iso88592', 'iso88593', 'iso88594', 'iso88595', 'iso88596',
  'iso88597', 'iso88598', 'iso88599', 'iso885910', 'iso885911', 'iso885913', 'iso885914', 'iso885915',
  'iso885916', 'cp437', 'cp850', 'cp852', 'cp857', 'cp865', 'cp866', 'cp1125', 'koi8r', 'koi8u', 'koi8ru',
  'koi8t', 'macroman', 'shiftjis', 'eucjp', 'euckr', 'cp950', 'big5hkscs', 'gb2312', 'gbk', 'gb18030',
] as const;

type BuiltInEncoding = (typeof builtIn)[number];
export type EncodingName = BuiltInEncoding | (typeof tabled)[number];

/** How a file's text is stored as bytes. Names are those of VS Code's setting `files.encoding`. */
export interface TextEncoding {
  readonly name: EncodingName;
  /** Whether the file begins with a byte order mark. The mark is not part of the text. */
  readonly bom: boolean;
}

/** The usual name of an encoding, such as `UTF-8`, without its byte order mark. */
export function encodingTitle({ name }: TextEncoding): string {
  const titles: Partial<Record<EncodingName, string>> = {
    utf8: 'UTF-8',
    utf16le: 'UTF-16 LE',
    utf16be: 'UTF-16 BE',
  };
  return titles[name] ?? name;
}

/** The encoding of a new file, unless the workspace says otherwise. */
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

/** Whether this is the name of a supported encoding, which may have to be loaded first. */
export function isEncodingName(name: string): name is EncodingName {
  return isBuiltIn(name) || (tabled as readonly string[]).includes(name);
}

let tables: typeof Iconv | undefined;

/**
 * Loads the tables that these encodings need, hundreds of kilobytes. Await it wherever the name of an encoding comes in from
 * outside; decoding and encoding are then synchronous.
 */
export async function loadEncodings(names: Iterable<EncodingName>): Promise<void> {
  if (![...names].every(isBuiltIn)) tables ??= (await import('iconv-lite')).default;
}

function isBuiltIn(name: string): name is BuiltInEncoding {
  return (builtIn as readonly string[]).includes(name);
}

/**
 * Decodes bytes, provided that {@link encodeText} gives back exactly the same bytes. If not, returns `undefined`: the file is
 * binary or in another encoding, and must not be edited as text.
 * @param expected the encoding, which must be loaded, unless the bytes begin with a byte order mark.
 */
export function decodeText(bytes: Uint8Array, expected = defaultEncoding): DecodedText | undefined {
  const mark = boms.find(({ bytes: mark }) => mark.every((byte, i) => bytes[i] === byte));
  const encoding: TextEncoding = mark?.encoding ?? { name: expected.name, bom: false };
  const body = bytes.subarray(mark?.bytes.length ?? 0);
  const text = decodeBody(body, encoding.name);
  // NUL occurs in binary files, and in UTF-32, whose byte order mark begins like that of UTF-16.
  if (text === undefined || text.includes('\0')) return undefined;
  // Valid UTF-8 always encodes to the same bytes.
  const isExact = encoding.name === 'utf8' || sameBytes(encodeText(text, encoding), bytes);
  return isExact ? { text, encoding } : undefined;
}

/**
 * The exact bytes of `text` in `encoding`, which must be loaded, with the byte order mark if there is one. Characters that
 * the encoding lacks become question marks; decode the bytes again to find out.
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
    default: {
      const text = loadedTables(name).decode(body, name, { stripBOM: false });
      return text.includes(REPLACEMENT) && name !== 'gb18030' ? undefined : text;
    }
  }
}

function encodeBody(text: string, name: EncodingName): Uint8Array {
  switch (name) {
    case 'utf8':
      return asUint8Array(Buffer.from(text, 'utf8'));
    case 'utf16le':
      return asUint8Array(Buffer.from(text, 'utf16le'));
    case 'utf16be':
      return asUint8Array(Buffer.from(text, 'utf16le').swap16());
    case 'iso88591':
      // Node would write the low byte of a character that does not fit.
      return asUint8Array(Buffer.from(text.replace(/[^\0-\xff]/gu, '?'), 'latin1'));
    default: {
      // iconv-lite decodes unassigned bytes to this character, and would encode it as one of them.
      const storable = name === 'gb18030' ? text : text.replaceAll(REPLACEMENT, '?');
      return asUint8Array(loadedTables(name).encode(storable, name));
    }
  }
}

/** The character that invalid bytes are decoded to. Of the encodings with tables, only GB 18030 can store it. */
const REPLACEMENT = '\ufffd';

function loadedTables(name: EncodingName): typeof Iconv {
  if (!tables) throw new Error(`The tables of ${name} are not loaded.`);
  return tables;
}

/** The same bytes as a plain `Uint8Array`, without a copy. */
function asUint8Array({ buffer, byteOffset, length }: Buffer): Uint8Array {
  return new Uint8Array(buffer, byteOffset, length);
}

/** The text of a page or an email in the charset that it names; in UTF-8 if there is no such charset. */
export function decodedText(bytes: Uint8Array, charset = 'utf-8'): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}
