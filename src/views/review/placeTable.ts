import type { Preview } from '../../agent/hold/preview/preview.ts';
import type { PreviewStore } from '../../agent/hold/preview/previewStore.ts';
import { numbersOf, ownParts } from '../../agent/hold/preview/resolve/ownParts.ts';
import type { DiffStat } from '../../agent/hold/text/lineDiff.ts';
import { countedSet } from './countedSet.ts';
import { originalOf } from './setOrder.ts';

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

/** How previews and their files are ordered, so that a decision changes no number. */
export interface PlaceOrder {
  /** See {@link ReviewList.inOrder}. */
  readonly previews: (previews: readonly Preview[]) => readonly Preview[];
  /** The paths of each preview in the order in which they were first asked for, by its id. {@link placeTable} adds to them. */
  readonly paths: Map<string, readonly string[]>;
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
  order: PlaceOrder,
  statsOf: (preview: Preview) => readonly DiffStat[] | undefined,
): PlaceTable | undefined {
  const { decided, open, isTooLarge } = countedSet(store, key);
  if (isTooLarge) return undefined;
  const originals = Map.groupBy([...decided, ...open], each => originalOf(store, each));
  const partsOf = Map.groupBy(
    store.all().filter(({ part }) => part),
    ({ part }) => part?.previewId,
  );
  const slots = new Map<string, { readonly before: number; readonly gone: ReadonlySet<number> }>();
  const file = new Map<string, number>();
  let hunks = 0;
  for (const original of order.previews([...originals.keys()])) {
    const { id } = original;
    const counted = originals.get(original) ?? [];
    const whole = counted.find(each => !each.part && !copiedPart(store, each));
    const stats = whole?.changes ? statsOf(whole) : [];
    if (whole?.changes && (!stats || stats.length < whole.changes.length)) return undefined;
    if (whole && !whole.changes) slots.set(slotKey(whole.id), { before: hunks++, gone: new Set() });
    const parts = [...new Set([id, whole?.id])].flatMap(from => partsOf.get(from) ?? []);
    const own = whole && parts.length > 0 ? ownParts(store, whole) : [];
    const pathsOf = (previews: readonly Preview[]): string[] =>
      previews.flatMap(({ changes }) => (changes ?? []).map(({ path }) => path));
    const now = pathsOf([...parts, ...(whole ? [whole] : [])]);
    const paths = [...new Set([...(order.paths.get(id) ?? []), ...now])];
    order.paths.set(id, paths);
    for (const path of paths) {
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

/** The part of another preview that this one is a copy of. */
function copiedPart(store: PreviewStore, { reopens }: Preview): Preview | undefined {
  const from = reopens === undefined ? undefined : store.get(reopens);
  return from && (from.part ? from : copiedPart(store, from));
}
