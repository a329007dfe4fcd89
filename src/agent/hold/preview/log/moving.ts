import { TimeSlice } from '../../../base/async.ts';
import type { Sha256 } from '../../../base/hash.ts';
import type { Place, Packs } from './packs.ts';

/** A stored content: its place, and the cost of reading it. */
export interface Stored {
  readonly place: Place;
  readonly links: number;
  readonly cost: number;
}

/** Moves contents to new packs, record by record: without reading their texts, unless one is based on a text that does not move. */
export class Moving {
  readonly moved = new Map<Sha256, Stored>();
  /** Contents whose records are gone or damaged. They stay where they are. */
  readonly gone = new Set<Sha256>();
  readonly #stored: ReadonlyMap<Sha256, Stored>;
  readonly #named: ReadonlySet<Sha256>;
  readonly #packs: Packs;
  readonly #read: (hash: Sha256) => Uint8Array | undefined;
  readonly #hashAt = new Map<string, Sha256>();

  constructor(
    stored: ReadonlyMap<Sha256, Stored>,
    packs: Packs,
    named: ReadonlySet<Sha256>,
    read: (hash: Sha256) => Uint8Array | undefined,
  ) {
    this.#stored = stored;
    this.#packs = packs;
    this.#named = named;
    this.#read = read;
  }

  /** Notes where each content is, before any moves. */
  async begin(): Promise<void> {
    const slice = new TimeSlice();
    for (const [hash, { place }] of this.#stored) {
      this.#hashAt.set(String(place), hash);
      await slice.turn();
    }
  }

  move(hash: Sha256): Stored | undefined {
    const done = this.moved.get(hash);
    if (done) return done;
    const place = this.#stored.get(hash)?.place;
    const found = place && this.#packs.recordAt(place);
    if (!found) return void this.gone.add(hash);
    const { own, head } = found;
    const { of, ends = [0, 0] } = head;
    if (!of) return this.#add(hash, own, own.length);
    const baseHash = this.#hashAt.get(String(of));
    const base = baseHash !== undefined && this.#named.has(baseHash) ? this.move(baseHash) : undefined;
    if (base) return this.#add(hash, own, ends[0] + own.length + ends[1], { of: base, ends });
    const bytes = this.#read(hash);
    return bytes ? this.#add(hash, bytes, bytes.length) : void this.gone.add(hash);
  }

  #add(
    hash: Sha256,
    own: Uint8Array,
    size: number,
    follows?: { readonly of: Stored; readonly ends: readonly [number, number] },
  ): Stored {
    const head = follows ? { of: follows.of.place, ends: follows.ends } : {};
    const place = this.#packs.add(hash, head, own);
    const stored = { place, links: (follows?.of.links ?? -1) + 1, cost: (follows?.of.cost ?? 0) + size };
    this.moved.set(hash, stored);
    return stored;
  }
}
