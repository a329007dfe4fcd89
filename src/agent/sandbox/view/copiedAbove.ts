import * as fs from 'node:fs';
import { homedir } from 'node:os';
import * as path from 'node:path';
import { realPlaceSync } from '../../base/system/realPath.ts';
import { copied, openCopy, type Copied } from './copiedFolder.ts';
import type { Changed } from './copyListing.ts';
import type { OwnFolder } from './ownFolder.ts';
import { inTrees } from './plainTree.ts';
import { repositoryAbove } from './repositoryAbove.ts';
import { changedBetween, measure, stamps, type CopyLimits, type Stamp } from './stamps.ts';
import type { Layer } from './upperTree.ts';

const PACKAGES = 'node_modules';

/**
 * The parts that a copy has of the repository around its folder: the installed packages and the manifests at the top. Every command
 * finds them as on disk.
 */
export class CopiedAbove {
  readonly root: string;
  readonly copy: string;
  readonly packages: Copied;
  readonly #layer: Layer;
  readonly #limits: CopyLimits | undefined;
  #manifests: readonly string[] = [];
  #fits: Promise<boolean> | undefined;

  private constructor(layer: Layer, root: string, limits: CopyLimits | undefined) {
    this.#layer = layer;
    this.root = root;
    this.copy = path.join(layer.state, path.basename(root));
    this.packages = copied(layer, path.join(root, PACKAGES), path.join(this.copy, PACKAGES));
    this.#limits = limits;
  }

  /** @returns `undefined` if the folder is in no repository, or the top of one */
  static of(layer: Layer, limits: CopyLimits | undefined): CopiedAbove | undefined {
    const above = repositoryAbove(layer.root, realPlaceSync(homedir()));
    return above && new CopiedAbove(layer, above.top, limits);
  }

  /** Whether there are packages on disk, within the limits. */
  async hasPackages(): Promise<boolean> {
    const { root } = this.packages;
    if (!fs.statSync(root, { throwIfNoEntry: false })?.isDirectory()) return false;
    if (!this.#limits) return true;
    this.#fits ??= measure([root], this.#limits).then(size => size !== undefined);
    return this.#fits;
  }

  /** Updates the manifests to those on disk. */
  async putManifests(storage: OwnFolder): Promise<void> {
    const now = repositoryAbove(this.#layer.root, realPlaceSync(homedir()))?.manifests ?? [];
    const there = storage.seenFromAbove(this.copy);
    await inTrees([this.root, await storage.above()], async (real, copies) => {
      await copies.makeFolders(there);
      for (const name of new Set([...this.#manifests, ...now])) {
        await copies.clear(`${there}/${name}`);
        if (now.includes(name)) await copies.copy(name, real, { to: `${there}/${name}`, keepsTime: true });
      }
    });
    this.#manifests = now;
  }

  /** Finds the changes of a command in the packages. */
  async changed(storage: OwnFolder): Promise<Changed> {
    const { put = new Map<string, Stamp>() } = this.packages;
    const found = await inTrees([await openCopy(this.packages, storage)], copy => stamps(copy));
    this.packages.put = found.put;
    return { changed: await changedBetween(put, found.put), found };
  }

  /** Sentences for the model on the packages. */
  async told(changed: ReadonlyMap<Copied, Changed>): Promise<readonly string[]> {
    const { root } = this.packages;
    if (this.#fits && !(await this.#fits))
      return [`${root} is not in the copy: it is more than the settings allow to copy.`];
    if (!changed.get(this.packages)?.changed.length) return [];
    return [`The command changed ${root} in the copy. The next command finds it as on disk.`];
  }
}
