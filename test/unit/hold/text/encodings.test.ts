import { test } from 'node:test';
import assert from 'node:assert/strict';
import {
  decodeText,
  encodeText,
  isEncodingName,
  loadEncodings,
  sameBytes,
  type EncodingName,
} from '../../../../src/agent/hold/text/encodings.ts';

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

test('tables that are not loaded are asked for, not guessed', () => {
  assert.throws(() => decodeText(bytes(0xe9), { name: 'cp866', bom: false }), /cp866 are not loaded/);
  assert.throws(() => encodeText('ж', { name: 'cp866', bom: false }), /cp866 are not loaded/);
});

test('the built-in encodings load nothing', async () => {
  await loadEncodings(['utf8', 'utf16le', 'utf16be', 'iso88591']);
  assert.throws(() => encodeText('ж', { name: 'cp866', bom: false }), /not loaded/);
});

const known: readonly [name: string, bytes: Uint8Array, text: string, encoding: object][] = [
  ['an empty file', bytes(), '', { name: 'utf8', bom: false }],
  ['UTF-8', bytes(0x61, 0xc3, 0xa4, 0x0d, 0x0a), 'aä\r\n', { name: 'utf8', bom: false }],
  ['UTF-8 with a mark', bytes(0xef, 0xbb, 0xbf, 0x61), 'a', { name: 'utf8', bom: true }],
  ['nothing but a UTF-8 mark', bytes(0xef, 0xbb, 0xbf), '', { name: 'utf8', bom: true }],
  [
    'two marks: the second is text',
    bytes(0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf),
    '\ufeff',
    { name: 'utf8', bom: true },
  ],
  ['UTF-16 little endian', bytes(0xff, 0xfe, 0x61, 0, 0xe4, 0), 'aä', { name: 'utf16le', bom: true }],
  ['UTF-16 big endian', bytes(0xfe, 0xff, 0, 0x61, 0, 0xe4), 'aä', { name: 'utf16be', bom: true }],
  ['UTF-16 with half a pair', bytes(0xff, 0xfe, 0x00, 0xd8), '\ud800', { name: 'utf16le', bom: true }],
];

for (const [name, raw, text, encoding] of known) {
  test(`${name} is decoded, and encoding it gives the very same bytes`, () => {
    assert.deepEqual(decodeText(raw), { text, encoding });
    assert.ok(sameBytes(encodeText(text, decodeText(raw)?.encoding ?? assert.fail()), raw));
  });
}

const refused: readonly [name: string, bytes: Uint8Array][] = [
  ['bytes that are not UTF-8 (Shift-JIS)', bytes(0x83, 0x65, 0x83, 0x58)],
  ['an overlong UTF-8 sequence', bytes(0xc0, 0xaf)],
  ['a surrogate in UTF-8', bytes(0xed, 0xa0, 0x80)],
  ['a truncated UTF-8 sequence', bytes(0x61, 0xc3)],
  ['a NUL byte', bytes(0x61, 0, 0x62)],
  ['UTF-16 of an odd length', bytes(0xff, 0xfe, 0x61)],
  ['UTF-32, whose mark begins like that of UTF-16', bytes(0xff, 0xfe, 0, 0, 0x61, 0, 0, 0)],
];

for (const [name, raw] of refused) {
  test(`${name} is not taken for text`, () => assert.equal(decodeText(raw), undefined));
}

test('decoding does not change the bytes that it was given', () => {
  const raw = bytes(0xfe, 0xff, 0, 0x61);
  const copy = raw.slice();
  decodeText(raw);
  assert.deepEqual(raw, copy);
});

test('a view into a larger buffer is decoded on its own', () => {
  const buffer = bytes(0x7a, 0x61, 0x62, 0x7a);
  assert.equal(decodeText(buffer.subarray(1, 3))?.text, 'ab');
});

test('encodings of the workspace are read and written byte for byte', async () => {
  await loadEncodings(['shiftjis']);
  const shiftJis = bytes(0x93, 0xfa, 0x96, 0x7b, 0x5c, 0x0d, 0x0a, 0xb1);
  const decoded = decodeText(shiftJis, { name: 'shiftjis', bom: false });
  assert.equal(decoded?.text, '日本\\\r\nｱ');
  assert.ok(sameBytes(encodeText(decoded.text, decoded.encoding), shiftJis));
  const latin = bytes(0xe9, 0x80, 0xff);
  assert.equal(decodeText(latin, { name: 'iso88591', bom: false })?.text, 'é\x80ÿ');
  assert.equal(decodeText(latin, { name: 'windows1252', bom: false })?.text, 'é€ÿ');
  assert.equal(
    decodeText(bytes(0xef, 0xbb, 0xbf, 0x61), { name: 'shiftjis', bom: false })?.encoding.name,
    'utf8',
  );
});

