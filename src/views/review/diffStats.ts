import { coalesce } from '../../agent/base/async.ts';
import { detailOf } from '../../agent/base/errors.ts';
import type { Logger } from '../../agent/base/logger.ts';
import { textOf, type FileChange } from '../../agent/hold/preview/fileChange.ts';
import type { Preview } from '../../agent/hold/preview/preview.ts';
import { diffStat, type DiffStat } from '../../agent/hold/text/lineDiff.ts';

/** The most files of one preview whose changed lines are counted. */
const MAX_FILES = 200;
/** How long counts are collected before they are reported, in milliseconds. */
const GATHER_MS = 50;

/** Counts the changed lines of previews in the background, one file at a time, once for each change. */
export class DiffStats {
  readonly #logger: Logger;
  readonly #tell: ReturnType<typeof coalesce>;
  readonly #known = new Map<
    string,
    { readonly revision: number; readonly stats: DiffStat[]; done: boolean }
  >();
  #queue: Promise<void> = Promise.resolve();
  #disposed = false;

  /** `onReady` is called soon after previews have been counted. */
  constructor(logger: Logger, onReady: () => void) {
    this.#logger = logger;
    this.#tell = coalesce(onReady, GATHER_MS);
  }

  /** The stats of the first `MAX_FILES` changes; `undefined` until they are counted, which the first call starts. */
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
      } catch (error) {
        this.#logger.error(`Counting the lines of ${id} failed: ${detailOf(error)}`);
      }
      entry.done = true;
      if (!this.#disposed) this.#tell();
    });
    return undefined;
  }

  dispose(): void {
    this.#disposed = true;
    this.#tell.cancel();
  }
}

/** Several views count the same changes. */
const known = new WeakMap<FileChange, Promise<DiffStat>>();

function statOf(change: FileChange): Promise<DiffStat> {
  const { before, after } = change;
  const edits = change.kind === 'modify' ? change.edits : undefined;
  const stat = known.get(change) ?? diffStat(textOf(before), textOf(after), edits);
  known.set(change, stat);
  return stat;
}
