import { randomInt } from 'node:crypto';

/** Hands out the numbers of previews, each only once in a storage. */
export interface PreviewNumbers {
  /** The next number, which is above `last`. Never throws. */
  next(last: number): number;
}

/** The first number of windows that do not own their storage. The owner never counts on from one of these. */
export const FIRST_RANDOM = 1e11;
const LAST_RANDOM = FIRST_RANDOM + 2 ** 47;
/** Higher numbers in an unreadable line are damaged. */
export const LAST_PLAUSIBLE = 3e6;
/** How many numbers a killed process may have given out, to a model for example, without storing their previews. */
export const UNSTORED = 100;

/** The numbers of the owner of a storage. @param floor numbers up to this one are taken, although the log may not name them. */
export function countedNumbers(floor = 0): PreviewNumbers {
  return { next: last => Math.max(last, floor) + 1 };
}

/** Numbers that no other window gives out: they begin at a random one. */
export function randomNumbers(): PreviewNumbers {
  let last = randomInt(FIRST_RANDOM, LAST_RANDOM);
  return { next: () => ++last };
}
