/**
 * Encodings that Node can read and not write, by VS Code's names of them, with the names by which `TextDecoder` knows them.
 * Those whose characters are longer than two bytes are left out.
 */
const labels = {
  windows1250: 'windows-1250',
  windows1251: 'windows-1251',
  windows1252: 'windows-1252',
  windows1253: 'windows-1253',
  windows1254: 'windows-1254',
  windows1255: 'windows-1255',
  windows1256: 'windows-1256',
  windows1257: 'windows-1257',
  windows1258: 'windows-1258',
  windows874: 'windows-874',
  iso88592: 'iso-8859-2',
  iso88593: 'iso-8859-3',
  iso88594: 'iso-8859-4',
  iso88595: 'iso-8859-5',
  iso88596: 'iso-8859-6',
  iso88597: 'iso-8859-7',
  iso88598: 'iso-8859-8',
  iso885910: 'iso-8859-10',
  iso885913: 'iso-8859-13',
  iso885914: 'iso-8859-14',
  iso885915: 'iso-8859-15',
  iso885916: 'iso-8859-16',
  koi8r: 'koi8-r',
  koi8u: 'koi8-u',
  macroman: 'macintosh',
  shiftjis: 'shift_jis',
  eucjp: 'euc-jp',
  euckr: 'euc-kr',
  gbk: 'gbk',
} as const;

export type TabledEncoding = keyof typeof labels;

export function isTabled(name: string): name is TabledEncoding {
  return Object.hasOwn(labels, name);
}

/** Reads and writes one encoding. */
export interface EncodingTable {
  /** `undefined` for bytes that stand for nothing. */
  decode(bytes: Uint8Array): string | undefined;
  /** With a question mark for every character that the encoding lacks. */
  encode(text: string): Uint8Array;
}

const tables = new Map<TabledEncoding, EncodingTable>();

/** The table of an encoding; made with the first use, which takes some milliseconds for those of two bytes. */
export function tableFor(name: TabledEncoding): EncodingTable {
  let table = tables.get(name);
  if (!table) tables.set(name, (table = makeTable(labels[name])));
  return table;
}

/** Decodes every sequence of one and two bytes once, and writes by looking up what they gave. */
function makeTable(label: string): EncodingTable {
  const strict = new TextDecoder(label, { fatal: true });
  // Tens of thousands of errors would take their time.
  const lenient = new TextDecoder(label);
  const charOf = (...bytes: number[]): string | undefined => {
    const text = lenient.decode(Uint8Array.from(bytes));
    return text === '' || text.includes('\ufffd') ? undefined : text;
  };
  const codes = new Map<string, readonly number[]>();
  const leads: number[] = [];
  for (let byte = 0; byte < 256; byte++) {
    const char = charOf(byte);
    if (char === undefined) leads.push(byte);
    else if (!codes.has(char)) codes.set(char, [byte]);
  }
  for (const lead of leads) {
    for (let trail = 0x21; trail < 256; trail++) {
      const char = charOf(lead, trail);
      // A trail that stands for itself after a lead that stands for nothing is no character of two bytes.
      if (char !== undefined && [...char].length === 1 && !codes.has(char)) codes.set(char, [lead, trail]);
    }
  }
  const decode = (bytes: Uint8Array): string | undefined => {
    try {
      return strict.decode(bytes);
    } catch {
      return undefined;
    }
  };
  const encode = (text: string): Uint8Array => {
    const bytes = new Uint8Array(text.length * 2);
    let length = 0;
    for (const char of text) for (const byte of codes.get(char) ?? [0x3f]) bytes[length++] = byte;
    return bytes.slice(0, length);
  };
  return { decode, encode };
}
