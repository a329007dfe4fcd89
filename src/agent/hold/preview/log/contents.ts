import { TimeSlice } from '../../../base/async.ts';
import { orUndefined, ToolError } from '../../../base/errors.ts';
import { sha256, type Sha256 } from '../../../base/hash.ts';
import { decodeText, encodeText } from '../../text/encodings.ts';
import { binarySide, contentGone as binaryGone, type Blobs } from '../blobs.ts';
import { hashedSides, isText, type BinarySide, type FileSide, type TextSide } from '../fileChange.ts';
import { CHAIN, newlyStored, Packs, type Place, type Stored } from './packs.ts';
import { sharedEnds, type Ends } from './sharedEnds.ts';

/** How many bytes of contents may be copied to read one that is based on others. */
const CHAIN_BYTES = 64 * 1024 * 1024;
/** How many of a path's last contents its next one is compared with. */
const NEAR = 4;
/** The packs of a content that was not read yet. */
const UNREAD: ReadonlySet<string> = new Set();
/** The most text kept in memory, in characters, and the most content, in bytes. */
const CACHED_CHARS = 16 * 1024 * 1024;
const CACHED_BYTES = 16 * 1024 * 1024;

/**
 * Texts and binary files of previews by their SHA-256, in packs beside the log whose lines name them. They are written once, before
 * the line, and read on demand, each checked against its hash.
 */
export class Contents implements Blobs {
  readonly folder: string;
  readonly #stored = new Map<Sha256, Stored>();
  readonly #texts = new Cache<string>(CACHED_CHARS);
  readonly #bytes = new Cache<Uint8Array>(CACHED_BYTES);
  /** Sides whose texts are read on demand. */
  readonly #held = new WeakSet<TextSide>();
  /** The last contents of each path, with which its next one may have most in common. */
  readonly #lastAt = new Map<string, readonly Sha256[]>();
  /** Binary files that no line names yet. */
  readonly #put = new Set<Sha256>();
  /** Contents that have a place, but wait to be written there, and sides that have been given a place since the last write. */
  readonly #unwritten: Sha256[] = [];
  readonly #placed: TextSide[] = [];
  readonly #packs: Packs;
  /** The `text` of held sides, read on demand. They share one getter: thousands of getters would block a start. */
  readonly #text: PropertyDescriptor & ThisType<TextSide>;
  #failure: unknown;
  /** Contents are moving to new packs. A new line names none that has not moved, and none is based on one: it may be about to go. */
  #isMoving = false;

