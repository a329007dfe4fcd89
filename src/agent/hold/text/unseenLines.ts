import { TimeSlice } from '../../base/async.ts';
import type { ChangedRun } from './editRuns.ts';
import type { Hunk } from './hunks.ts';
import { diffLines } from './lineDiff.ts';
import { lineEndingOf, withoutLineEnding } from './lines.ts';

/**
 * The number of lines, by kind, that differ although a diff that ignores white space at the ends of lines, and line endings,
 * does not show it.
 */
export interface UnseenLines {
  /** Whether the diff shows any change at all. */
  readonly isAnySeen: boolean;
  /** Lines that differ in leading white space. */
  readonly indentation: number;
  /** Lines that differ in trailing white space. */
  readonly trailing: number;
  /** Lines whose line ending changed, and new lines whose ending is not the usual one of the file. */
  readonly lineEndings: number;
  /** False if some lines were too different to compare: then there may be more lines of each kind. */
  readonly isExact: boolean;
}

/**
 * The limits of the comparison; past them, lines are paired in order. The limits do not depend on how busy the machine is.
 */
const LIMITS = {
  /** The most edits of all hunks together. A search that finds nothing counts as all the edits that it looked for. */
  totalEdits: 1_000,
  /** The most edits of one comparison, which cannot be interrupted. */
  edits: 200,
  /** The most lines of both sides of one comparison. */
  lines: 10_000,
  /** The most lines times edits of one comparison. */
  work: 250_000,
};

/** How many lines are compared before other work gets a chance to run, unless they are long. */
const STEP = 500;
/** The same in characters. */
const STEP_CHARS = 64 * 1024;

/**
 * Finds the changes that such a diff leaves out, even beside changes that it shows. Takes linear time, apart from a number
 * of edits that is limited for the whole call, and lets other work run in between.
 * @param before the text that the hunks change.
 * @param slice lets other work run in between.
 */
export async function unseenLines(
  before: string,
  hunks: readonly Hunk[],
  slice = new TimeSlice(),
  diff = diffLines,
): Promise<UnseenLines> {
  const usual = lineEndingOf(before);
  const found = new Found(usual === 'mixed' ? undefined : usual, slice);
  let editsLeft = LIMITS.totalEdits;
  for (const { before: old, after: now } of hunks) {
    const { start, endBefore, endAfter } = await found.noteEnds(old, now);
    const [left, right] = [endBefore - start, endAfter - start];
    if (left === 0 && right === 0) continue;
    found.isAnySeen = true;
    if (left === 0 || right === 0) {
      await found.noteInOrder([], now.slice(start, endAfter));
      continue;
    }
    const [olds, nows] = [old.slice(start, endBefore), now.slice(start, endAfter)];
    if (left === right && (await found.areInOrder(olds, nows))) {
      await found.noteInOrder(olds, nows);
      continue;
    }
    const lines = left + right;
    const maxEditLength = Math.min(LIMITS.edits, editsLeft, Math.floor(LIMITS.work / lines));
    const compared =
      lines <= LIMITS.lines && maxEditLength > 0 ? await compare(olds, nows, maxEditLength, diff) : undefined;
    if (compared) {
      editsLeft -= compared.edits;
      await slice.turn();
    }
    if (compared?.runs) await found.noteBeside(compared.runs, olds, nows);
    else {
      found.isExact = false;
      await found.noteInOrder(left === right ? olds : [], nows);
    }
  }
  const { isAnySeen, indentation, trailing, lineEndings, isExact } = found;
  return { isAnySeen, indentation, trailing, lineEndings, isExact };
}

/**
 * The runs of lines that differ by more than white space, or `undefined` past the limit; and the number of edits that the search
 * looked for.
 */
async function compare(
  before: readonly string[],
  after: readonly string[],
  maxEditLength: number,
  diff: typeof diffLines,
): Promise<{ runs: readonly ChangedRun[] | undefined; edits: number }> {
  const [old, now] = [before.map(line => line.trim()), after.map(line => line.trim())];
  const { runs, exact } = await diff(old, now, { maxEditLength });
  if (!exact) return { runs: undefined, edits: maxEditLength };
  // Lines that occur on one side only are not searched for.
  const [olds, nows] = [new Set(old), new Set(now)];
  let edits = 0;
  for (const run of runs) {
    edits += old.slice(run.beforeStart, run.beforeEnd).filter(line => nows.has(line)).length;
    edits += now.slice(run.afterStart, run.afterEnd).filter(line => olds.has(line)).length;
  }
  return { runs, edits };
}

