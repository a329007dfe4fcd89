import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { hasCode } from '../../base/errors.ts';
import { sha256, type Sha256 } from '../../base/hash.ts';
import { replaceFile } from '../../base/system/replaceFile.ts';
import { binarySide, contentGone, type Blobs } from './blobs.ts';
import type { BinarySide } from './fileChange.ts';

const NAME = /^[0-9a-f]{64}$/;
const TEMPORARY = /^[0-9a-f]{64}\.[0-9a-f-]+\.tmp$/;

/** {@link Blobs} as files that are named by their hash. */
export class BlobFolder implements Blobs {
  readonly #folder: string;
  readonly #mayRemove: () => boolean;
  /** What was put since the start, and has not been forgotten since. */
  readonly #put = new Set<Sha256>();
  /** The names of files that are being written. */
  readonly #writing = new Set<string>();

  constructor(folder: string, mayRemove: () => boolean) {
    this.#folder = folder;
    this.#mayRemove = mayRemove;
  }

  /** The file survives a crash of the machine once this has settled. */
  async put(bytes: Uint8Array): Promise<BinarySide> {
    const side = binarySide(bytes);
    this.#put.add(side.hash);
    const file = this.#fileOf(side.hash);
    // It is read again, since what stands there may be damaged.
    if (await this.#read(side).catch(() => undefined)) return side;
    await fs.mkdir(this.#folder, { recursive: true });
    const temporary = `${file}.${randomUUID()}.tmp`;
    this.#writing.add(path.basename(temporary));
    try {
      await writeDurably(temporary, bytes);
      await replaceFile(temporary, file);
      await syncFolder(this.#folder);
    } catch (error) {
      await fs.rm(temporary, { force: true }).catch(() => undefined);
      throw error;
    } finally {
      this.#writing.delete(path.basename(temporary));
    }
    return side;
  }

  async get(side: BinarySide): Promise<Uint8Array> {
    const bytes = await this.#read(side);
    if (!bytes) throw contentGone(side.hash);
    return bytes;
  }

  async retain(named: ReadonlySet<Sha256>, before: ReadonlySet<Sha256>): Promise<void> {
    for (const hash of before) this.#put.delete(hash);
    const names = await fs.readdir(this.#folder).catch(() => []);
    for (const name of names) {
      // Asked each time: another window may have been opened meanwhile.
      if (!this.#mayRemove()) return;
      const isLeft = TEMPORARY.test(name) && !this.#writing.has(name);
      const isUnnamed = NAME.test(name) && !named.has(name) && !this.#put.has(name);
      if (isLeft || isUnnamed) await fs.rm(path.join(this.#folder, name), { force: true });
    }
  }

  /** `undefined` if it is not there, or is damaged. */
  async #read({ hash, size }: BinarySide): Promise<Uint8Array | undefined> {
    try {
      const bytes = await fs.readFile(this.#fileOf(hash));
      return bytes.length === size && sha256(bytes) === hash ? bytes : undefined;
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined;
      throw error;
    }
  }

  #fileOf(hash: Sha256): string {
    return path.join(this.#folder, hash);
  }
}

async function writeDurably(file: string, bytes: Uint8Array): Promise<void> {
  const handle = await fs.open(file, 'wx');
  try {
    await handle.writeFile(bytes);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

/** Makes the new name durable, where the system can. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await fs.open(folder, 'r').catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}
