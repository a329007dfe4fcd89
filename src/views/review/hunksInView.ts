import type { Disposable } from '../../agent/base/disposable.ts';
import { detailOf } from '../../agent/base/errors.ts';
import type { Logger } from '../../agent/base/logger.ts';
import { hunksOfChange, type FileChange } from '../../agent/preview/fileChange.ts';
import type { LineRange } from './shownRevisions.ts';

/** How long a hunk must be in view to count as looked at, in milliseconds. */
const VIEW_MS = 1_000;

/** How much of a file was in view. */
interface View {
  /** Their lines in the proposal; `undefined` until they are known. */
  hunks: readonly LineRange[] | undefined;
  /** The hunks that were in view for long enough. */
  readonly seen: Set<number>;
  /** Since when those that are in view are. */
  readonly since: Map<number, number>;
}

/** Notes which hunks of files were in view long enough. */
export class HunksInView implements Disposable {
  readonly #logger: Logger;
  readonly #lookAgain: () => void;
  readonly #views = new Map<string, View>();
  /** The files that were noted in this round. */
  #inView = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  /** @param lookAgain has what is in view now noted, in another round */
  constructor(logger: Logger, lookAgain: () => void) {
    this.#logger = logger;
    this.#lookAgain = lookAgain;
  }

  /**
   * Notes which lines of a file are in view. @returns whether all of its hunks were, each for long enough; then it is forgotten.
   * @param key stands for the file with this change
   */
  note(key: string, change: FileChange, lines: readonly LineRange[]): boolean {
    this.#inView.add(key);
    const view = this.#views.get(key) ?? { hunks: undefined, seen: new Set(), since: new Map() };
    if (!this.#views.has(key)) {
      this.#views.set(key, view);
      void this.#load(view, change);
    }
    if (!view.hunks) return false;
    const now = performance.now();
    for (const [index, { start, end }] of view.hunks.entries()) {
      if (!lines.some(range => range.start <= end && range.end >= start)) view.since.delete(index);
      else if (!view.since.has(index)) view.since.set(index, now);
      else if (now - (view.since.get(index) ?? now) >= VIEW_MS) view.seen.add(index);
    }
    if (view.seen.size === view.hunks.length) return this.#views.delete(key);
    if (view.since.size > 0)
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.#lookAgain();
      }, VIEW_MS);
    return false;
  }

  /** What was not noted since the last round is in view no more. */
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
      const places = hunks.map(({ afterStart, afterEnd }) => ({
        // A hunk without lines is between two lines, of which the second may not exist.
        start: afterStart < afterEnd ? afterStart : Math.max(0, afterStart - 1),
        end: Math.max(afterStart, afterEnd - 1),
      }));
      // A rename, and a change of permissions, have no hunks.
      view.hunks = places.length > 0 ? places : [{ start: 0, end: Infinity }];
      this.#lookAgain();
    } catch (error) {
      this.#logger.error(`Finding the hunks of ${change.path} failed: ${detailOf(error)}`);
    }
  }
}
