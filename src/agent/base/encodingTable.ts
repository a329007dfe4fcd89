/**
 * Encodings that Node can read and not write, by VS Code's names of them, with the names by which `TextDecoder` knows them.
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
  iso885911: 'windows-874',
  cp866: 'ibm866',
  koi8r: 'koi8-r',
  koi8u: 'koi8-u',
  macroman: 'macintosh',
  shiftjis: 'shift_jis',
  eucjp: 'euc-jp',
  euckr: 'euc-kr',
  cp950: 'big5',
  gb2312: 'gbk',
  gbk: 'gbk',
  gb18030: 'gb18030',
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

/** Decodes every sequence of the encoding's characters once, and writes by looking up what they gave. */
function makeTable(label: string): EncodingTable {
  const strict = new TextDecoder(label, { fatal: true });
  // Tens of thousands of errors would take their time.
  const lenient = new TextDecoder(label);
  const codes = new Map<string, readonly number[]>();
  const leads: number[] = [];
  const add = (sequences: readonly (readonly number[])[]): boolean[] =>
    charsOf(sequences, lenient).map((char, i) => {
      // A trail that stands for itself after a lead that stands for nothing is no character of two bytes.
      const isOne =
        char !== '\ufffd' &&
        char !== '' &&
        char.length === String.fromCodePoint(char.codePointAt(0) ?? 0).length;
      if (isOne && !codes.has(char)) codes.set(char, sequences[i] ?? []);
      return isOne;
    });
  for (let byte = 0; byte < 256; byte++) {
    if (byte === LINE_FEED) codes.set('\n', [byte]);
    else if (!add([[byte]])[0]) leads.push(byte);
  }
  const trails = Array.from({ length: 256 - 0x21 }, (_, i) => 0x21 + i);
  for (const lead of leads) add(trails.map(trail => [lead, trail]));
  if (label === 'gb18030') add(Array.from({ length: FOUR_BYTES }, (_, n) => fourBytes(n)));
  const decode = (bytes: Uint8Array): string | undefined => {
    try {
      return strict.decode(bytes);
    } catch {
      return undefined;
    }
  };
  const encode = (text: string): Uint8Array => {
    const bytes = new Uint8Array(text.length * 4);
    let length = 0;
    const codeOf = (char: string): readonly number[] =>
      codes.get(char) ?? (label === 'gb18030' ? supplementaryCode(char) : undefined) ?? [0x3f];
    for (const char of text) for (const byte of codeOf(char)) bytes[length++] = byte;
    return bytes.slice(0, length);
  };
  return { decode, encode };
}

/** How many sequences of four bytes GB 18030 has for characters of the basic plane. */
const FOUR_BYTES = 39_420;
/** Where those of the other planes begin, one for each code point from U+10000 on. */
const SUPPLEMENTARY = 189_000;

const LINE_FEED = 0x0a;

/** What each of the sequences stands for, which must not hold a line feed. All at once: one by one takes ten times as long. */
function charsOf(
  sequences: readonly (readonly number[])[],
  decoder: InstanceType<typeof TextDecoder>,
): string[] {
  const bytes = new Uint8Array(sequences.reduce((sum, { length }) => sum + length + 1, 0));
  let at = 0;
  for (const sequence of sequences) {
    for (const byte of sequence) bytes[at++] = byte;
    bytes[at++] = LINE_FEED;
  }
  return decoder.decode(bytes).split('\n').slice(0, sequences.length);
}

function supplementaryCode(char: string): readonly number[] | undefined {
  const point = char.codePointAt(0) ?? 0;
  return point >= 0x10000 ? fourBytes(SUPPLEMENTARY + point - 0x10000) : undefined;
}

/** The n-th sequence of four bytes. */
function fourBytes(n: number): readonly number[] {
  return [
    0x81 + Math.floor(n / 12_600),
    0x30 + (Math.floor(n / 1_260) % 10),
    0x81 + (Math.floor(n / 10) % 126),
    0x30 + (n % 10),
  ];
}
