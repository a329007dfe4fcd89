import { detailOf } from '../../../agent/base/errors.ts';
import type { Logger } from '../../../agent/base/logger.ts';
import { textOf, type FileChange } from '../../../agent/preview/fileChange.ts';
import type { Preview } from '../../../agent/preview/preview.ts';
import { diffStat, type DiffStat } from '../../../agent/text/lineDiff.ts';

/** The most files of one preview whose changed lines are counted. */
const MAX_FILES = 200;

/** Counts the changed lines of previews in the background, one file at a time, once for each revision. */
export class DiffStats {
  readonly #logger: Logger;
  readonly #onReady: () => void;
  readonly #known = new Map<
    string,
    { readonly revision: number; readonly stats: DiffStat[]; done: boolean }
  >();
  #queue: Promise<void> = Promise.resolve();
  #disposed = false;

  /** `onReady` is called whenever a preview has been counted. */
  constructor(logger: Logger, onReady: () => void) {
    this.#logger = logger;
    this.#onReady = onReady;
  }

  /** The stats of the first changes; `undefined` until they are counted, which the first call starts. */
  of(preview: Preview): readonly DiffStat[] | undefined {
    const { id, revision, changes } = preview;
    if (!changes) return undefined;
    const known = this.#known.get(id);
    if (known?.revision === revision) return known.done ? known.stats : undefined;
    const entry = { revision, stats: [] as DiffStat[], done: false };
    this.#known.set(id, entry);
    this.#queue = this.#queue.then(async () => {
      try {
        for (const change of changes.slice(0, MAX_FILES)) {
          if (this.#disposed || this.#known.get(id) !== entry) return;
          entry.stats.push(await statOf(change));
        }
        entry.done = true;
        this.#onReady();
      } catch (error) {
        this.#logger.error(`Counting the lines of ${id} failed: ${detailOf(error)}`);
      }
    });
    return undefined;
  }

  dispose(): void {
    this.#disposed = true;
  }
}

function statOf(change: FileChange): Promise<DiffStat> {
  const { before, after } = change;
  return diffStat(textOf(before), textOf(after), change.kind === 'modify' ? change.edits : undefined);
}
