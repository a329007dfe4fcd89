/** Reads the pictures that Chromium takes, and writes pictures with a palette. */
import * as zlib from 'node:zlib';

/**
 * @typedef {object} Picture
 * @property {number} width in pixels
 * @property {number} height in pixels
 * @property {Uint32Array} colours of the pixels, row by row from the top, each as 0xRRGGBB
 */

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** The bytes of a pixel in each colour type that is read. */
const CHANNELS = { 2: 3, 6: 4 };
const PALETTE = 3;

/**
 * Reads a PNG as Chromium writes it: eight bits a channel, not interlaced. Transparency is ignored.
 * @param {Uint8Array} bytes
 * @returns {Picture}
 * @throws {Error} for a PNG of another kind
 */
export function decodePng(bytes) {
  const chunks = chunksOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const header = chunks.find(({ type }) => type === 'IHDR').data;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const [depth, type, , , interlaced] = header.subarray(8);
  const size = CHANNELS[type];
  if (depth !== 8 || interlaced !== 0 || size === undefined) {
    throw new Error(`A PNG of colour type ${type} with ${depth} bits cannot be read.`);
  }
  const data = zlib.inflateSync(
    Buffer.concat(chunks.filter(chunk => chunk.type === 'IDAT').map(chunk => chunk.data)),
  );
  const lines = unfilter(data, width * size, height, size);
  const colours = new Uint32Array(width * height);
  for (let pixel = 0, at = 0; pixel < colours.length; pixel++, at += size) {
    colours[pixel] = (lines[at] << 16) | (lines[at + 1] << 8) | lines[at + 2];
  }
  return { width, height, colours };
}

/**
 * Writes a PNG with a palette of at most 256 colours.
 * @param {{ width: number, height: number, palette: readonly number[], indices: Uint8Array }} picture `indices` into the
 *   palette, row by row; a colour is 0xRRGGBB
 * @returns {Buffer}
 */
export function encodePng({ width, height, palette, indices }) {
  const depth = palette.length <= 4 ? 2 : palette.length <= 16 ? 4 : 8;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([depth, PALETTE], 8);
  const colours = Buffer.from(palette.flatMap(colour => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  const perByte = 8 / depth;
  const stride = 1 + Math.ceil(width / perByte); // the first byte names the filter: none
  const lines = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const shift = 8 - depth * ((x % perByte) + 1);
      lines[y * stride + 1 + Math.floor(x / perByte)] |= indices[y * width + x] << shift;
    }
  }
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', colours),
    chunk('IDAT', zlib.deflateSync(lines, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunksOf(bytes) {
  if (!bytes.subarray(0, 8).equals(SIGNATURE)) throw new Error('This is not a PNG.');
  const chunks = [];
  for (let at = 8; at < bytes.length;) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    chunks.push({ type, data: bytes.subarray(at + 8, at + 8 + length) });
    at += length + 12;
  }
  return chunks;
}

function chunk(type, data) {
  const bytes = Buffer.alloc(data.length + 12);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, 'latin1');
  bytes.set(data, 8);
  bytes.writeUInt32BE(zlib.crc32(bytes.subarray(4, data.length + 8)), data.length + 8);
  return bytes;
}

/** The bytes of the lines without their filters. Each line of `data` begins with the number of its filter. */
function unfilter(data, stride, height, size) {
  const lines = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = data[y * (stride + 1)];
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x;
      const left = x >= size ? lines[at - size] : 0;
      const up = y > 0 ? lines[at - stride] : 0;
      const corner = x >= size && y > 0 ? lines[at - stride - size] : 0;
      lines[at] = data[y * (stride + 1) + 1 + x] + predicted(filter, left, up, corner);
    }
  }
  return lines;
}

/** What a filter of PNG adds to a byte. */
function predicted(filter, left, up, corner) {
  if (filter === 0) return 0;
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}
