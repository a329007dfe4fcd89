/** A GIF as those who show it see it. */
export interface Gif {
  readonly width: number;
  readonly height: number;
  /** How often it is played; 0 for again and again, undefined for once. */
  readonly loops: number | undefined;
  readonly frames: readonly GifFrame[];
}

export interface GifFrame {
  /** In milliseconds. */
  readonly duration: number;
  /** How many pixels the rectangle has that is stored. */
  readonly stored: number;
  /** The whole picture from this frame on, row by row, each pixel as 0xRRGGBB. */
  readonly colours: Uint32Array;
}

/**
 * Decodes a GIF with one palette, whose frames stay when the next is drawn.
 * @throws RangeError for one that is cut off, and Error for one that needs more than this
 */
export function decodeGif(bytes: Uint8Array): Gif {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (data.toString('latin1', 0, 6) !== 'GIF89a') throw new Error('This is no GIF.');
  const [width, height, flags] = [data.readUInt16LE(6), data.readUInt16LE(8), data.readUInt8(10)];
  if ((flags & 0x80) === 0) throw new Error('The palette is missing.');
  const colourCount = 2 << (flags & 7);
  const palette = Uint32Array.from({ length: colourCount }, (_, index) => data.readUIntBE(13 + index * 3, 3));
  let at = 13 + colourCount * 3;
  let loops: number | undefined;
  let control = { duration: 0, transparent: -1 };
  const shown = new Uint32Array(width * height);
  const frames: GifFrame[] = [];
  for (;;) {
    const kind = data.readUInt8(at++);
    if (kind === 0x3b) return { width, height, loops, frames };
    if (kind === 0x21) {
      const label = data.readUInt8(at++);
      const { content, end } = blocksAt(data, at);
      if (label === 0xff && content.toString('latin1', 0, 11) === 'NETSCAPE2.0')
        loops = content.readUInt16LE(12);
      if (label === 0xf9) {
        const packed = content.readUInt8(0);
        if (((packed >> 2) & 7) > 1) throw new Error('A frame does not stay.');
        control = {
          duration: content.readUInt16LE(1) * 10,
          transparent: packed & 1 ? content.readUInt8(3) : -1,
        };
      }
      at = end;
    } else if (kind === 0x2c) {
      const [x, y, w, h] = [0, 2, 4, 6].map(offset => data.readUInt16LE(at + offset)) as Box;
      if (data.readUInt8(at + 8) !== 0) throw new Error('A frame has a palette of its own.');
      const { content, end } = blocksAt(data, at + 10);
      const pixels = decompress(content, data.readUInt8(at + 9));
      if (pixels.length !== w * h || x + w > width || y + h > height)
        throw new RangeError('A frame does not fit.');
      for (const [index, pixel] of pixels.entries()) {
        const place = (y + Math.floor(index / w)) * width + x + (index % w);
        if (pixel !== control.transparent) shown[place] = palette[pixel] ?? 0;
      }
      frames.push({ duration: control.duration, stored: pixels.length, colours: shown.slice() });
      at = end;
    } else throw new Error(`There is no block ${kind}.`);
  }
}

type Box = [x: number, y: number, width: number, height: number];

/** The content of the blocks at an offset, each with its length in front, and where they end. */
function blocksAt(data: Buffer, start: number): { content: Buffer; end: number } {
  const parts: Buffer[] = [];
  let at = start;
  for (let length = data.readUInt8(at++); length > 0; length = data.readUInt8(at++)) {
    parts.push(data.subarray(at, at + length));
    at += length;
  }
  return { content: Buffer.concat(parts), end: at };
}

/** Undoes the LZW of GIF. */
function decompress(data: Buffer, codeSize: number): number[] {
  const clear = 1 << codeSize;
  const pixels: number[] = [];
  let table: (readonly number[])[] = [];
  let [size, at, bits, filled] = [0, 0, 0, 0];
  let last: readonly number[] | undefined;
  const restart = (): void => {
    table = Array.from({ length: clear + 2 }, (_, code) => [code]);
    size = codeSize + 1;
    last = undefined;
  };
  restart();
  for (;;) {
    for (; filled < size; filled += 8) bits |= data.readUInt8(at++) << filled;
    const code = bits & ((1 << size) - 1);
    bits >>>= size;
    filled -= size;
    if (code === clear + 1) return pixels;
    if (code === clear) {
      restart();
      continue;
    }
    const sequence = code < table.length ? table[code] : last && [...last, ...last.slice(0, 1)];
    if (!sequence || code > table.length) throw new RangeError(`The code ${code} means nothing.`);
    pixels.push(...sequence);
    if (last && table.length < 4096) table.push([...last, ...sequence.slice(0, 1)]);
    if (table.length === 1 << size && size < 12) size++;
    last = sequence;
  }
}
