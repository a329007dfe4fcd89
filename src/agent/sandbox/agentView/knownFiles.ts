import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import * as z from 'zod/mini';
import { sha256 } from '../../base/hash.ts';
import { replaceFile } from '../../base/system/replaceFile.ts';
import { MAX_FILE_BYTES } from '../../hold/preview/workspace.ts';
import type { Found } from '../view/effects.ts';
import type { PlainTree } from '../view/plainTree.ts';

const entrySchema = z.union([
  z.object({ kind: z.literal('file'), hash: z.string(), size: z.int(), mode: z.int() }),
  z.object({ kind: z.literal('link'), target: z.string() }),
  z.object({ kind: z.enum(['folder', 'other', 'nothing']) }),
]);
const schema = z.record(z.string(), entrySchema);

type Entry = z.infer<typeof entrySchema>;

/**
 * The contents of a view's files when they were last looked at, by absolute path. They are stored, so that they survive a reload.
 */
export class KnownFiles {
  readonly #folder: string;
  readonly #index: string;
  #entries = new Map<string, Entry>();

  /** @param folder an existing one */
  constructor(folder: string) {
    this.#folder = folder;
    this.#index = `${folder}.json`;
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

  /** Records the file at a path. If it is too large for a preview, the earlier file stays recorded. */
  async set(at: string, found: Found | undefined): Promise<void> {
    if (found?.kind !== 'file') {
      this.#entries.set(at, found ?? { kind: 'nothing' });
      return;
    }
    if (found.size > MAX_FILE_BYTES) return;
    const bytes = await found.read();
    const hash = sha256(bytes);
    const file = path.join(this.#folder, hash);
    // A file that was cut short by a full disk must not be left under this name.
    await fs.writeFile(`${file}.new`, bytes);
    await replaceFile(`${file}.new`, file);
    this.#entries.set(at, { kind: 'file', hash, size: bytes.length, mode: found.mode });
  }

  /** Stores the index. */
  async save(): Promise<void> {
    const draft = `${this.#index}.new`;
    await fs.writeFile(draft, JSON.stringify(Object.fromEntries(this.#entries)), { mode: 0o600 });
    await replaceFile(draft, this.#index);
  }
}

/** A stamp that changes when a file is written, and the time of its last change, in milliseconds since 1970. */
export async function stampIn(
  tree: PlainTree,
  at: string,
): Promise<{ readonly stamp: string; readonly changedAt: number }> {
  const stat = await tree.at(at, each => fs.lstat(each, { bigint: true })).catch(() => undefined);
  return stat
    ? { stamp: [stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(' '), changedAt: Number(stat.ctimeMs) }
    : { stamp: '', changedAt: 0 };
}
