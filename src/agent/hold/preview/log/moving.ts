import { TimeSlice } from '../../../base/async.ts';
import type { Sha256 } from '../../../base/hash.ts';
import { newlyStored, type Packs, type RecordHead, type Stored } from './packs.ts';

/**
 * Copies contents to new packs, record by record: without reading their texts, unless one is based on a text that is not copied.
 * @param read the bytes of a content in the old packs
 * @returns the copies, and the contents whose records are gone or damaged
 */
export async function copied(
  stored: ReadonlyMap<Sha256, Stored>,
  named: ReadonlySet<Sha256>,
  packs: Packs,
  read: (hash: Sha256) => Uint8Array | undefined,
) {
  const [copies, gone] = [new Map<Sha256, Stored>(), new Set<Sha256>()];
  const hashAt = new Map<string, Sha256>();
  const slice = new TimeSlice();
  for (const [hash, { place }] of stored) {
    hashAt.set(String(place), hash);
    await slice.turn();
  }
  const add = (hash: Sha256, own: Uint8Array, size: number, of?: Stored, head: RecordHead = {}): Stored => {
    const copy = newlyStored(packs.add(head, own), size, of);
    copies.set(hash, copy);
    return copy;
  };
  const copy = (hash: Sha256): Stored | undefined => {
    const done = copies.get(hash);
    if (done) return done;
    const place = stored.get(hash)?.place;
    const found = place && packs.recordAt(place);
    if (!found) return void gone.add(hash);
    const { own, head } = found;
    const { of, ends = [0, 0] } = head;
    if (!of) return add(hash, own, own.length);
    const baseHash = hashAt.get(String(of));
    const base = baseHash !== undefined && named.has(baseHash) ? copy(baseHash) : undefined;
    if (base) return add(hash, own, ends[0] + own.length + ends[1], base, { of: base.place, ends });
    const bytes = read(hash);
    return bytes ? add(hash, bytes, bytes.length) : void gone.add(hash);
  };
  for (const hash of named) {
    if (stored.has(hash)) copy(hash);
    if (packs.isFull) packs.write();
    await slice.turn();
  }
  packs.write();
  await packs.flush();
  return { copies, gone };
}
