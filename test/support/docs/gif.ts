/** How a GIF is played. */
export interface GifPlay {
  /** How often; 0 for again and again, undefined for once. */
  readonly loops: number | undefined;
  /** How long each frame stays, in milliseconds. */
  readonly durations: readonly number[];
}

const [EXTENSION, IMAGE, END] = [0x21, 0x2c, 0x3b];
const [CONTROL, APPLICATION] = [0xf9, 0xff];

/**
 * Reads how a GIF is played, without its pixels.
 * @throws Error for what is no GIF, RangeError for one that is cut off
 */
export function readGif(bytes: Uint8Array): GifPlay {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (data.toString('latin1', 0, 6) !== 'GIF89a') throw new Error('This is no GIF.');
  let at = 13 + paletteSize(data.readUInt8(10));
  let loops: number | undefined;
  let duration = 0;
  const durations: number[] = [];
  for (;;) {
    const kind = data.readUInt8(at++);
    if (kind === END) return { loops, durations };
    if (kind === EXTENSION) {
      const label = data.readUInt8(at++);
      if (label === CONTROL) duration = data.readUInt16LE(at + 2) * 10;
      if (label === APPLICATION && data.toString('latin1', at + 1, at + 12) === 'NETSCAPE2.0')
        loops = data.readUInt16LE(at + 14);
    } else if (kind === IMAGE) {
      durations.push(duration);
      at += 10 + paletteSize(data.readUInt8(at + 8));
    } else throw new Error(`There is no block ${kind}.`);
    at = afterBlocks(data, at);
  }
}

/** The bytes of a palette, by the flags that tell of it. */
function paletteSize(flags: number): number {
  return flags & 0x80 ? 3 * (2 << (flags & 7)) : 0;
}

/** The offset after a row of blocks, each with its length in front, of which the last is empty. */
function afterBlocks(data: Buffer, start: number): number {
  let at = start;
  for (let length = data.readUInt8(at++); length > 0; length = data.readUInt8(at++)) at += length;
  return at;
}
