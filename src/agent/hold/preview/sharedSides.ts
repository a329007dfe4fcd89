import { isText, type FileChange, type FileSide } from './fileChange.ts';

/**
 * Lets previews share equal contents: the content that one edit proposes is what the next edit of the file starts from, and each
 * may be of megabytes.
 */
export class SharedSides {
  /** By what makes two contents equal. */
  readonly #known = new Map<string, WeakRef<FileSide>>();
  readonly #gone = new FinalizationRegistry<string>(key => {
    if (!this.#known.get(key)?.deref()) this.#known.delete(key);
  });

  /** The same changes; those that hold a content which another preview has are copies with that. */
  share(changes: readonly FileChange[]): readonly FileChange[] {
    const shared = changes.map(change => this.#shareOf(change));
    return shared.every((change, index) => change === changes[index]) ? changes : shared;
  }

  #shareOf(change: FileChange): FileChange {
    const before = change.before && this.#sideOf(change.before);
    const after = change.after && this.#sideOf(change.after);
    if (before === change.before && after === change.after) return change;
    // Each kind of change has the sides that it had.
    return { ...change, before, after } as FileChange;
  }

  #sideOf(side: FileSide): FileSide {
    const key = isText(side) ? `${side.hash} ${side.encoding.name} ${side.encoding.bom}` : side.hash;
    const known = this.#known.get(key)?.deref();
    if (known) return known;
    this.#known.set(key, new WeakRef(side));
    this.#gone.register(side, key);
    return side;
  }
}