  /** @param wasLeft see {@link Packs} */
  constructor(folder: string, wasLeft = false) {
    this.folder = folder;
    this.#packs = new Packs(folder, wasLeft);
    const read = (side: TextSide): string => this.#heldText(side);
    this.#text = {
      get() {
        return read(this);
      },
      enumerable: true,
      configurable: true,
    };
  }

  /**
   * Binds the side of a line to the place of its content, from which its text is read on demand. The last line counts, since a damaged
   * content may have been put again; once the content has moved to a new pack, no line does.
   */
  bind(side: FileSide, place: Place): void {
    const known = this.#stored.get(side.hash)?.place;
    // None is based on it until it is read: its own chain may be long.
    if (!known || !(this.#packs.isNew(known) || String(known) === String(place)))
      this.#stored.set(side.hash, { place, links: CHAIN, packs: UNREAD, cost: 0 });
    if (isText(side)) this.#hold(side);
  }

  async put(bytes: Uint8Array): Promise<BinarySide> {
    const side = binarySide(bytes);
    this.#put.add(side.hash);
    // Read once more, since the record there may be damaged.
    if (!this.#storedAt(side.hash) || !orUndefined(() => this.#read(side.hash))) {
      this.#add(side.hash, bytes, []);
      this.write();
    }
    return side;
  }

  async get({ hash }: BinarySide): Promise<Uint8Array> {
    return orUndefined(() => this.#read(hash)) ?? Promise.reject(binaryGone(hash));
  }

  /** Place of a binary file that was {@link put}; `undefined` if it is not stored. A line is about to name it. */
  placeOfBinary({ hash }: BinarySide): Place | undefined {
    this.#put.delete(hash);
    return this.#stored.get(hash)?.place;
  }

  /**
   * Place of a content; {@link write} follows, and from then on memory no longer holds the text of the side: it is read on demand.
   * `undefined` if it must stay in the line, since its bytes do not decode to it, or if it is gone.
   * @param path with whose last contents it may have most in common
   * @throws any error of the file system
   */
  placeOf(side: TextSide, path: string): Place | undefined {
    const last = this.#lastAt.get(path) ?? [];
    const known = this.#stored.get(side.hash)?.place; // the only one that there is if its text is gone
    const isHeld = this.#held.has(side);
    const found = this.#storedAt(side.hash, isHeld)?.place ?? this.#newPlace(side, last);
    if (found && !isHeld) this.#placed.push(side);
    const place = found ?? known;
    if (place) this.#lastAt.set(path, [side.hash, ...last.filter(hash => hash !== side.hash)].slice(0, NEAR));
    return place;
  }

  #newPlace(side: TextSide, near: readonly Sha256[]): Place | undefined {
    if (orUndefined(() => isExact(side)) !== true) return undefined;
    const bytes = encodeText(side.text, side.encoding);
    if (!hashedSides.has(side) && sha256(bytes) !== side.hash) return undefined;
    const { place } = this.#add(side.hash, bytes, near);
    this.#bytes.set(side.hash, bytes);
    this.#texts.set(textKey(side), side.text);
    if (this.#packs.isFull) this.write();
    return place;
  }

  /**
   * A stored content, unless a pack that it needs was deleted, or may be about to be.
   * @param mayBeUnread whether only its own pack counts as long as it was not read
   */
  #storedAt(hash: Sha256, mayBeUnread = false): Stored | undefined {
    const isUnread = (): boolean => this.#stored.get(hash)?.packs === UNREAD;
    if (!mayBeUnread && isUnread()) orUndefined(() => this.#read(hash));
    const stored = mayBeUnread || !isUnread() ? this.#stored.get(hash) : undefined;
    const stays = stored && (!this.#isMoving || this.#packs.isNew(stored.place));
    return stays && this.#packs.has(stored) ? stored : undefined;
  }

  /** Whether the text of a side is read from here. */
  holds(side: TextSide): boolean {
    return this.#held.has(side);
  }

  /** How many bytes a content takes here; `undefined` if it is not here. */
  sizeOf(hash: Sha256): number | undefined {
    return this.#stored.get(hash)?.place[2];
  }

  /** The error of the last write that failed, for an entry whose contents waited for it. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Writes the waiting contents. @throws any error of the file system; then none of them counts as stored */
  write(): void {
    const [hashes, sides] = [this.#unwritten.splice(0), this.#placed.splice(0)];
    try {
      this.#packs.write();
    } catch (error) {
      for (const hash of hashes) this.#stored.delete(hash);
      this.#failure = error;
      throw error;
    }
    for (const side of sides) this.#hold(side);
  }

  /** Settles once everything that was written would survive a crash of the machine. */
  flush(): Promise<void> {
    return this.#packs.flush();
  }

  /** Whether more than half of the stored bytes, and more than `most`, belong to none of these contents. */
  async isMostlyUnnamed(named: ReadonlySet<Sha256>, most: number): Promise<boolean> {
    const live = Array.from(named, hash => this.sizeOf(hash) ?? 0).reduce((sum, size) => sum + size, 0);
    return (await this.#packs.size()) > 2 * live + most;
  }

  /**
   * Moves the named contents to new packs, and removes those packs that hold neither a named content nor any that one is based on.
   * Until then all of them are in the old packs, too. A content whose record is gone or damaged stays where it is.
   * @param named asked before they are copied, and again before packs are removed
   * @param rewrite writes every line that names contents again, with their new places
   * @returns those that are gone or damaged
   * @throws any error of the file system or of `rewrite`; then no pack that a line names was removed
   */
  async move(
    named: () => Promise<ReadonlySet<Sha256>>,
    rewrite: () => Promise<void>,
  ): Promise<ReadonlySet<Sha256>> {
    try {
      const gone = await this.#renew(await named());
      await rewrite();
      await this.#retain(await named());
      return gone;
    } finally {
      this.#isMoving = false;
    }
  }

  /** Copies these contents to new packs, record by record. */
  async #renew(known: ReadonlySet<Sha256>): Promise<ReadonlySet<Sha256>> {
    const named = new Set([...known, ...this.#put]);
    this.write();
    this.#packs.startAnew();
    this.#isMoving = true;
    const packs = new Packs(this.folder);
    const { copied } = await import('./moving.ts');
    try {
      const { copies, gone } = await copied(this.#stored, named, packs, hash =>
        orUndefined(() => this.#read(hash)),
      );
      for (const [hash, stored] of copies) this.#stored.set(hash, stored);
      return gone;
    } finally {
      this.#packs.adopt(packs);
    }
  }

  async #retain(known: ReadonlySet<Sha256>): Promise<void> {
    const named = new Set([...known, ...this.#put]);
    const packs = new Set<string>();
    const slice = new TimeSlice();
    for (const [hash, { place }] of this.#stored) {
      if (this.#packs.isNew(place)) continue;
      if (!named.has(hash)) this.#stored.delete(hash);
      else
        for (let next: Place | undefined = place; next; next = this.#packs.recordAt(next)?.head.of)
          packs.add(next[0]);
      await slice.turn();
    }
    await this.#packs.retain(packs);
  }

  #hold(side: TextSide): void {
    this.#held.add(side);
    // Its own property, so that a copy has the text, too.
    Object.defineProperty(side, 'text', this.#text);
  }

  #heldText({ hash, encoding }: Pick<TextSide, 'hash' | 'encoding'>): string {
    const key = textKey({ hash, encoding });
    const cached = this.#texts.get(key);
    if (cached !== undefined) return cached;
    const text = decodeText(this.#read(hash), encoding)?.text;
    if (text === undefined) throw contentGone(hash);
    this.#texts.set(key, text);
    return text;
  }

  #add(hash: Sha256, bytes: Uint8Array, near: readonly Sha256[]): Stored {
    const base = this.#nearest(bytes, near);
    const own = base ? bytes.subarray(base.ends[0], bytes.length - base.ends[1]) : bytes;
    this.#unwritten.push(hash);
    const place = this.#packs.add(base ? { of: base.place, ends: base.ends } : {}, own);
    const stored = newlyStored(place, bytes.length, base);
    this.#stored.set(hash, stored);
    return stored;
  }

  /** The one of these contents with most in common with these bytes, if that pays. */
  #nearest(bytes: Uint8Array, near: readonly Sha256[]): (Stored & { readonly ends: Ends }) | undefined {
    let best: (Stored & { readonly ends: Ends }) | undefined;
    for (const hash of new Set(near)) {
      const stored = this.#storedAt(hash);
      const other = this.#bytes.get(hash);
      if (!stored || !other || stored.links >= CHAIN || stored.cost + bytes.length > CHAIN_BYTES) continue;
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
    const found = place && this.#packs.bytesAt(place);
    if (!place || !found || sha256(found.bytes) !== hash) throw contentGone(hash);
    const { bytes, stored } = found;
    this.#stored.set(hash, stored);
    this.#bytes.set(hash, bytes);
    return bytes;
  }
}

/** Keeps the values that were asked for last, up to a size. */
class Cache<T extends { readonly length: number }> {
  readonly #most: number;
  /** In the order in which they were last asked for. */
  readonly #values = new Map<string, T>();
  #size = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string): T | undefined {
    const value = this.#values.get(key);
    if (value !== undefined && this.#values.delete(key)) this.#values.set(key, value);
    return value;
  }

  set(key: string, value: T): void {
    if (this.#values.has(key)) return;
    this.#values.set(key, value);
    this.#size += value.length;
    if (this.#size <= this.#most) return;
    // An eighth goes at once, since a search for the oldest one passes all that went before.
    for (const [oldest, { length }] of this.#values) {
      if (this.#size <= (this.#most * 7) / 8 || oldest === key) return;
      this.#values.delete(oldest);
      this.#size -= length;
    }
  }
}

/** Whether a text's bytes decode to it again: not with half a character, or a mark that would be taken for that of its encoding. */
function isExact({ text, encoding }: TextSide): boolean {
  return text.isWellFormed() && !text.includes('\0') && (encoding.bom || !text.startsWith('\ufeff'));
}

function textKey({ hash, encoding }: Pick<TextSide, 'hash' | 'encoding'>): string {
  return `${hash} ${encoding.name} ${encoding.bom}`;
}

function contentGone(hash: Sha256): ToolError {
  return new ToolError(
    `A text with the SHA-256 ${hash.slice(0, 12)}… is gone from Redline's storage, or damaged, so nothing was written. The preview can only be discarded, and the change proposed anew.`,
  );
}
