import { bytesOfSide, type FileStep } from './fileChange.ts';

/** What systems write at once, in bytes: a write that is cut off ends, in a file, at a multiple of it. */
const BLOCK = 4096;

/**
 * Whether a file holds what a write of this step leaves there that was cut off: block by block the old bytes or the new
 * ones. Only what was written over in place can be cut off; what is made or removed is so at once.
 */
export function isCutOff(now: Uint8Array | undefined, { before, after }: FileStep): boolean {
  if (!now || !before || !after) return false;
  const [old, next] = [bytesOfSide(before), bytesOfSide(after)];
  const shared = Math.min(old.length, next.length);
  if (now.length < shared || now.length > Math.max(old.length, next.length)) return false;
  let end = 0;
  for (let start = 0; start < now.length; start = end) {
    end = Math.min(now.length, (Math.floor(start / BLOCK) + 1) * BLOCK);
    // What is longer than the other begins a piece of its own: growing and shrinking are separate writes.
    if (start < shared) end = Math.min(end, shared);
    const piece = now.subarray(start, end);
    if (!isAt(piece, old, start) && !isAt(piece, next, start)) return false;
  }
  return true;
}

function isAt(piece: Uint8Array, whole: Uint8Array, at: number): boolean {
  return Buffer.compare(piece, whole.subarray(at, at + piece.length)) === 0;
}