/** The lines found so far. Its methods let other work run in between. */
class Found {
  isAnySeen = false;
  isExact = true;
  indentation = 0;
  trailing = 0;
  lineEndings = 0;
  readonly #usual: string | undefined;
  readonly #slice: TimeSlice;
  #lines = 0;
  #chars = 0;

  /** @param usual the line ending of the file, if it has just one. */
  constructor(usual: string | undefined, slice: TimeSlice) {
    this.#usual = usual;
    this.#slice = slice;
  }

  /** Notes the lines at both ends that are the same but for white space. Returns the bounds of the lines between them. */
  async noteEnds(
    before: readonly string[],
    after: readonly string[],
  ): Promise<{ start: number; endBefore: number; endAfter: number }> {
    let start = 0;
    let [endBefore, endAfter] = [before.length, after.length];
    const shorter = Math.min(endBefore, endAfter);
    for (; start < shorter; start++) {
      const [old, now] = [before[start] ?? '', after[start] ?? ''];
      const isPair = this.#notePair(old, now);
      if (this.#isTurn(old, now)) await this.#turn();
      if (!isPair) break;
    }
    for (; endBefore > start && endAfter > start; endBefore--, endAfter--) {
      const [old, now] = [before[endBefore - 1] ?? '', after[endAfter - 1] ?? ''];
      const isPair = this.#notePair(old, now);
      if (this.#isTurn(old, now)) await this.#turn();
      if (!isPair) break;
    }
    return { start, endBefore, endAfter };
  }

  /**
   * Whether two lists of the same length need no search, because a line that differs from its counterpart by more than white
   * space occurs nowhere on the other side.
   */
  async areInOrder(before: readonly string[], after: readonly string[]): Promise<boolean> {
    const [gone, come] = [new Set<string>(), new Set<string>()];
    for (const [i, line] of before.entries()) {
      const [old, now] = [line.trim(), (after[i] ?? '').trim()];
      if (old !== now) {
        gone.add(old);
        come.add(now);
      }
      if (this.#isTurn(old, now)) await this.#turn();
    }
    for (const [i, line] of before.entries()) {
      const [old, now] = [line.trim(), (after[i] ?? '').trim()];
      if (come.has(old) || gone.has(now)) return false;
      if (this.#isTurn(old, now)) await this.#turn();
    }
    return true;
  }

  /** Pairs the lines in order; those that differ by more than white space, or have no counterpart, are new. */
  async noteInOrder(before: readonly string[], after: readonly string[]): Promise<void> {
    for (const [i, now] of after.entries()) {
      const old = before[i];
      if (old === undefined || !this.#notePair(old, now)) this.#noteNew(now);
      if (this.#isTurn(old ?? '', now)) await this.#turn();
    }
  }

  /** Notes the lines outside the runs, and the new ones within them. */
  async noteBeside(
    runs: readonly ChangedRun[],
    before: readonly string[],
    after: readonly string[],
  ): Promise<void> {
    let [b, a] = [0, 0];
    for (const run of runs) {
      await this.noteInOrder(before.slice(b, run.beforeStart), after.slice(a, run.afterStart));
      await this.noteInOrder([], after.slice(run.afterStart, run.afterEnd));
      [b, a] = [run.beforeEnd, run.afterEnd];
    }
    await this.noteInOrder(before.slice(b), after.slice(a));
  }

  /** Notes how two lines that are equal but for white space differ; `false` if they differ in more than that. */
  #notePair(old: string, now: string): boolean {
    if (old === now) return true;
    const text = old.trim();
    if (text !== now.trim()) return false;
    const [was, is] = [withoutLineEnding(old), withoutLineEnding(now)];
    const isBlank = text === ''; // then all white space is trailing
    if (!isBlank && was.trimEnd() !== is.trimEnd()) this.indentation++;
    if (isBlank ? was !== is : was.trimStart() !== is.trimStart()) this.trailing++;
    const [ended, ends] = [old.slice(was.length), now.slice(is.length)];
    if (ended === ends) return true;
    if (ended === '' || ends === '')
      this.isAnySeen = true; // the line feed at the end of the file
    else this.lineEndings++;
    return true;
  }

  #noteNew(line: string): void {
    const ending = line.slice(withoutLineEnding(line).length);
    if (this.#usual !== undefined && ending !== '' && ending !== this.#usual) this.lineEndings++;
  }

  /** Whether to let other work run after these two lines. */
  #isTurn(old: string, now: string): boolean {
    this.#lines++;
    this.#chars += old.length + now.length;
    return this.#lines >= STEP || this.#chars >= STEP_CHARS;
  }

  #turn(): Promise<void> {
    [this.#lines, this.#chars] = [0, 0];
    return this.#slice.turn();
  }
}
