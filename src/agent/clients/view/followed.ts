import * as path from 'node:path';
import { isOpen, type Preview } from '../../hold/preview/preview.ts';
import { KeptKeys } from './keptKeys.ts';

/**
 * The decisions that a view has followed, in a file beside it: after a reload it follows later ones only. Its files stay as they were
 * decided, even if those on disk have changed since, as with a branch.
 */
export class Followed {
  readonly #keys: KeptKeys;

  /** @param folder of the view */
  constructor(folder: string) {
    this.#keys = new KeptKeys(path.join(folder, 'followed.json'));
  }

  /** Reads the file; if there is none, nothing was followed. */
  load(): Promise<void> {
    return this.#keys.load();
  }

  /** Whether a preview is as it was followed. One that waits for a decision never is, since it moves with its files. */
  has(preview: Preview): boolean {
    return !isOpen(preview) && this.#keys.has(revisionKey(preview));
  }

  /** @throws the error of the system; then it knows no more than before */
  add(previews: readonly Preview[]): Promise<void> {
    return this.#keys.add(previews.map(revisionKey));
  }
}

function revisionKey({ id, revision, state }: Preview): string {
  return `${id} ${revision} ${state.kind}`;
}
