import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { hasCode } from '../../base/errors.ts';
import { folderId, ReplacedError, type FolderId } from './openFolders.ts';
import { PlainTree } from './plainTree.ts';

/**
 * A folder of Redline's own that commands in a copy can reach. Links that they put in place of the folders above it are not
 * followed.
 */
export class OwnFolder {
  readonly path: string;
  readonly name: string;
  #above: FolderId | undefined;

  /** @param at absolute */
  constructor(at: string) {
    this.path = at;
    this.name = path.basename(at);
  }

  /** Its parent folder, made if there is none. Using it throws {@link ReplacedError} if another one has taken its place since. */
  async above(): Promise<PlainTree> {
    const at = path.dirname(this.path);
    const now = await folderId(at).catch((error: unknown) => {
      if (!hasCode(error, 'ENOENT')) throw error;
    });
    if (!now) await fs.mkdir(at, { recursive: true });
    if (!now || !this.#above) this.#above = await folderId(at);
    return new PlainTree(at, this.#above);
  }

  /** A path in it, relative to its parent folder. @param at absolute */
  seenFromAbove(at: string): string {
    return [this.name, path.relative(this.path, at).replaceAll(path.sep, '/')].join('/');
  }

  /** Removes it, unless another folder has taken the place of its parent. */
  async remove(): Promise<void> {
    try {
      await (await this.above()).clear(this.name);
    } catch (error) {
      if (!(error instanceof ReplacedError) && !hasCode(error, 'ENOTDIR')) throw error;
    }
  }
}
