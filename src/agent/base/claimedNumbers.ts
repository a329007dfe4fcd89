import { randomInt, randomUUID } from 'node:crypto';
import { appendFileSync, closeSync, fstatSync, mkdirSync, openSync, readSync } from 'node:fs';
import { appendFile, mkdir } from 'node:fs/promises';
import * as path from 'node:path';
import { hasCode } from './errors.ts';
import { LINE_FEED } from './log/jsonLines.ts';

/**
 * The first of the random numbers, which are made where there is no file to count in. Counting never continues from a random
 * number.
 */
export const FIRST_RANDOM = 1e11;
const LAST_RANDOM = FIRST_RANDOM + 2 ** 47;
/** The highest number that counts. A higher one in a text that cannot be read, or that Redline did not write, is ignored. */
export const LAST_PLAUSIBLE = 3e6;
/**
 * The most numbers that are skipped to get above a number that was used elsewhere. Each skipped number costs a byte of the
 * file.
 */
const MAX_PADDING = 1e5;

/**
 * Hands out numbers that no other user of the same file gets, now or later, in this process or another. To claim a number is
 * to append a line to the file, which the system does at one end for all: the number is that of the line. A claim is in the
 * file before its number is handed out. If the file cannot be written or read, or does not count nearly as far as its users
 * know, the number is a random one.
 */
export class ClaimedNumbers {
  readonly #file: string;
  readonly #floor: number;
  readonly #token = randomUUID().slice(0, 6);
  /** The offset after the last complete line read, and the number of lines. */
  #read = { end: 0, lines: 0 };

  /** @param floor numbers up to this one are taken, although they are not in the file. */
  constructor(file: string, floor = 0) {
    this.#file = file;
    this.#floor = floor;
  }

  /**
   * Marks the numbers up to the floor as taken, if none was claimed in the file yet, so that later users need not know the
   * floor. The mark has no line of its own, and so takes no number.
   */
  async takeFloor(): Promise<void> {
    if (this.#floor > LAST_PLAUSIBLE) return;
    await mkdir(path.dirname(this.#file), { recursive: true });
    await appendFile(this.#file, `${'\n'.repeat(this.#floor)}-`);
  }

  /** The next number, which is above `last`. Takes a few system calls, and as many bytes as it leaves out. Never throws. */
  next(last: number): number {
    const above = Math.max(last, this.#floor);
    try {
      const number = this.#claim('');
      if (number > above) return number;
      if (above - number > MAX_PADDING) return randomNumber();
      return this.#claim('\n'.repeat(above - number));
    } catch {
      return randomNumber();
    }
  }

  /** Appends `padding` and a line of our own. @returns the number of that line. */
  #claim(padding: string): number {
    this.#append(`${padding}${this.#token}\n`);
    const number = this.#lastOwnLine();
    if (number !== undefined) return number;
    this.#read = { end: 0, lines: 0 }; // the file was replaced
    return this.#lastOwnLine() ?? fail(`The claim is not in ${this.#file}.`);
  }

  #append(text: string): void {
    try {
      appendFileSync(this.#file, text);
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
      mkdirSync(path.dirname(this.#file), { recursive: true });
      appendFileSync(this.#file, text);
    }
  }

  /** Reads lines appended since the last call, by us or others. A torn line of another counts with the line after it. */
  #lastOwnLine(): number | undefined {
    const bytes = bytesFrom(this.#file, this.#read.end);
    let found: number | undefined;
    let { lines } = this.#read;
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      lines++;
      if (bytes.toString('latin1', start, end).endsWith(this.#token)) found = lines;
      start = end + 1;
    }
    this.#read = { end: this.#read.end + start, lines };
    return found;
  }
}

/** The bytes of a file from `start` on; none if it is shorter. */
function bytesFrom(file: string, start: number): Buffer {
  const handle = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(Math.max(0, fstatSync(handle).size - start));
    const length = readSync(handle, bytes, 0, bytes.length, start);
    return bytes.subarray(0, length);
  } finally {
    closeSync(handle);
  }
}

function randomNumber(): number {
  return randomInt(FIRST_RANDOM, LAST_RANDOM);
}

function fail(message: string): never {
  throw new Error(message);
}
