import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as zlib from 'node:zlib';
import { paletteOf } from '../../../scripts/pictures/palette.mjs';
import { decodePng, encodePng } from '../../../scripts/pictures/png.mjs';

function chunk(type: string, data: Uint8Array): Buffer {
  const bytes = Buffer.alloc(data.length + 12);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, 'latin1');
  bytes.set(data, 8);
  bytes.writeUInt32BE(zlib.crc32(bytes.subarray(4, data.length + 8)), data.length + 8);
  return bytes;
}

/** A PNG with these lines, each with the number of its filter in front. */
function png(width: number, height: number, kind: readonly number[], lines: readonly number[]): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set(kind, 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', zlib.deflateSync(Buffer.from(lines))),
    chunk('IEND', new Uint8Array()),
  ]);
}

test('each filter of PNG is undone', () => {
  // Every line is the same two pixels, written as their difference to what its filter foretells.
  const lines = [
    [0, 10, 20, 30, 200, 100, 50],
    [1, 10, 20, 30, 190, 80, 20],
    [2, 0, 0, 0, 0, 0, 0],
    [3, 5, 10, 15, 95, 40, 10],
    [4, 0, 0, 0, 0, 0, 0],
  ];
  const { width, height, colours } = decodePng(png(2, 5, [8, 2, 0, 0, 0], lines.flat()));
  assert.deepEqual([width, height], [2, 5]);
  assert.deepEqual(
    [...colours],
    lines.flatMap(() => [0x0a141e, 0xc86432]),
  );
});

test('transparency is left out', () => {
  const { colours } = decodePng(png(2, 1, [8, 6, 0, 0, 0], [0, 1, 2, 3, 255, 4, 5, 6, 0]));
  assert.deepEqual([...colours], [0x010203, 0x040506]);
});

test('what Chromium does not write is refused', () => {
  assert.throws(() => decodePng(Buffer.from('GIF89a..')), /not a PNG/);
  assert.throws(() => decodePng(png(1, 1, [16, 2, 0, 0, 0], [0])), /colour type 2 with 16 bits/);
  assert.throws(() => decodePng(png(1, 1, [8, 2, 0, 0, 1], [0])), /cannot be read/);
});

/** The pixels of a picture that `encodePng` wrote. */
function decodeIndexed(bytes: Buffer, width: number, height: number): number[] {
  const depth = bytes.readUInt8(24);
  const part = (type: string): Buffer => {
    const at = bytes.indexOf(type, 0, 'latin1');
    return bytes.subarray(at + 4, at + 4 + bytes.readUInt32BE(at - 4));
  };
  const [palette, lines] = [part('PLTE'), zlib.inflateSync(part('IDAT'))];
  const stride = 1 + Math.ceil((width * depth) / 8);
  return Array.from({ length: width * height }, (_, pixel) => {
    const [x, y] = [pixel % width, Math.floor(pixel / width)];
    const byte = lines.readUInt8(y * stride + 1 + Math.floor((x * depth) / 8));
    return palette.readUIntBE(((byte >> (8 - depth - ((x * depth) % 8))) & (2 ** depth - 1)) * 3, 3);
  });
}

for (const count of [2, 4, 5, 16, 17, 256])
  test(`a picture of ${count} colours is written with a palette and read again`, () => {
    const [width, height] = [13, 21];
    const colours = Uint32Array.from({ length: width * height }, (_, at) => (at % count) * 0x010101);
    const picture = { width, height, colours };
    const palette = paletteOf([picture], 256);
    const bytes = encodePng({ width, height, palette: palette.colours, indices: palette.indices(picture) });
    assert.deepEqual(decodeIndexed(bytes, width, height), [...colours]);
  });

test('colours beyond the limit become near ones, and the most common stay as they are', () => {
  const edges = Array.from({ length: 900 }, (_, at) => (at % 300) * 0x000100 + (at % 7));
  const colours = Uint32Array.from([
    ...Array<number>(5_000).fill(0x181818),
    ...Array<number>(700).fill(0xff5a52),
    ...edges,
  ]);
  const picture = { width: colours.length, height: 1, colours };
  const palette = paletteOf([picture], 16);
  assert.ok(palette.colours.length <= 16);
  const shown = Array.from(palette.indices(picture), index => palette.colours[index] ?? -1);
  assert.deepEqual(new Set(shown.slice(0, 5_000)), new Set([0x181818]));
  assert.deepEqual(new Set(shown.slice(5_000, 5_700)), new Set([0xff5a52]));
  const green = (colour: number): number => (colour >> 8) & 255;
  const worst = Math.max(
    ...edges.map((colour, at) => Math.abs(green(colour) - green(shown[5_700 + at] ?? 0))),
  );
  assert.ok(worst < 30, `${worst} of 255 steps`);
});
