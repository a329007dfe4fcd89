import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import * as z from 'zod/mini';
import { sha256 } from '../../base/hash.ts';
import { replaceFile } from '../../base/system/replaceFile.ts';
import { MAX_FILE_BYTES } from '../../hold/preview/workspace.ts';
import type { Found } from '../view/effects.ts';

const entrySchema = z.union([
  z.object({ kind: z.literal('file'), hash: z.string(), size: z.int(), mode: z.int() }),
  z.object({ kind: z.literal('link'), target: z.string() }),
  z.object({ kind: z.enum(['folder', 'other', 'nothing']) }),
]);
const schema = z.record(z.string(), entrySchema);

type Entry = z.infer<typeof entrySchema>;

/** The index of windows that store their previews. */
const STORED = 'known';

/**
 * The contents of a view's files when they were last looked at, by absolute path. They are stored, so that they survive a reload.
 */
export class KnownFiles {
  readonly #folder: string;
  #index: string;
  #entries = new Map<string, Entry>();
  #last: Promise<unknown> = Promise.resolve();
  /** Whether {@link join} has yet to succeed. */
  #isToJoin = false;

  /**
   * @param folder an existing one
   * @param name of the index beside it, if it is not that of windows that store their previews
   */
  constructor(folder: string, name = STORED) {
    this.#folder = folder;
    this.#index = path.join(path.dirname(folder), `${name}.json`);
  }

  /**
   * Merges its own index into that of the windows that store their previews, and goes on with that one. Where both have a file, its
   * own entry is newer. If the merge fails, the next {@link record} tries again.
   * @throws the error of the system
   */
  join(): Promise<void> {
    this.#isToJoin = true;
    return this.#inTurn(() => this.#join());
  }

  async #join(): Promise<void> {
    if (!this.#isToJoin) return;
    const joined = new KnownFiles(this.#folder);
    await joined.load();
    for (const [at, entry] of this.#entries) joined.#entries.set(at, entry);
    await joined.record([]);
    const own = this.#index;
    this.#index = joined.#index;
    this.#entries = joined.#entries;
    this.#isToJoin = false;
    await fs.rm(own, { force: true });
  }

  /** Reads the stored index; it is empty if there is none. */
  async load(): Promise<void> {
    const text = await fs.readFile(this.#index, 'utf8').catch(() => '{}');
    this.#entries = new Map(Object.entries(schema.parse(JSON.parse(text))));
  }

  has(at: string): boolean {
    return this.#entries.has(at);
  }

  /** @returns `undefined` if there was nothing */
  find(at: string): Found | undefined {
    const entry = this.#entries.get(at);
    if (!entry || entry.kind === 'nothing') return undefined;
    if (entry.kind !== 'file') return entry as Found;
    const { size, mode, hash } = entry;
    return { kind: 'file', size, mode, read: () => fs.readFile(path.join(this.#folder, hash)) };
  }

  /** The paths below a folder, relative to it. */
  below(folder: string): readonly string[] {
    return [...this.#entries.keys()]
      .filter(at => at.startsWith(`${folder}/`))
      .map(at => at.slice(folder.length + 1));
  }

  /**
   * Records files by their paths; those in memory change only once all that takes space is on disk, so that a full disk changes
   * nothing. If a file is too large for a preview, the earlier one stays recorded.
   * @param then called once all that takes space is stored
   * @throws the error of the system, or that of `then`
   */
  record(
    files: Iterable<readonly [at: string, found: Found | undefined]>,
    then?: () => Promise<void>,
  ): Promise<void> {
    return this.#inTurn(() => this.#record(files, then));
  }

  async #record(
    files: Iterable<readonly [at: string, found: Found | undefined]>,
    then: (() => Promise<void>) | undefined,
  ): Promise<void> {
    await this.#join().catch(() => undefined); // then its own index goes on
    const entries = new Map(this.#entries);
    for (const [at, found] of files)
      if (found?.kind !== 'file') entries.set(at, found ?? { kind: 'nothing' });
      else if (found.size <= MAX_FILE_BYTES) entries.set(at, await this.#stored(found));
    const draft = `${this.#index}.new`;
    await fs.writeFile(draft, JSON.stringify(Object.fromEntries(entries)), { mode: 0o600 });
    await then?.();
    this.#entries = entries;
    await replaceFile(draft, this.#index);
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #stored(found: Extract<Found, { kind: 'file' }>): Promise<Entry> {
    const bytes = await found.read();
    const hash = sha256(bytes);
    const file = path.join(this.#folder, hash);
    // A file that was cut short by a full disk must not be left under this name.
    await fs.writeFile(`${file}.new`, bytes);
    await replaceFile(`${file}.new`, file);
    return { kind: 'file', hash, size: bytes.length, mode: found.mode };
  }
}
