import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { orUndefined, ToolError } from '../../../base/errors.ts';
import { isRecord } from '../../../base/json.ts';
import { sha256, type Sha256 } from '../../../base/hash.ts';
import { decodeText, encodeText, type TextEncoding } from '../../text/encodings.ts';
import { isText, type FileChange, type FileSide, type TextSide } from '../fileChange.ts';
import { sharedEnds, type Ends } from './sharedEnds.ts';

/** Where a content is: the name of its pack, and the offset and length of its record there, in bytes. */
export type Place = readonly [pack: string, offset: number, length: number];

/**
 * A record is a line that tells what the content has in common with another one, and then the bytes that it does not: a decision on
 * one hunk of a large file stores a hunk, not a file.
 */
interface RecordHead {
  readonly of?: Place;
  /** How many bytes at its beginning and at its end are those of the other one. */
  readonly ends?: Ends;
}

/** A pack is not added to beyond this size, in bytes, so that what is no longer needed can be removed. */
const PACK_BYTES = 8 * 1024 * 1024;
/** How many bytes wait at most until they are written. */
const BUFFERED_BYTES = 1024 * 1024;
/** How many bytes of contents are copied at most to read one, which follows from other ones. */
const CHAIN_BYTES = 64 * 1024 * 1024;
/** How many other contents one may follow from at most. */
const CHAIN = 256;
/** How many of the last contents of a path are compared with its next one. */
const NEAR = 4;
/** How much text is kept in memory, in characters, and how many of the last bytes. */
const CACHED_CHARS = 16 * 1024 * 1024;
const CACHED_BYTES = 16 * 1024 * 1024;

/** How a content was stored: where, and what reading it costs. */
interface Stored {
  readonly place: Place;
  readonly links: number;
  readonly cost: number;
}

/**
 * The texts of previews by their SHA-256, in packs beside the log whose lines name them. They are written once, before the line,
 * and read when somebody asks, each checked against its hash.
 */
