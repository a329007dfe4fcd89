import { test } from 'node:test';
import assert from 'node:assert/strict';
import { decodeText, encodeText, sameBytes, type EncodingName } from '../../../src/agent/base/textCodec.ts';

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

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
  ['bytes that are no UTF-8 (Shift-JIS)', bytes(0x83, 0x65, 0x83, 0x58)],
  ['an overlong UTF-8 sequence', bytes(0xc0, 0xaf)],
  ['a surrogate in UTF-8', bytes(0xed, 0xa0, 0x80)],
  ['a UTF-8 sequence that is cut off', bytes(0x61, 0xc3)],
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

test('encodings of the workspace are read and written byte for byte', () => {
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
];

for (const [name, raw, text] of roundTrips) {
  test(`${name} is read and written byte for byte: ${text.trim()}`, () => {
    const decoded = decodeText(raw, { name, bom: false });
    assert.equal(decoded?.text, text);
    assert.ok(sameBytes(encodeText(text, decoded.encoding), raw));
  });
}

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
