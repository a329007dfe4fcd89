import { TimeSlice } from '../../base/async.ts';
import { MAX_FILE_BYTES } from '../../hold/preview/workspace.ts';
import { OUTDATED } from './diskSpace.ts';
import type { Contents, Layers } from './layers.ts';
import { PlainTree } from './plainTree.ts';
import { stampOf, type Stamp } from './stamps.ts';
import type { Layer } from './upperTree.ts';

type Ignored = ReadonlyMap<Layer, readonly string[]>;

/** A file that matches the disk again, and since when. */
interface Returned {
  readonly stamp: Stamp;
  readonly time: Date;
}

/**
 * Files that a command has found, or left, with other contents than they have on disk. Once they match the disk again, they get a
 * time of their own in the view: outputs made from the other contents are older, so `make` and similar tools rebuild them. Time in
 * a view only goes forward.
 */
export class PastFiles {
  /** By path; `undefined` while the contents differ from those on disk. */
  readonly #files = new Map<Layer, Map<string, Returned | undefined>>();

  /** Notes that these paths differ from those on disk now. */
  note(layer: Layer, paths: Iterable<string>): void {
    const files = this.#files.get(layer) ?? new Map<string, Returned | undefined>();
    this.#files.set(layer, files);
    for (const each of paths) files.set(each, undefined);
  }

  /**
   * Notes the workspace paths that a command has changed: they differ from those on disk now. If there are too many, noting them
   * would slow down all later commands: outputs that may be made from them must go instead.
   * @param ignored the ignored paths in the view
   * @returns why these must be removed; `undefined` if they may stay
   */
  async noteChanged(
    names: readonly string[],
    layers: Layers,
    { isTooMuch, ignored }: { readonly isTooMuch: boolean; readonly ignored: Ignored },
  ): Promise<string | undefined> {
    if (isTooMuch && [...ignored.values()].every(({ length }) => length === 0)) return undefined;
    const slice = new TimeSlice();
    for (const name of names) {
      await slice.turn();
      const place = layers.placeAt(layers.absolute(name) ?? '');
      if (!place) continue;
      if (!isTooMuch) this.note(place.layer, [place.relative]);
      else if (await new PlainTree(place.layer.root).stat(place.relative).catch(() => undefined)) {
        this.clear();
        return OUTDATED;
      }
    }
    return undefined;
  }

  /** Adds files that match the disk again to the contents for the view. Pending contents are newer anyway. */
  async add(contents: Contents, layers: Layers): Promise<void> {
    for (const [layer, puts] of contents) this.note(layer, puts.keys());
    for (const [layer, files] of this.#files) {
      const puts = contents.get(layer);
      const real = new PlainTree(layer.root);
      for (const [relative, returned] of files) {
        if (!puts || puts.has(relative)) continue;
        const stat = await real.stat(relative).catch(() => undefined);
        if (!stat?.isFile() || stat.size > MAX_FILE_BYTES) continue;
        const left = await real.read(relative).catch(() => undefined);
        if (!left) continue;
        const stamp = stampOf(stat);
        const time = returned?.stamp === stamp ? returned.time : new Date();
        files.set(relative, { stamp, time });
        const name = layers.nameOf({ layer, relative });
        puts.set(relative, { name, left, mode: stat.mode & 0o777, time });
      }
    }
  }

  /** Forgets all files, once every output that was made from other contents is gone. */
  clear(): void {
    this.#files.clear();
  }
}