export class Contents {
  readonly folder: string;
  readonly #stored = new Map<Sha256, Stored>();
  readonly #texts = new Cache<string>(CACHED_CHARS);
  readonly #bytes = new Cache<Uint8Array>(CACHED_BYTES);
  /** The texts that are not stored yet, which previews in memory refer to. */
  readonly #awaited = new Map<Sha256, string>();
  readonly #held = new WeakSet<TextSide>();
  /** The last contents of each path, which the next one of it may have most in common with. */
  readonly #lastAt = new Map<string, readonly Sha256[]>();
  readonly #unsynced = new Set<string>();
  /** The packs whose contents move to new ones when they are next placed; see {@link moveAll}. */
  #old: ReadonlySet<string> = new Set();
  /** Where contents were before they moved, until that is certain. */
  readonly #moved = new Map<Sha256, Stored>();
  #pack: { readonly name: string; size: number } | undefined;
  #buffered: { readonly hash: Sha256; readonly bytes: Uint8Array }[] = [];
  #bufferedBytes = 0;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** The changes as a store in memory keeps them: with texts that need no memory once they are stored. */
  heldChanges(changes: readonly FileChange[]): readonly FileChange[] {
    const hold = (side: FileSide | null): FileSide | null => (side && isText(side) ? this.#hold(side) : side);
    const held = changes.map(change => {
      const [before, after] = [hold(change.before), hold(change.after)];
      return before === change.before && after === change.after
        ? change
        : ({ ...change, before, after } as FileChange);
    });
    return held.every((change, index) => change === changes[index]) ? changes : held;
  }

  /** The same side, whose text is read when somebody asks for it. Memory holds it until it is stored. */
  #hold(side: TextSide): TextSide {
    if (this.#held.has(side) || !isExact(side)) return side;
    if (!this.#stored.has(side.hash)) this.#awaited.set(side.hash, side.text);
    return this.#sideOf(side.hash, side.encoding);
  }

  /** The side of a line. @throws ToolError from its text, if that is gone or altered */
  sideAt(hash: Sha256, encoding: TextEncoding, place: Place): TextSide {
    if (!this.#stored.has(hash)) this.#stored.set(hash, { place, links: 0, cost: 0 });
    return this.#sideOf(hash, encoding);
  }

  /**
   * Where a text is stored; {@link write} follows. `undefined` if it must stay in the line, since its bytes do not give it.
   * @param near contents that it may have most in common with
   * @throws any error of the file system
   */
  placeOf(side: TextSide, near: readonly Sha256[]): Place | undefined {
    const known = this.#stored.get(side.hash);
    if (known && !this.#old.has(known.place[0])) return known.place;
    if (!isExact(side)) return undefined;
    const bytes = known ? orUndefined(() => this.#read(side.hash)) : encodeText(side.text, side.encoding);
    if (!bytes) return known?.place; // it is gone already
    if (!known && sha256(bytes) !== side.hash) return undefined;
    if (known) this.#moved.set(side.hash, known);
    const { place } = this.#add(side.hash, bytes, near);
    this.#bytes.set(side.hash, bytes, bytes.length);
    this.#texts.set(keyOf(side), side.text, side.text.length);
    if (this.#bufferedBytes > BUFFERED_BYTES) this.write();
    return place;
  }

  /** Whether a side is one of these contents, or has the same bytes as one. */
  knows(side: TextSide): boolean {
    return this.#held.has(side) || this.#stored.has(side.hash);
  }

  /** How many bytes a content takes here; `undefined` if it is not here. */
  sizeOf(hash: Sha256): number | undefined {
    return this.#stored.get(hash)?.place[2];
  }

  lastAt(path: string): readonly Sha256[] {
    return this.#lastAt.get(path) ?? [];
  }

  noteAt(path: string, hash: Sha256): void {
    this.#lastAt.set(path, [hash, ...this.lastAt(path).filter(other => other !== hash)].slice(0, NEAR));
  }

  /** Writes what waits. @throws any error of the file system; then nothing that waited counts as stored */
  write(): void {
    if (this.#buffered.length === 0 || !this.#pack) return;
    const { name, size } = this.#pack;
    const written = this.#buffered.splice(0);
    const from = size - this.#bufferedBytes;
    this.#bufferedBytes = 0;
    try {
      fs.mkdirSync(this.folder, { recursive: true });
      const file = fs.openSync(path.join(this.folder, name), 'a');
      this.#unsynced.add(name);
      try {
        if (fs.fstatSync(file).size !== from) throw new Error(`${name} is not as it was left`);
        fs.writeFileSync(file, Buffer.concat(written.map(({ bytes }) => bytes)));
      } finally {
        fs.closeSync(file);
      }
    } catch (error) {
      for (const { hash } of written) {
        const before = this.#moved.get(hash);
        if (before) this.#stored.set(hash, before);
        else this.#stored.delete(hash);
      }
      this.#pack = undefined; // what it holds may end within a record
      throw error;
    }
    for (const { hash } of written) this.#awaited.delete(hash);
  }

  /** Settles once everything that was written would survive a crash of the machine. */
  async flush(): Promise<void> {
    const names = [...this.#unsynced];
    for (const name of names) {
      const handle = await fs.promises.open(path.join(this.folder, name), 'r+');
      await handle.datasync().finally(() => handle.close());
    }
    for (const name of names) this.#unsynced.delete(name);
  }

  /**
   * From now on a content that is placed goes to a new pack, wherever it was: once every line was written again, the packs of before hold
   * nothing that is named, and {@link retain} removes them, with what was forgotten.
   */
  moveAll(): void {
    this.#old = new Set(Array.from(this.#stored.values(), ({ place }) => place[0]));
    if (!this.#pack || !this.#old.has(this.#pack.name)) return;
    this.write();
    this.#pack = undefined;
  }

  /** Removes the packs that hold nothing of these contents, nor of what they follow from. */
  async retain(named: ReadonlySet<Sha256>): Promise<void> {
    const packs = new Set(this.#pack ? [this.#pack.name] : []);
    for (const hash of named)
      for (let place = this.#stored.get(hash)?.place; place; place = this.#headAt(place)?.head.of)
        packs.add(place[0]);
    const names = await fs.promises.readdir(this.folder).catch(() => []);
    for (const name of names)
      if (name.endsWith('.pack') && !packs.has(name))
        await fs.promises.rm(path.join(this.folder, name), { force: true });
    for (const [hash, { place }] of this.#stored) if (!packs.has(place[0])) this.#stored.delete(hash);
    this.#old = new Set();
    this.#moved.clear();
  }

  /** Whether a text is in the storage, as far as can be told without reading it. */
  has(hash: Sha256): boolean {
    const place = this.#stored.get(hash)?.place;
    if (!place || this.#awaited.has(hash)) return this.#awaited.has(hash);
    const size = fs.statSync(path.join(this.folder, place[0]), { throwIfNoEntry: false })?.size ?? 0;
    return place[1] + place[2] <= size;
  }

  #sideOf(hash: Sha256, encoding: TextEncoding): TextSide {
    const textOf = (): string => this.#text(hash, encoding);
    // Its own property, so that a copy has the text, too.
    const side = {
      hash,
      get text() {
        return textOf();
      },
      encoding,
    };
    this.#held.add(side);
    return side;
  }

  #text(hash: Sha256, encoding: TextEncoding): string {
    const awaited = this.#awaited.get(hash);
    if (awaited !== undefined) return awaited;
    const key = keyOf({ hash, encoding });
    const cached = this.#texts.get(key);
    if (cached !== undefined) return cached;
    const text = decodeText(this.#read(hash), encoding)?.text;
    if (text === undefined) throw contentGone(hash);
    this.#texts.set(key, text, text.length);
    return text;
  }

  #add(hash: Sha256, bytes: Uint8Array, near: readonly Sha256[]): Stored {
    const base = this.#nearest(bytes, near);
    const head: RecordHead = base ? { of: base.place, ends: base.ends } : {};
    const own = base ? bytes.subarray(base.ends[0], bytes.length - base.ends[1]) : bytes;
    const record = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), own]);
    if (!this.#pack || this.#pack.size > PACK_BYTES) {
      this.write();
      this.#pack = { name: `${randomUUID()}.pack`, size: 0 };
    }
    const place: Place = [this.#pack.name, this.#pack.size, record.length];
    this.#pack.size += record.length;
    this.#buffered.push({ hash, bytes: record });
    this.#bufferedBytes += record.length;
    const stored = { place, links: (base?.links ?? -1) + 1, cost: (base?.cost ?? 0) + bytes.length };
    this.#stored.set(hash, stored);
    return stored;
  }

  /** The one of these contents that has most in common with these bytes, if that pays. */
  #nearest(bytes: Uint8Array, near: readonly Sha256[]): (Stored & { readonly ends: Ends }) | undefined {
    let best: (Stored & { readonly ends: Ends }) | undefined;
    for (const hash of new Set(near)) {
      const stored = this.#stored.get(hash);
      const other = this.#bytes.get(hash);
      if (
        !stored ||
        !other ||
        this.#old.has(stored.place[0]) ||
        stored.links >= CHAIN ||
        stored.cost + bytes.length > CHAIN_BYTES
      )
        continue;
      const ends = sharedEnds(other, bytes);
      if (2 * (ends[0] + ends[1]) < bytes.length) continue;
      if (!best || ends[0] + ends[1] > best.ends[0] + best.ends[1]) best = { ...stored, ends };
    }
    return best;
  }

  #read(hash: Sha256): Uint8Array {
    const cached = this.#bytes.get(hash);
    if (cached) return cached;
    const place = this.#stored.get(hash)?.place;
    const found = place && this.#bytesAt(place);
    if (!place || !found || sha256(found.bytes) !== hash) throw contentGone(hash);
    const { bytes, links } = found;
    this.#stored.set(hash, { place, links, cost: (links + 1) * bytes.length });
    this.#bytes.set(hash, bytes, bytes.length);
    return bytes;
  }

  /** What a record and those that it follows from make; not checked yet. */
  #bytesAt(place: Place): { readonly bytes: Buffer; readonly links: number } | undefined {
    const chain: { readonly ends: Ends; readonly own: Buffer }[] = [];
    for (let next: Place | undefined = place; next && chain.length <= CHAIN;) {
      const found = this.#headAt(next);
      if (!found) return undefined;
      chain.push({ ends: found.head.ends ?? [0, 0], own: found.own });
      next = found.head.of;
    }
    const bytes = chain.reduceRight<Buffer>(
      (of, { ends, own }) => Buffer.concat([of.subarray(0, ends[0]), own, of.subarray(of.length - ends[1])]),
      Buffer.alloc(0),
    );
    return { bytes, links: chain.length - 1 };
  }

  /** `undefined` if the record is gone, or no record. */
  #headAt(place: Place): { readonly head: RecordHead; readonly own: Buffer } | undefined {
    try {
      const record = this.#recordAt(...place);
      const end = record.indexOf('\n');
      const head: unknown = JSON.parse(record.toString('utf8', 0, end));
      return isRecord(head) ? { head, own: record.subarray(end + 1) } : undefined;
    } catch {
      return undefined;
    }
  }

  #recordAt(name: string, offset: number, length: number): Buffer {
    const from = (this.#pack?.size ?? 0) - this.#bufferedBytes;
    if (name === this.#pack?.name && offset >= from)
      return Buffer.concat(this.#buffered.map(({ bytes }) => bytes)).subarray(
        offset - from,
        offset - from + length,
      );
    const file = fs.openSync(path.join(this.folder, name), 'r');
    try {
      const record = Buffer.alloc(length);
      return record.subarray(0, fs.readSync(file, record, 0, length, offset));
    } finally {
      fs.closeSync(file);
    }
  }
}

/** Keeps what was asked for last, up to a size. */
class Cache<T> {
  readonly #most: number;
  readonly #values = new Map<string, { readonly value: T; readonly size: number }>();
  #size = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string): T | undefined {
    const found = this.#values.get(key);
    if (!found) return undefined;
    this.#values.delete(key);
    this.#values.set(key, found);
    return found.value;
  }

  set(key: string, value: T, size: number): void {
    if (this.#values.has(key)) return;
    this.#values.set(key, { value, size });
    this.#size += size;
    for (const [oldest, { size }] of this.#values) {
      if (this.#size <= this.#most) break;
      this.#values.delete(oldest);
      this.#size -= size;
    }
  }
}

/** Whether the bytes of a text give it again: not with half a character, or a mark that would be taken for that of its encoding. */
function isExact({ text, encoding }: TextSide): boolean {
  return text.isWellFormed() && !text.includes('\0') && (encoding.bom || !text.startsWith('\ufeff'));
}

function keyOf({ hash, encoding }: Pick<TextSide, 'hash' | 'encoding'>): string {
  return `${hash} ${encoding.name} ${encoding.bom}`;
}

function contentGone(hash: Sha256): ToolError {
  return new ToolError(
    `A text with the SHA-256 ${hash.slice(0, 12)}… is gone from Redline's storage, or damaged, so nothing was written. Discard the preview and propose the change again.`,
  );
}
