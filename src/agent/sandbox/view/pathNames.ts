import type { ForeignFile } from '../../hold/external/foreignChange.ts';
import { heldBack } from '../../hold/text/occurrences.ts';
import * as path from 'node:path';
import { named } from '../../base/safeName.ts';
import { isInside, realPlace } from '../../base/system/realPath.ts';
import type { Found } from './effects.ts';

/** Replaces paths of the copies in an output by those of the workspace, even if a chunk ends within one. */
export class PathNames {
  readonly #names: readonly (readonly [from: string, to: string])[];
  readonly #add: (text: string) => void;
  #held = '';

  constructor(names: readonly (readonly [from: string, to: string])[], add: (text: string) => void) {
    this.#names = names;
    this.#add = add;
  }

  add(chunk: string): void {
    let text = this.#held + chunk;
    for (const [from, to] of this.#names) text = text.replaceAll(from, to);
    const held = Math.max(...this.#names.map(([from]) => heldBack(text, from)));
    this.#held = held === 0 ? '' : text.slice(-held);
    const ready = held === 0 ? text : text.slice(0, -held);
    if (ready !== '') this.#add(ready);
  }

  /** Sentences for the model on files in which a command has left paths of the copies. */
  told(effects: readonly ForeignFile[]): readonly string[] {
    return this.#names.flatMap(([from, to]) => {
      const has = ({ theirs }: ForeignFile): boolean =>
        theirs !== null &&
        ('link' in theirs ? theirs.link.includes(from) : Buffer.from(theirs).includes(from));
      const paths = effects.filter(has).map(({ path }) => path);
      return paths.length === 0
        ? []
        : [
            `With the path of the copy in them, which leads nowhere later: ${named(paths)}. The copy is ${from}, and stands for ${to}. Use relative paths.`,
          ];
    });
  }

  end(): void {
    if (this.#held !== '') this.#add(this.#held);
    this.#held = '';
  }
}

/** A folder of the workspace and its copy, as absolute paths. */
export interface Folders {
  readonly root: string;
  readonly copy: string;
}

/**
 * Leads links with an absolute target in the workspace to the same place of its copy: else a command would read and write the files
 * on disk through them.
 */
export class CopiedLinks {
  /** The outermost folders, and those that are opened by a link. */
  readonly folders: readonly Folders[];

  /** @param links other paths of folders, which lead to them */
  constructor(folders: readonly Folders[], links: ReadonlyMap<string, string>) {
    const linked = [...links].map(([from, root]) => ({
      root: from,
      copy: this.#placeOf(root, folders) ?? from,
    }));
    this.folders = [...folders, ...linked];
  }

  /** The target that a link of the workspace with this target has in the copy. */
  async inCopy(target: string): Promise<string> {
    if (!path.isAbsolute(target)) return target;
    return this.#placeOf(target) ?? this.#placeOf(await realPlace(target)) ?? target;
  }

  /** The target that a link of the copy with this target has in the workspace. */
  inWorkspace(target: string): string {
    const found = path.isAbsolute(target) && this.folders.find(({ copy }) => isInside(target, copy));
    return found ? path.join(found.root, path.relative(found.copy, target)) : target;
  }

  /** The entry of a copy, as it would be in the workspace. */
  entryInWorkspace(found: Found | undefined): Found | undefined {
    return found?.kind === 'link' ? { ...found, target: this.inWorkspace(found.target) } : found;
  }

  #placeOf(target: string, folders = this.folders): string | undefined {
    const found = folders.find(({ root }) => isInside(target, root));
    return found && path.join(found.copy, path.relative(found.root, target));
  }
}
