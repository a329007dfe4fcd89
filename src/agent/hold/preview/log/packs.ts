import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { forEachLimited } from '../../../base/async.ts';
import { hasCode, orUndefined } from '../../../base/errors.ts';
import { isRecord } from '../../../base/json.ts';
import { replaceContent, syncFile } from '../../../base/system/replaceFile.ts';
import type { Ends } from './sharedEnds.ts';

/** Place of a content: the name of its pack, and the offset and length of its record there, in bytes. */
export type Place = readonly [pack: string, offset: number, length: number];

/**
 * A record is a line that describes the parts shared with another content, followed by the remaining bytes: a decision on
 * one hunk of a large file stores a hunk, not a file.
 */
export interface RecordHead {
  readonly of?: Place;
  /** How many bytes it shares with the other one at its beginning and at its end. */
  readonly ends?: Ends;
}

export interface PackRecord {
  readonly head: RecordHead;
  readonly own: Buffer;
}

/** A stored content. */
export interface Stored {
  readonly place: Place;
  /** How many others it is based on, directly or not, the packs of all of them, and the cost of reading it. */
  readonly links: number;
  readonly packs: ReadonlySet<string>;
  readonly cost: number;
}

/** A content that was just stored. @param size in bytes @param of the one that it is based on */
export function newlyStored(place: Place, size: number, of?: Stored): Stored {
  const packs = of?.packs.has(place[0]) ? of.packs : new Set([...(of?.packs ?? []), place[0]]);
  return { place, links: (of?.links ?? -1) + 1, packs, cost: (of?.cost ?? 0) + size };
}

/** A pack does not grow beyond this size, in bytes, so that unneeded contents can be removed. */
const PACK_BYTES = 8 * 1024 * 1024;
/** How many bytes may wait before they are written. */
const BUFFERED_BYTES = 1024 * 1024;
/** The longest chain of contents that one may be based on. */
export const CHAIN = 256;

/** How many packs are synced concurrently. */
const AT_ONCE = 8;

/** Append-only files of records in a folder. */
export class Packs {
  readonly #folder: string;
  /** Sizes of the packs that were written since they were last synced, in bytes. */
  readonly #unsynced = new Map<string, number>();
  /** Whether a sync of the packs of an earlier process may have failed, until {@link #unsynced} has them, too. */
  #wasLeft: boolean | undefined;
  /** Packs whose sync failed, with the error: nothing is added to them, and they are written again. */
  readonly #doubtful = new Map<string, unknown>();
  /** Settles when the last of them was written again. */
  #written: Promise<void> = Promise.resolve();
  /** Packs begun by {@link startAnew} and since. */
  readonly #new = new Set<string>();
  #pack: { readonly name: string; size: number } | undefined;
  #buffered: Buffer[] = [];
  /** Sizes of packs that were looked at in this turn of the event loop, in bytes. */
  readonly #sizes = new Map<string, number>();
  #bufferedBytes = 0;

  /**
   * @param wasLeft whether a sync of an earlier process may have failed; without it, only its own packs are synced: the system tells a
   *   failure once, and the writer of the others has to hear it
   */
  constructor(folder: string, wasLeft?: boolean) {
    this.#folder = folder;
    this.#wasLeft = wasLeft;
  }

  /** Whether so much waits that {@link write} pays. */
  get isFull(): boolean {
    return this.#bufferedBytes > BUFFERED_BYTES;
  }

