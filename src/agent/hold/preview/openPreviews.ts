import { isOpen, pathsOf, type Preview } from './preview.ts';
import type { ResolveOrder } from './resolveSettings.ts';

/**
 * The open previews in the order of staging, their dependencies, and the files that they change. An index beside the store's map,
 * so that a query costs as much as its answer, however many previews are open or resolved.
 */
export class OpenPreviews {
  readonly #previews = new Map<string, Preview>();
  /** For each preview, the ids of the open ones that are made directly on it. */
  readonly #dependents = new Map<string, Set<string>>();
  /** By workspace path, the ids of the open previews that change it. */
  readonly #byPath = new Map<string, Set<string>>();
  /** Position of each preview in the order of staging, including those no longer open: ids need not be in that order. */
  readonly #stagedAs = new Map<string, number>();

  /** How many there are. */
  get size(): number {
    return this.#previews.size;
  }

  /** Adds a preview, replaces it with its new state, or removes it once it is no longer open. */
  update(preview: Preview): void {
    const { id, dependsOn } = preview;
    const before = this.#previews.get(id);
    for (const on of before?.dependsOn ?? []) this.#dependents.get(on)?.delete(id);
    const isIndexed = before?.changes === preview.changes && before !== undefined;
    if (before && !(isIndexed && isOpen(preview))) this.#dropPaths(before);
    const isKnown = this.#stagedAs.has(id);
    if (!isKnown) this.#stagedAs.set(id, this.#stagedAs.size);
    if (!isOpen(preview)) return void this.#previews.delete(id);
    const isBack = !this.#previews.has(id) && isKnown;
    this.#previews.set(id, preview);
    if (isBack) this.#sortAgain();
    if (!isIndexed) this.#addPaths(preview);
    for (const on of dependsOn) {
      const dependents = this.#dependents.get(on) ?? new Set();
      this.#dependents.set(on, dependents.add(id));
    }
  }

  #addPaths(preview: Preview): void {
    for (const path of pathsOf(preview)) {
      const ids = this.#byPath.get(path) ?? new Set();
      this.#byPath.set(path, ids.add(preview.id));
    }
  }

  #dropPaths(preview: Preview): void {
    for (const path of pathsOf(preview)) {
      const ids = this.#byPath.get(path);
      ids?.delete(preview.id);
      if (ids?.size === 0) this.#byPath.delete(path);
    }
  }

  /** Restores the order after a preview that was not open for a while. */
  #sortAgain(): void {
    const sorted = this.newestFirst([...this.#previews.keys()]).reverse();
    for (const id of sorted) {
      const preview = this.#previews.get(id);
      this.#previews.delete(id);
      if (preview) this.#previews.set(id, preview);
    }
  }

  /** In the order of staging. */
  [Symbol.iterator](): Iterator<Preview> {
    return this.#previews.values();
  }

  /** All open previews in this order, except that each comes after those it is made on. */
  list(order: ResolveOrder): readonly Preview[] {
    const staged = [...this.#previews.values()];
    return this.#eachAfterItsBase(order === 'newestFirst' ? staged.reverse() : staged);
  }

  /** Open previews that change any of these files, as {@link list} has them with the oldest first. */
  touching(paths: Iterable<string>): readonly Preview[] {
    const ids = new Set(Array.from(paths).flatMap(path => [...(this.#byPath.get(path) ?? [])]));
    const staged = this.newestFirst([...ids]).reverse();
    return this.#eachAfterItsBase(staged.flatMap(id => this.#previews.get(id) ?? []));
  }

  #eachAfterItsBase(ordered: Preview[]): Preview[] {
    const isBlocked = (preview: Preview): boolean => preview.dependsOn.some(id => this.#previews.has(id));
    if (!ordered.some(isBlocked)) return ordered;
    const depths = new Map<string, number>();
    const depthOf = (id: string): number => {
      const preview = this.#previews.get(id);
      if (!preview) return -1;
      const known = depths.get(id);
      if (known !== undefined) return known;
      depths.set(id, 0); // breaks a cycle, should a log ever contain one
      const depth = 1 + Math.max(-1, ...preview.dependsOn.map(depthOf));
      depths.set(id, depth);
      return depth;
    };
    return ordered.sort((a, b) => depthOf(a.id) - depthOf(b.id));
  }

  /** These ids, including those of previews no longer open, the last staged first. */
  newestFirst(ids: readonly string[]): string[] {
    const at = (id: string): number => this.#stagedAs.get(id) ?? -1;
    return ids.toSorted((a, b) => at(b) - at(a));
  }

  /** Previews that must be applied before this one, in that order. */
  blockersOf({ dependsOn }: Preview): readonly Preview[] {
    const found = new Map<string, Preview>();
    const visit = (ids: readonly string[]): void => {
      for (const id of ids) {
        const preview = this.#previews.get(id);
        if (!preview || found.has(id)) continue;
        visit(preview.dependsOn);
        found.set(id, preview);
      }
    };
    visit(dependsOn);
    return [...found.values()];
  }

  /** Open previews that are made directly on this one. */
  dependentsOf(id: string): readonly Preview[] {
    return Array.from(this.#dependents.get(id) ?? []).flatMap(
      dependent => this.#previews.get(dependent) ?? [],
    );
  }
}
