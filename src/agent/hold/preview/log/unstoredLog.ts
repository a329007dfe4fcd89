import type { Sha256 } from '../../../base/hash.ts';
import type { Contents } from './contents.ts';
import type { Archive, LoadedPreviews, PreviewLogEntry, PreviewLogSink } from './previewLog.ts';

/** The log of a window that does not own its storage: in memory, until it is moved to the log of the storage. */
export class UnstoredLog implements PreviewLogSink {
  /** Entries that are not in the log of the storage yet. */
  #entries: PreviewLogEntry[] = [];
  #log: PreviewLogSink | undefined;
  #moving: Promise<void> | undefined;

  get contents(): Contents | undefined {
    return this.#log?.contents;
  }

  async append(entry: PreviewLogEntry): Promise<void> {
    if (this.appendNow(entry)) return;
    await this.#move();
    await this.#log?.append(entry);
  }

  appendNow(entry: PreviewLogEntry): boolean {
    if (!this.#log) return this.#entries.push(entry) > 0;
    return this.#entries.length === 0 && this.#log.appendNow?.(entry) === true;
  }

  async flush(): Promise<void> {
    await this.#move();
    await this.#log?.flush();
  }

  async isOversized(named: ReadonlySet<Sha256>): Promise<boolean> {
    return (await this.#log?.isOversized?.(named)) ?? false;
  }

  async compact(
    rewrite: (entry: PreviewLogEntry) => readonly PreviewLogEntry[],
    archive: Archive,
  ): Promise<void> {
    await this.#move();
    if (this.#log) await this.#log.compact(rewrite, archive);
    else this.#entries = this.#entries.flatMap(rewrite);
  }

  async archived(): Promise<LoadedPreviews> {
    return (await this.#log?.archived?.()) ?? { entries: [], unreadable: [], badLines: [], torn: false };
  }

  /** Uses this log from now on. Its entries follow with the next entry or {@link flush}. */
  moveTo(log: PreviewLogSink): void {
    this.#log = log;
  }

  #move(): Promise<void> {
    this.#moving ??= this.#moveAll().finally(() => (this.#moving = undefined));
    return this.#moving;
  }

  async #moveAll(): Promise<void> {
    for (let next = this.#entries[0]; next && this.#log; next = this.#entries[0]) {
      await this.#log.append(next);
      this.#entries.shift();
    }
  }
}
