import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeGif, MOST_COLOURS } from '../../../scripts/pictures/gif.mjs';
import { decodeGif } from '../../support/pictures/gif.ts';

const [width, height] = [40, 30];
const palette = Array.from({ length: MOST_COLOURS }, (_, index) => index * 0x010203);
const shown = (indices: Uint8Array): Uint32Array => Uint32Array.from(indices, index => palette[index] ?? -1);

/** Pictures from flat to noisy. The codes of a noisy one run out, so that the encoder has to begin anew. */
const picture = fc
  .tuple(fc.integer({ min: 1, max: MOST_COLOURS }), fc.infiniteStream(fc.nat(MOST_COLOURS - 1)))
  .map(([colours, stream]) =>
    Uint8Array.from({ length: width * height }, () => stream.next().value % colours),
  );

test('every frame of a GIF is what was given, pixel by pixel', () => {
  fc.assert(
    fc.property(fc.array(picture, { minLength: 1, maxLength: 4 }), pictures => {
      const frames = pictures.map((indices, at) => ({ indices, duration: 50 * (at + 1) }));
      const gif = decodeGif(encodeGif({ width, height, palette, frames }));
      const different = pictures.filter((one, at) => at === 0 || !Buffer.from(one).equals(pictures[at - 1]!));
      assert.deepEqual([gif.width, gif.height, gif.loops], [width, height, 0]);
      assert.deepEqual(
        gif.frames.map(({ colours }) => colours),
        different.map(shown),
      );
      const sum = (all: readonly { duration: number }[]): number =>
        all.reduce((ms, one) => ms + one.duration, 0);
      assert.equal(sum(gif.frames), sum(frames));
    }),
    { numRuns: 60 },
  );
});

test('noise of many thousand pixels survives, whose codes run out several times', () => {
  let seed = 7;
  const indices = Uint8Array.from({ length: 200 * 200 }, () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return (seed >> 8) % MOST_COLOURS;
  });
  const gif = decodeGif(encodeGif({ width: 200, height: 200, palette, frames: [{ indices, duration: 10 }] }));
  assert.deepEqual(gif.frames[0]?.colours, shown(indices));
});

test('of a frame only the rectangle that changed is stored, and none for what stays the same', () => {
  const first = new Uint8Array(width * height);
  const second = first.slice();
  second.set([3], 5 * width + 7);
  second.set([4], 8 * width + 11);
  const frames = [first, first, second].map(indices => ({ indices, duration: 100 }));
  const gif = decodeGif(encodeGif({ width, height, palette, frames }));
  assert.deepEqual(
    gif.frames.map(({ stored, duration }) => [stored, duration]),
    [
      [width * height, 200],
      [5 * 4, 100],
    ],
  );
});

test('more colours than there is room for are refused', () => {
  const film = { width: 1, height: 1, palette: [...palette, 1], frames: [] };
  assert.throws(() => encodeGif(film), /at most 255 colours/);
});
