import type { Disposable } from '../../agent/base/disposable.ts';
import { detailOf } from '../../agent/base/errors.ts';
import type { Logger } from '../../agent/base/logger.ts';
import { hunksOfChange, type FileChange } from '../../agent/hold/preview/fileChange.ts';
import type { LineRange } from './shownRevisions.ts';

/** How long a line must be in view to count as looked at, in milliseconds. */
const VIEW_MS = 1_000;

/** Stands for a change without lines (a rename, or one of permissions), which is in view whenever its file is. */
const NO_LINE = -1;

/** How much of a file was in view. */
interface View {
  /** The lines of its hunks that were not in view for long enough; `undefined` until they are known. */
  left: Set<number> | undefined;
  /** When each of those lines came into view; only lines still in view. */
  readonly since: Map<number, number>;
}

/** Finds the files whose hunks were all in view, each line for long enough. */
export class HunksInView implements Disposable {
  readonly #logger: Logger;
  readonly #lookAgain: () => void;
  readonly #views = new Map<string, View>();
  /** The files that were noted in this round. */
  #inView = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  /** @param lookAgain starts another round, which notes the hunks now in view */
  constructor(logger: Logger, lookAgain: () => void) {
    this.#logger = logger;
    this.#lookAgain = lookAgain;
  }

  /**
   * Notes which lines of a file are in view. @returns whether all lines of its hunks were, each for long enough; if so, the file is
   * forgotten.
   * @param key stands for the file with this change
   */
  note(key: string, change: FileChange, lines: readonly LineRange[]): boolean {
    this.#inView.add(key);
    const view = this.#views.get(key) ?? { left: undefined, since: new Map() };
    if (!this.#views.has(key)) {
      this.#views.set(key, view);
      void this.#load(view, change);
    }
    if (!view.left) return false;
    const now = performance.now();
    const isInView = (line: number): boolean =>
      line === NO_LINE ? lines.length > 0 : lines.some(({ start, end }) => start <= line && line <= end);
    for (const line of view.since.keys()) if (!isInView(line)) view.since.delete(line);
    for (const line of view.left) {
      if (!isInView(line)) continue;
      const since = view.since.get(line) ?? now;
      view.since.set(line, since);
      if (now - since < VIEW_MS) continue;
      view.left.delete(line);
      view.since.delete(line);
    }
    if (view.left.size === 0) return this.#views.delete(key);
    if (view.since.size > 0)
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.#lookAgain();
      }, VIEW_MS);
    return false;
  }

  /** Lines of files that this round has not noted are no longer in view. */
  endRound(): void {
    for (const [key, view] of this.#views) if (!this.#inView.has(key)) view.since.clear();
    this.#inView = new Set();
  }

  dispose(): void {
    clearTimeout(this.#timer);
  }

  async #load(view: View, change: FileChange): Promise<void> {
    try {
      const hunks = await hunksOfChange(change);
      const left = new Set<number>();
      for (const { afterStart, afterEnd, beforeStart, beforeEnd } of hunks) {
        const [start, end] = change.after ? [afterStart, afterEnd] : [beforeStart, beforeEnd];
        for (let line = start; line < end; line++) left.add(line);
        // A hunk without lines is between two lines; the second may not exist.
        if (start === end) left.add(Math.max(0, start - 1));
      }
      view.left = left.size > 0 ? left : left.add(NO_LINE);
      this.#lookAgain();
    } catch (error) {
      this.#logger.error(`Finding the hunks of ${change.path} failed: ${detailOf(error)}`);
    }
  }
}
