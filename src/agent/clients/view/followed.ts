import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { parsedJson } from '../../base/json.ts';
import { replaceFile } from '../../base/system/replaceFile.ts';
import { isOpen, type Preview } from '../../hold/preview/preview.ts';

/**
 * The decisions that a view has followed, in a file beside it: after a reload it follows later ones only. Its files stay as they were
 * decided, even if those on disk have changed since, as with a branch.
 */
export class Followed {
  readonly #file: string;
  #keys: ReadonlySet<string> = new Set();

  /** @param folder of the view */
  constructor(folder: string) {
    this.#file = path.join(folder, 'followed.json');
  }

  /** Reads the file; if there is none, nothing was followed. */
  async load(): Promise<void> {
    const keys = parsedJson(await fs.readFile(this.#file, 'utf8').catch(() => ''));
    if (Array.isArray(keys)) this.#keys = new Set(keys.map(String));
  }

  /** Whether a preview is as it was followed. One that waits for a decision never is, since it moves with its files. */
  has(preview: Preview): boolean {
    return !isOpen(preview) && this.#keys.has(keyOf(preview));
  }

  /** @throws the error of the system; then it knows no more than before */
  async add(previews: readonly Preview[]): Promise<void> {
    const keys = new Set([...this.#keys, ...previews.map(keyOf)]);
    if (keys.size === this.#keys.size) return;
    await fs.writeFile(`${this.#file}.new`, JSON.stringify([...keys]), { mode: 0o600 });
    await replaceFile(`${this.#file}.new`, this.#file);
    this.#keys = keys;
  }
}

function keyOf({ id, revision, state }: Preview): string {
  return `${id} ${revision} ${state.kind}`;
}
