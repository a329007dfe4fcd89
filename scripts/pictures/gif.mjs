/** Writes moving pictures: GIF 89a, with one palette for all frames and only what changed in each of them. */

/**
 * @typedef {object} Frame
 * @property {Uint8Array} indices into the palette, row by row
 * @property {number} duration in milliseconds, which are rounded to hundredths of a second
 */

/** The most colours: the last of the 256 is for pixels that stay as they are. */
export const MOST_COLOURS = 255;
const UNCHANGED = 255;
const CODE_SIZE = 8;
const MAX_CODES = 4096;
const CLEAR = 1 << CODE_SIZE;
const END = CLEAR + 1;

/**
 * Writes a GIF that is played again and again. A frame that shows what the one before shows makes that one last longer.
 * @param {{ width: number, height: number, palette: readonly number[], frames: readonly Frame[] }} film a colour of the
 *   palette is 0xRRGGBB
 * @returns {Buffer}
 * @throws {RangeError} for more than `MOST_COLOURS` colours
 */
export function encodeGif({ width, height, palette, frames }) {
  if (palette.length > MOST_COLOURS) throw new RangeError(`A GIF has at most ${MOST_COLOURS} colours here.`);
  const colours = Buffer.alloc(256 * 3);
  palette.forEach((colour, index) => colours.writeUIntBE(colour, index * 3, 3));
  const head = Buffer.from([...u16(width), ...u16(height), 0xf7, 0, 0]);
  const loop = Buffer.from([0x21, 0xff, 11, ...Buffer.from('NETSCAPE2.0'), 3, 1, 0, 0, 0]);
  const parts = [Buffer.from('GIF89a'), head, colours, loop];
  for (const { changed, duration } of changesOf(frames, width, height)) {
    const time = Math.round(duration / 10);
    // The frame stays on the screen, and its last colour is not drawn.
    parts.push(Buffer.from([0x21, 0xf9, 4, 0b101, ...u16(time), UNCHANGED, 0]));
    parts.push(Buffer.from([0x2c, ...[changed.x, changed.y, changed.width, changed.height].flatMap(u16), 0]));
    parts.push(changed.data);
  }
  return Buffer.concat([...parts, Buffer.from([0x3b])]);
}

/** Each frame as the rectangle that differs from the frame before. */
function changesOf(frames, width, height) {
  const shown = [];
  for (const [index, { indices, duration }] of frames.entries()) {
    const before = frames[index - 1]?.indices;
    const box = before ? boxOfChanges(before, indices, width, height) : { x: 0, y: 0, width, height };
    if (box) shown.push({ changed: { ...box, data: smallest(box, indices, before, width) }, duration });
    else shown.at(-1).duration += duration;
  }
  return shown;
}

/** The smallest rectangle with all pixels that differ; undefined when none does. */
function boxOfChanges(before, after, width, height) {
  let [left, top, right, bottom] = [width, height, -1, -1];
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      if (before[at] === after[at]) continue;
      [left, right] = [Math.min(left, x), Math.max(right, x)];
      [top, bottom] = [Math.min(top, y), y];
    }
  }
  return right < 0 ? undefined : { x: left, y: top, width: right - left + 1, height: bottom - top + 1 };
}

/** The pixels of a rectangle, all of them or only those that differ: whichever takes fewer bytes. */
function smallest(box, after, before, width) {
  const all = [];
  const differing = [];
  for (let y = box.y; y < box.y + box.height; y++) {
    for (let x = box.x; x < box.x + box.width; x++) {
      const at = y * width + x;
      all.push(after[at]);
      differing.push(before?.[at] === after[at] ? UNCHANGED : after[at]);
    }
  }
  const [first, second] = [compress(all), compress(differing)];
  return second.length < first.length ? second : first;
}

/** The data of an image: its code size, and what LZW makes of the pixels, in blocks of at most 255 bytes. */
function compress(pixels) {
  const bytes = [];
  let [bits, filled] = [0, 0];
  const write = (code, size) => {
    bits |= code << filled;
    for (filled += size; filled >= 8; filled -= 8, bits >>>= 8) bytes.push(bits & 255);
  };
  /** The code of a known sequence and one more pixel, at 256 times the code of the sequence; 0 for none. */
  const longer = new Uint16Array(MAX_CODES * 256);
  let [next, size] = [END + 1, CODE_SIZE + 1];
  write(CLEAR, size);
  let sequence = pixels[0];
  for (let at = 1; at < pixels.length; at++) {
    const key = sequence * 256 + pixels[at];
    if (longer[key] !== 0) {
      sequence = longer[key];
      continue;
    }
    write(sequence, size);
    sequence = pixels[at];
    if (next < MAX_CODES) {
      if (next === 1 << size) size++;
      longer[key] = next++;
    } else {
      write(CLEAR, size);
      longer.fill(0);
      [next, size] = [END + 1, CODE_SIZE + 1];
    }
  }
  write(sequence, size);
  write(END, size);
  if (filled > 0) bytes.push(bits & 255);
  return inBlocks(Buffer.from(bytes));
}

function inBlocks(bytes) {
  const parts = [Buffer.from([CODE_SIZE])];
  for (let at = 0; at < bytes.length; at += 255) {
    const block = bytes.subarray(at, at + 255);
    parts.push(Buffer.from([block.length]), block);
  }
  return Buffer.concat([...parts, Buffer.from([0])]);
}

/** A number of two bytes, the lower one first. */
function u16(value) {
  return [value & 255, value >> 8];
}
