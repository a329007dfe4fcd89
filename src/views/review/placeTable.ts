import type { Preview } from '../../agent/hold/preview/preview.ts';
import type { PreviewStore } from '../../agent/hold/preview/previewStore.ts';
import { inReadingOrder } from '../../agent/hold/preview/reading/readingOrder.ts';
import { numbersOf, ownParts } from '../../agent/hold/preview/resolve/ownParts.ts';
import type { ResolveOrder } from '../../agent/hold/preview/resolveSettings.ts';
import type { DiffStat } from '../../agent/hold/text/lineDiff.ts';
import { countedSet } from './countedSet.ts';

/** Positions of all hunks of a change set. */
export interface PlaceTable {
  readonly hunks: number;
  /** By {@link slotKey}, for each file of an open preview: how many hunks come before it, and the numbers that are gone from it. */
  readonly slots: ReadonlyMap<string, { readonly before: number; readonly gone: ReadonlySet<number> }>;
  /** The number of each file, from 1. */
  readonly file: ReadonlyMap<string, number>;
}

/** A preview without files has one slot. */
export function slotKey(id: string, path = ''): string {
  return `${id} ${path}`;
}

/** Remembers the order of previews and files, so that a decision changes no number. Other previews in the set may change them. */
export class PlaceOrder {
  readonly #previews = new Map<string, { readonly of: string; readonly order: readonly string[] }>();
  readonly #paths = new Map<string, readonly string[]>();

  /** @param previews those that the set began with, in the order of staging */
  previews(key: string, previews: readonly Preview[], setting: ResolveOrder): readonly string[] {
    const of = [setting, ...previews.map(({ id }) => id)].join(' ');
    const known = this.#previews.get(key);
    if (known?.of === of) return known.order;
    const given = setting === 'newestFirst' ? previews.toReversed() : previews;
    const order = inReadingOrder(given).map(({ id }) => id);
    this.#previews.set(key, { of, order });
    return order;
  }

  paths(id: string, now: readonly string[]): readonly string[] {
    const paths = [...new Set([...(this.#paths.get(id) ?? []), ...now])];
    this.#paths.set(id, paths);
    return paths;
  }
}

/**
 * A copy has the place of its original, a part that of its hunks in the whole.
 * @param key names the set, see `setKey`
 * @param statsOf counts a preview in the background
 * @returns `undefined` until all is counted, or if there is too much
 */
export function placeTable(
  store: PreviewStore,
  key: string,
  setting: ResolveOrder,
  order: PlaceOrder,
  statsOf: (preview: Preview) => readonly DiffStat[] | undefined,
): PlaceTable | undefined {
  const { decided, open, isTooLarge } = countedSet(store, key);
  if (isTooLarge) return undefined;
  const originals = new Map<string, Preview[]>();
  for (const each of [...decided, ...open]) {
    const { id } = originalOf(store, each);
    originals.set(id, [...(originals.get(id) ?? []), each]);
  }
  const first = store.all().filter(({ id }) => originals.has(id));
  const partsOf = Map.groupBy(
    store.all().filter(({ part }) => part),
    ({ part }) => part?.previewId,
  );
  const slots = new Map<string, { readonly before: number; readonly gone: ReadonlySet<number> }>();
  const file = new Map<string, number>();
  let hunks = 0;
  for (const id of order.previews(key, first, setting)) {
    const counted = originals.get(id) ?? [];
    const whole = counted.find(each => !each.part && !copiedPart(store, each));
    const stats = whole?.changes ? statsOf(whole) : [];
    if (whole?.changes && (!stats || stats.length < whole.changes.length)) return undefined;
    if (whole && !whole.changes) slots.set(slotKey(whole.id), { before: hunks++, gone: new Set() });
    const parts = [...new Set([id, whole?.id])].flatMap(from => partsOf.get(from) ?? []);
    const own = whole && parts.length > 0 ? ownParts(store, whole) : [];
    const pathsOf = (previews: readonly Preview[]): string[] =>
      previews.flatMap(({ changes }) => (changes ?? []).map(({ path }) => path));
    for (const path of order.paths(id, pathsOf([...parts, ...(whole ? [whole] : [])]))) {
      const gone = numbersOf(own, path);
      const here = parts.filter(({ changes }) => changes?.[0]?.path === path);
      const at = new Map<string, number>();
      let before = hunks;
      for (const each of here) {
        if (each.part?.number !== undefined && own.includes(each)) continue;
        at.set(each.id, before);
        before += each.part?.hunks ?? 0;
      }
      for (const each of here) if (!at.has(each.id)) at.set(each.id, before + (each.part?.number ?? 1) - 1);
      for (const each of counted) {
        const start = at.get(copiedPart(store, each)?.id ?? '');
        if (start !== undefined) slots.set(slotKey(each.id, path), { before: start, gone: new Set() });
      }
      hunks = before + gone.size;
      const index = whole?.changes?.findIndex(change => change.path === path) ?? -1;
      if (whole && index >= 0) {
        slots.set(slotKey(whole.id, path), { before, gone });
        hunks += Math.max(1, stats?.[index]?.hunks ?? 1);
      }
      if (!file.has(path) && (here.length > 0 || index >= 0)) file.set(path, file.size + 1);
    }
  }
  return { hunks, slots, file };
}

/** The preview that a copy or a part was made from in the first place. */
function originalOf(store: PreviewStore, preview: Preview): Preview {
  const from = store.get(preview.reopens ?? preview.part?.previewId ?? '');
  return from ? originalOf(store, from) : preview;
}

/** The part of another preview that this one is a copy of. */
function copiedPart(store: PreviewStore, { reopens }: Preview): Preview | undefined {
  const from = reopens === undefined ? undefined : store.get(reopens);
  return from && (from.part ? from : copiedPart(store, from));
}
