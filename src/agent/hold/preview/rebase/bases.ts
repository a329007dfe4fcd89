import { ToolError } from '../../../base/errors.ts';
import { sha256 } from '../../../base/hash.ts';
import { binarySide, type Blobs } from '../blobs.ts';
import { isText, linkTo, sideOfBytes, type FileChange, type FileSide, type FileStep } from '../fileChange.ts';
import { stepsOf } from '../fileSteps.ts';
import { isOpen, type Preview } from '../preview.ts';
import type { PreviewStore } from '../previewStore.ts';
import { elsewhereText, type ResolvingFiles } from '../resolve/refusals.ts';

/** Sources from which bases are read. */
export interface BasesOptions {
  readonly store: PreviewStore;
  readonly workspace: ResolvingFiles;
}

/** Content of a path beneath a preview, and the id of the pending preview that it comes from, if any. */
export interface Base {
  readonly side: FileSide | null | 'unreadable';
  readonly from?: string;
  /** Why it is unreadable, if that is known. */
  readonly reason?: string;
}

/** Contents of one preview's paths beneath it. */
export class Bases {
  readonly #options: BasesOptions;
  readonly #preview: Preview;
  /** For the previews beneath, by their changes: the first step at each path. */
  readonly #steps = new Map<readonly FileChange[], ReadonlyMap<string, FileStep>>();

  constructor(options: BasesOptions, preview: Preview) {
    this.#options = options;
    this.#preview = preview;
  }

  /**
   * The base of a path now: the result of the nearest pending preview, else the file itself.
   * @param isWhole whether a link at the path is itself looked at, see `isWhole`.
   * @param keep store for the content of a binary file that is there; without it, the side only serves to compare.
   */
  async of(path: string, expected: FileSide | null, isWhole: boolean, keep?: Blobs): Promise<Base> {
    const below = this.#below(path);
    if (below) return below;
    const { workspace } = this.#options;
    const { roots } = this.#preview;
    const place = roots && workspace.formerPlaces([path], roots).get(path);
    if (place !== undefined) return { side: 'unreadable', reason: elsewhereText(path, place) };
    try {
      const link = isWhole ? (await workspace.placeOf(path)).link : undefined;
      if (link !== undefined) return { side: linkTo(link) };
      const bytes = await workspace.read(path);
      if (!bytes) return { side: null };
      // Most files are as they were, which is known without their text.
      if (expected && isText(expected) && sha256(bytes) === expected.hash) return { side: expected };
      const encoding = expected && isText(expected) ? expected.encoding : undefined;
      const text = sideOfBytes(bytes, encoding);
      return { side: text ?? (keep ? await keep.put(bytes) : binarySide(bytes)) };
    } catch (error) {
      if (error instanceof ToolError) return { side: 'unreadable', reason: error.message };
      throw error;
    }
  }

  /** The file as left by the uppermost open preview that this one builds on, directly or not. */
  #below(path: string): Base | undefined {
    const { store } = this.#options;
    const touching = this.#foundBelow(
      this.#preview.dependsOn,
      id => this.#stepOf(store.get(id), path) !== undefined,
    );
    // One of them may build on another that was also found in another way.
    const covered = new Set(touching.length < 2 ? [] : touching.flatMap(id => this.#allBelow(id)));
    const [top] = store.open.newestFirst(touching.filter(id => !covered.has(id)));
    const preview = top === undefined ? undefined : store.get(top);
    const step = this.#stepOf(preview, path);
    if (!preview || !step) return undefined;
    const isStale = preview.state.kind === 'pending' && preview.state.stale.length > 0;
    return { side: isStale ? 'unreadable' : step.after, from: preview.id };
  }

  #stepOf(below: Preview | undefined, path: string): FileStep | undefined {
    if (!below?.changes || !isOpen(below)) return undefined;
    let steps = this.#steps.get(below.changes);
    if (!steps) {
      const entries = below.changes.flatMap(stepsOf).map(step => [step.path, step] as const);
      steps = new Map(entries.reverse());
      this.#steps.set(below.changes, steps);
    }
    return steps.get(path);
  }

  #allBelow(id: string): readonly string[] {
    const seen: string[] = [];
    this.#foundBelow(this.#options.store.get(id)?.dependsOn ?? [], below => {
      seen.push(below);
      return false;
    });
    return seen;
  }

  /** The wanted previews among these and those below them. It does not look below a wanted one. */
  #foundBelow(ids: readonly string[], isWanted: (id: string) => boolean): readonly string[] {
    const found: string[] = [];
    const seen = new Set(ids);
    for (const id of seen) {
      if (isWanted(id)) found.push(id);
      // The iteration also reaches elements that are added meanwhile.
      else for (const below of this.#options.store.get(id)?.dependsOn ?? []) seen.add(below);
    }
    return found;
  }
}
