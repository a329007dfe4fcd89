import type { Stats } from 'node:fs';
import { charsOf, type AstOp, type SentFile } from '../worker/protocol.ts';

/** The most searches whose results are kept. */
const MAX_SEARCHES = 16;
/** The most characters of text in all kept results. */
const MAX_CHARS = 32 * 1024 * 1024;

type Stamp = Pick<Stats, 'mtimeMs' | 'size'>;

interface Entry {
  readonly mtimeMs: number;
  readonly size: number;
  readonly result: SentFile | null;
}

/** Results of earlier searches by file, valid while the file's time and size stay the same. No syntax tree is kept. */
export class ResultCache {
  readonly #searches = new Map<string, SearchResults>();

  /** The results of earlier searches with the same patterns. */
  for(ops: readonly AstOp[]): SearchResults {
    const key = JSON.stringify(ops);
    const known = this.#searches.get(key) ?? new SearchResults(chars => this.#makeRoom(key, chars));
    // The most recently used one moves to the end.
    this.#searches.delete(key);
    this.#searches.set(key, known);
    if (this.#searches.size > MAX_SEARCHES) this.#forgetOldest();
    return known;
  }

  #makeRoom(key: string, chars: number): boolean {
    while (this.#total() + chars > MAX_CHARS) {
      const [oldest] = this.#searches.keys();
      if (oldest === undefined || oldest === key) return false;
      this.#forgetOldest();
    }
    return true;
  }

  #forgetOldest(): void {
    const [oldest] = this.#searches.keys();
    if (oldest !== undefined) this.#searches.delete(oldest);
  }

  #total(): number {
    let total = 0;
    for (const results of this.#searches.values()) total += results.chars;
    return total;
  }
}

/** The results of one search, by file. */
export class SearchResults {
  readonly #entries = new Map<string, Entry>();
  readonly #makeRoom: (chars: number) => boolean;
  /** The size of all results. */
  chars = 0;

  constructor(makeRoom: (chars: number) => boolean) {
    this.#makeRoom = makeRoom;
  }

  /** The findings in a file: `null` for none, `undefined` if this version of it was not searched. */
  get(file: string, stamp: Stamp): SentFile | null | undefined {
    const entry = this.#entries.get(file);
    return entry?.mtimeMs === stamp.mtimeMs && entry.size === stamp.size ? entry.result : undefined;
  }

  set(file: string, stamp: Stamp, result: SentFile | null): void {
    const old = this.#entries.get(file);
    if (old?.result) this.chars -= charsOf(old.result);
    this.#entries.delete(file);
    const chars = result ? charsOf(result) : 0;
    if (chars > 0 && !this.#makeRoom(chars)) return;
    this.chars += chars;
    this.#entries.set(file, { mtimeMs: stamp.mtimeMs, size: stamp.size, result });
  }
}
