import type { TextEdit } from './textEdit.ts';

/** A run of changed lines: `[beforeStart, beforeEnd)` became `[afterStart, afterEnd)`; 0-based, either may be empty. */
export interface ChangedRun {
  readonly beforeStart: number;
  readonly beforeEnd: number;
  readonly afterStart: number;
  readonly afterEnd: number;
}

/**
 * The runs of lines that edits touch, in order, with at least one line between two of them. Only these lines need comparing
 * to find those that differ, however long the file is. Takes linear time.
 * @param before the lines of the text that was edited, with their line endings; `after` those of the result.
 * @returns `undefined` if the edits do not turn one into the other, or join the two halves of a line ending.
 */
export function runsOfEdits(
  before: readonly string[],
  after: readonly string[],
  edits: readonly TextEdit[],
): readonly ChangedRun[] | undefined {
  const [old, now] = [new LineCursor(before), new LineCursor(after)];
  const runs: ChangedRun[] = [];
  let moved = 0;
  let last = 0;
  for (const { start, end, text } of edits) {
    if (start < last || end < start) return undefined;
    last = end;
    const beforeStart = old.lineAt(start);
    const afterStart = now.lineAt(start + moved);
    moved += text.length - (end - start);
    const run = {
      beforeStart,
      beforeEnd: old.lineAfter(end),
      afterStart,
      afterEnd: now.lineAfter(end + moved),
    };
    const previous = runs.at(-1);
    const touches = previous && (beforeStart <= previous.beforeEnd || afterStart <= previous.afterEnd);
    if (touches) runs[runs.length - 1] = { ...run, ...startOf(previous) };
    else runs.push(run);
  }
  return isAllThatDiffers(before, after, runs) ? runs : undefined;
}

function startOf({ beforeStart, afterStart }: ChangedRun): Pick<ChangedRun, 'beforeStart' | 'afterStart'> {
  return { beforeStart, afterStart };
}

function isAllThatDiffers(
  before: readonly string[],
  after: readonly string[],
  runs: readonly ChangedRun[],
): boolean {
  let [i, j] = [0, 0];
  const end = { beforeStart: before.length, beforeEnd: before.length, afterStart: after.length, afterEnd: 0 };
  for (const run of [...runs, end]) {
    if (run.beforeStart - i !== run.afterStart - j) return false;
    while (i < run.beforeStart) if (before[i++] !== after[j++]) return false;
    [i, j] = [run.beforeEnd, run.afterEnd];
  }
  return true;
}

/** Finds the lines of ascending offsets. */
class LineCursor {
  readonly #lines: readonly string[];
  #line = 0;
  #start = 0;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  /** The line that contains an offset. The end of the text belongs to the last line, unless that has a line ending. */
  lineAt(offset: number): number {
    const last = this.#lines.length - 1;
    for (let line = this.#lines[this.#line]; line !== undefined; line = this.#lines[this.#line]) {
      if (offset < this.#start + line.length || (this.#line === last && !/[\r\n]$/.test(line))) break;
      this.#start += line.length;
      this.#line++;
    }
    return this.#line;
  }

  /** The line after the one that contains an offset. */
  lineAfter(offset: number): number {
    return Math.min(this.lineAt(offset) + 1, this.#lines.length);
  }
}