  /** Takes a record that {@link write} writes. */
  add(head: RecordHead, own: Uint8Array): Place {
    const record = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), own]);
    const pack = (this.#pack = this.#packToFill());
    const place: Place = [pack.name, pack.size, record.length];
    pack.size += record.length;
    this.#buffered.push(record);
    this.#bufferedBytes += record.length;
    return place;
  }

  /** The pack so far, unless it is full, or its file is not as it was left. */
  #packToFill(): { readonly name: string; size: number } {
    const pack = this.#pack;
    if (pack && this.#bufferedBytes > 0) return pack;
    if (pack && pack.size <= PACK_BYTES && this.#sizeOf(pack.name) === pack.size) return pack;
    const name = `${randomUUID()}.pack`;
    this.#new.add(name);
    return { name, size: 0 };
  }

  /** Writes the waiting records. @throws any error of the file system; then none of them is stored */
  write(): void {
    if (this.#buffered.length === 0 || !this.#pack) return;
    const { name, size } = this.#pack;
    const written = Buffer.concat(this.#buffered.splice(0));
    const from = this.#bufferedFrom;
    this.#bufferedBytes = 0;
    this.#sizes.clear();
    try {
      fs.mkdirSync(this.#folder, { recursive: true });
      const file = fs.openSync(path.join(this.#folder, name), 'a');
      this.#unsynced.set(name, size);
      try {
        if (this.#doubtful.has(name)) throw this.#doubtful.get(name);
        if (fs.fstatSync(file).size !== from) throw new Error(`${name} is not as it was left`);
        fs.writeFileSync(file, written);
      } finally {
        fs.closeSync(file);
      }
    } catch (error) {
      this.#pack = undefined; // it may end within a record
      throw error;
    }
  }

  /** Whether the record of a content, and those that it is based on, may be there: their packs may have been deleted. */
  has({ place: [name, offset, length], packs }: Stored): boolean {
    if (!this.#isBuffered(name, offset) && offset + length > this.#sizeOf(name)) return false;
    return [...packs].every(pack => pack === name || this.#sizeOf(pack) > 0);
  }

  #isBuffered(name: string, offset: number): boolean {
    return name === this.#pack?.name && offset >= this.#bufferedFrom;
  }

  get #bufferedFrom(): number {
    return (this.#pack?.size ?? 0) - this.#bufferedBytes;
  }

  /** Thousands of contents are asked for in one turn of the event loop, so a pack is looked at once in it. */
  #sizeOf(name: string): number {
    if (this.#sizes.size === 0) setImmediate(() => this.#sizes.clear());
    const known = this.#sizes.get(name);
    if (known !== undefined) return known;
    const size = orUndefined(() => fs.statSync(path.join(this.#folder, name)).size) ?? 0;
    this.#sizes.set(name, size);
    return size;
  }

  /** Puts records into new packs from now on. Nothing may wait. */
  startAnew(): void {
    this.#pack = undefined;
    this.#new.clear();
  }

  /** Takes over the packs of `other`. */
  adopt(other: Packs): void {
    for (const name of other.#new) this.#new.add(name);
  }

  isNew([pack]: Place): boolean {
    return this.#new.has(pack);
  }

  /**
   * Settles once everything that was written would survive a crash of the machine, also by an earlier process, which may have died
   * before that.
   */
  async flush(): Promise<void> {
    for (const name of this.#wasLeft === undefined ? [] : await this.#names()) {
      if (this.#unsynced.has(name)) continue;
      this.#unsynced.set(name, 0);
      if (this.#wasLeft) this.#doubtful.set(name, new Error(`${name} may not be on the disk`));
    }
    this.#wasLeft = undefined;
    await forEachLimited([...this.#unsynced], AT_ONCE, ([name, size]) => this.#sync(name, size));
  }

  async #sync(name: string, size: number): Promise<void> {
    const file = path.join(this.#folder, name);
    try {
      if (this.#doubtful.has(name)) await this.#writeAgain(name);
      else await syncFile(file, error => this.#doubt(name, error));
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
      return void this.#unsynced.delete(name); // it was removed meanwhile
    }
    if (this.#doubtful.has(name)) throw this.#doubtful.get(name); // another sync at the same time has failed
    // Else it has grown meanwhile.
    if (this.#unsynced.get(name) === size) this.#unsynced.delete(name);
  }

  #writeAgain(name: string): Promise<void> {
    const file = path.join(this.#folder, name);
    const done = this.#written.then(async () => {
      if (this.#doubtful.has(name)) await replaceContent(file, [await fs.promises.readFile(file)]);
      this.#doubtful.delete(name);
    });
    this.#written = done.catch(() => undefined);
    return done;
  }

  #doubt(name: string, error: unknown): void {
    this.#doubtful.set(name, error);
    if (this.#pack?.name === name && this.#bufferedBytes === 0) this.#pack = undefined;
  }

  /** Size of all packs, in bytes. */
  async size(): Promise<number> {
    let size = 0;
    for (const name of await this.#names())
      size += (await fs.promises.stat(path.join(this.#folder, name)).catch(() => undefined))?.size ?? 0;
    return size;
  }

  /** Removes all packs but these and the new ones. */
  async retain(packs: ReadonlySet<string>): Promise<void> {
    for (const name of await this.#names()) {
      if (packs.has(name) || this.#new.has(name)) continue;
      this.#unsynced.delete(name);
      this.#doubtful.delete(name);
      this.#sizes.delete(name);
      await fs.promises.rm(path.join(this.#folder, name), { force: true });
    }
  }

  async #names(): Promise<readonly string[]> {
    const names = await fs.promises.readdir(this.#folder).catch(() => []);
    return names.filter(name => /\.pack(?:\.new)?$/.test(name));
  }

  /** Bytes that a record and those it is based on make; not checked yet. */
  bytesAt(place: Place): { readonly bytes: Buffer; readonly stored: Stored } | undefined {
    const chain: PackRecord[] = [];
    const packs = new Set<string>();
    for (let next: Place | undefined = place; next && chain.length <= CHAIN;) {
      const found = this.recordAt(next);
      if (!found) return undefined;
      chain.push(found);
      packs.add(next[0]);
      next = found.head.of;
    }
    const bytes = chain.reduceRight<Buffer>((of, { head, own }) => {
      const [start, end] = head.ends ?? [0, 0];
      return Buffer.concat([of.subarray(0, start), own, of.subarray(of.length - end)]);
    }, Buffer.alloc(0));
    const cost = chain.length * bytes.length;
    return { bytes, stored: { place, links: chain.length - 1, packs, cost } };
  }

  /** `undefined` if there is no whole record at this place. */
  recordAt(place: Place): PackRecord | undefined {
    try {
      const record = this.#read(...place);
      const end = record.indexOf('\n');
      const head: unknown = JSON.parse(record.toString('utf8', 0, end));
      return isRecord(head) && record.length === place[2]
        ? { head, own: record.subarray(end + 1) }
        : undefined;
    } catch {
      return undefined;
    }
  }

  #read(name: string, offset: number, length: number): Buffer {
    if (this.#isBuffered(name, offset)) {
      const at = offset - this.#bufferedFrom;
      return Buffer.concat(this.#buffered).subarray(at, at + length);
    }
    const file = fs.openSync(path.join(this.#folder, name), 'r');
    try {
      const record = Buffer.alloc(length);
      return record.subarray(0, fs.readSync(file, record, 0, length, offset));
    } finally {
      fs.closeSync(file);
    }
  }
}
