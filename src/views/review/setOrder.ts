import type { Preview } from '../../agent/hold/preview/preview.ts';
import type { PreviewStore } from '../../agent/hold/preview/previewStore.ts';
import { eachAfterItsBase, inReadingOrder } from '../../agent/hold/preview/reading/readingOrder.ts';
import { setKey } from './countedSet.ts';

/**
 * The order of the previews of each change set, for all views alike: the reading order of those that it began with. A decision or a
 * revision moves none of them; another preview in the set may.
 */
export class SetOrder {
  readonly #store: PreviewStore;
  /** By set, the ids of the previews that it began with, in the order of staging. */
  #members: { readonly of: string; readonly ids: ReadonlyMap<string, readonly string[]> } | undefined;
  readonly #known = new Map<string, { readonly of: string; readonly places: ReadonlyMap<string, number> }>();

  constructor(store: PreviewStore) {
    this.#store = store;
  }

  /**
   * Sets stay in the order of their first previews. A copy or a part has the place of its original.
   * @param previews in any state
   */
  sorted(previews: readonly Preview[]): readonly Preview[] {
    return [...Map.groupBy(previews, setKey)].flatMap(([key, ofSet]) => {
      if (ofSet.length < 2) return ofSet;
      const places = this.#placesIn(key);
      const place = (preview: Preview): number => places.get(originalOf(this.#store, preview).id) ?? 0;
      return eachAfterItsBase(ofSet.toSorted((one, other) => place(one) - place(other)));
    });
  }

  #placesIn(key: string): ReadonlyMap<string, number> {
    const ids = this.#idsBySet().get(key) ?? [];
    const of = ids.join(' ');
    const known = this.#known.get(key);
    if (known?.of === of) return known.places;
    const previews = inReadingOrder(ids.flatMap(id => this.#store.get(id) ?? []));
    const places = new Map(previews.map(({ id }, at) => [id, at]));
    this.#known.set(key, { of, places });
    return places;
  }

  #idsBySet(): ReadonlyMap<string, readonly string[]> {
    const all = this.#store.all();
    const of = `${all.length} ${all.at(-1)?.id ?? ''}`;
    if (this.#members?.of !== of) {
      const ids = new Map<string, string[]>();
      for (const preview of all) {
        if (originalOf(this.#store, preview) !== preview) continue;
        const key = setKey(preview);
        const ofSet = ids.get(key);
        if (ofSet) ofSet.push(preview.id);
        else ids.set(key, [preview.id]);
      }
      this.#members = { of, ids };
    }
    return this.#members.ids;
  }
}

/** The preview that a copy or a part was originally made from. */
export function originalOf(store: PreviewStore, preview: Preview): Preview {
  const from = store.get(preview.reopens ?? preview.part?.previewId ?? '');
  return from ? originalOf(store, from) : preview;
}