const roundTrips: readonly [name: EncodingName, bytes: Uint8Array, text: string][] = [
  ['cp950', bytes(0xa4, 0xa4, 0xa4, 0xe5, 0x0a), '中文\n'],
  ['gb2312', bytes(0xd6, 0xd0, 0xce, 0xc4), '中文'],
  // Two bytes, four bytes of the basic plane, four bytes beyond it.
  ['gb18030', bytes(0xd6, 0xd0, 0x81, 0x30, 0x84, 0x36, 0x94, 0x39, 0xda, 0x33, 0x41), '中¥💩A'],
  ['gb18030', bytes(0x90, 0x30, 0x81, 0x30, 0xe3, 0x32, 0x9a, 0x35), '\u{10000}\u{10ffff}'],
  ['cp866', bytes(0x8f, 0xe0, 0xa8), 'При'],
  ['iso885911', bytes(0xa1, 0xfb), 'ก๛'],
  ['iso885911', bytes(0x80), '\x80'],
  // What Node's TextDecoder reads in another way than VS Code, or not at all.
  ['euckr', bytes(0x81, 0x41, 0xc7, 0xd1), '갂한'],
  ['shiftjis', bytes(0x1a, 0x1c, 0x7f), '\x1a\x1c\x7f'],
  ['shiftjis', bytes(0xfb, 0xfc), '髙'],
  ['koi8u', bytes(0xae), '╝'],
  ['macroman', bytes(0xdb), '¤'],
  ['iso88599', bytes(0xfd), 'ı'],
  ['cp437', bytes(0xe1), 'ß'],
  ['cp850', bytes(0x84), 'ä'],
  ['cp857', bytes(0x8d), 'ı'],
  ['big5hkscs', bytes(0x87, 0x40), '䏰'],
];

for (const [name, raw, text] of roundTrips) {
  test(`${name} is read and written byte for byte: ${text.trim()}`, () => {
    const decoded = decodeText(raw, { name, bom: false });
    assert.equal(decoded?.text, text);
    assert.ok(sameBytes(encodeText(text, decoded.encoding), raw));
  });
}

test('bytes that the encoding leaves unassigned are refused, and never written', () => {
  const undefinedBytes: readonly [EncodingName, Uint8Array][] = [
    ['windows1252', bytes(0x61, 0x81)],
    ['windows1253', bytes(0xff)],
    ['iso88593', bytes(0xf0)],
    ['eucjp', bytes(0x80)],
    ['shiftjis', bytes(0x81, 0x20)],
    ['gb18030', bytes(0x81, 0x20)],
  ];
  for (const [name, raw] of undefinedBytes)
    assert.equal(decodeText(raw, { name, bom: false }), undefined, `${name} ${raw.join(' ')}`);
  for (const name of ['windows1252', 'iso88593', 'macroman', 'shiftjis', 'gbk'] as const)
    assert.deepEqual(encodeText('a\ufffd', { name, bom: false }), bytes(0x61, 0x3f), name);
});

test('every single byte of every encoding is written as it was read, or refused', () => {
  const names = [
    ...['windows1250', 'windows1251', 'windows1252', 'windows1253', 'windows1254', 'windows1255'],
    ...['windows1256', 'windows1257', 'windows1258', 'windows874', 'iso88592', 'iso88593', 'iso88594'],
    ...['iso88595', 'iso88596', 'iso88597', 'iso88598', 'iso88599', 'iso885910', 'iso885911', 'iso885913'],
    ...[
      'iso885914',
      'iso885915',
      'iso885916',
      'cp437',
      'cp850',
      'cp852',
      'cp857',
      'cp865',
      'cp866',
      'cp1125',
    ],
    ...['koi8r', 'koi8u', 'koi8ru', 'koi8t', 'macroman', 'shiftjis', 'eucjp', 'euckr', 'cp950', 'big5hkscs'],
    ...['gb2312', 'gbk', 'gb18030'],
  ];
  for (const name of names) {
    assert.ok(isEncodingName(name), name);
    const encoding = { name, bom: false };
    for (let byte = 1; byte < 256; byte++) {
      const decoded = decodeText(bytes(byte), encoding);
      if (byte < 0x80) assert.equal(decoded?.text, String.fromCharCode(byte), `${name} ${byte}`);
      if (decoded) assert.deepEqual(encodeText(decoded.text, encoding), bytes(byte), `${name} ${byte}`);
    }
  }
});

test('every character of GB 18030 that can be read can be written', () => {
  const encoding = { name: 'gb18030', bom: false } as const;
  let text = '';
  for (let point = 0x20; point < 0x30000; point += point < 0xd700 ? 7 : 101) {
    if (point < 0xd800 || point > 0xdfff) text += String.fromCodePoint(point);
  }
  const raw = encodeText(text, encoding);
  const decoded = decodeText(raw, encoding);
  const lost = [...text].filter((char, i) => char !== [...(decoded?.text ?? '')][i]);
  assert.deepEqual(lost.slice(0, 5), []);
});
