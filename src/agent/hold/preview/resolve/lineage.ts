import { isOpen, type Preview } from '../preview.ts';
import type { PreviewFacts } from '../previewView.ts';

/** Effects of later previews on those that were resolved before. */
export class Lineage {
  readonly #undoes = new Map<string, Preview[]>();
  readonly #reopens = new Map<string, Preview>();

  /** @param all every preview of the store, in the order of staging. */
  constructor(all: readonly Preview[]) {
    for (const preview of all) {
      if (preview.reopens !== undefined) this.#reopens.set(preview.reopens, preview);
      for (const id of preview.undoes ?? []) {
        const undoes = this.#undoes.get(id);
        if (undoes) undoes.push(preview);
        else this.#undoes.set(id, [preview]);
      }
    }
  }

  /** The applied preview that undid this one; `undefined` if none did, or that one is undone itself. */
  undoneBy({ id }: Preview): Preview | undefined {
    return this.#undoes.get(id)?.find(undo => undo.state.kind === 'applied' && !this.undoneBy(undo));
  }

  /** Whether another preview undoes this one, or would once applied, and is not undone itself. */
  isUndone({ id }: Preview): boolean {
    const isAnUndo = (other: Preview): boolean => other.state.kind === 'applied' || isOpen(other);
    return this.#undoes.get(id)?.some(other => isAnUndo(other) && !this.isUndone(other)) === true;
  }

  /** Whether a preview that would undo this one is pending. */
  isUndoPending({ id }: Preview): boolean {
    return this.#undoes.get(id)?.some(isOpen) === true;
  }

  /** Effects of later previews on this one, for its `previewView`. */
  factsOf(preview: Preview): Pick<PreviewFacts, 'undoneBy' | 'isUndoPending' | 'reopenedAs'> {
    const again = this.reopenedAs(preview);
    const undoneBy = this.undoneBy(again ?? preview);
    return {
      undoneBy,
      isUndoPending: this.isUndoPending(undoneBy ?? again ?? preview),
      reopenedAs: again,
    };
  }

  /** The preview that proposes this one's changes again: the last one, if that was discarded and reopened too. */
  reopenedAs({ id }: Preview): Preview | undefined {
    const next = this.#reopens.get(id);
    return next && (this.reopenedAs(next) ?? next);
  }
}
