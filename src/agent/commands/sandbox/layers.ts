import { realpathSync } from 'node:fs';
import * as path from 'node:path';
import type { FolderRoot } from '../../preview/workspace.ts';
import { isInside } from '../../base/system/realPath.ts';
import type { Layer } from './upperTree.ts';

/** The overlays of a workspace, and how paths in it are named. */
export class Layers {
  /** One for each folder that is in no other one: what is in another one is a part of its overlay. */
  readonly all: readonly Layer[];
  /** All folders, the innermost first. */
  readonly folders: readonly Layer[];
  /** Other paths of the folders, which lead to them. */
  readonly links: ReadonlyMap<string, string>;

  /** @param storage holds the state of each overlay, in a folder that is named by its number */
  constructor(folders: readonly FolderRoot[], storage: string) {
    const roots = folders.map(({ name, fsPath }, index) => ({
      ...{ root: realpathSync.native(fsPath), prefix: folders.length > 1 ? `${name}/` : '' },
      ...{ state: path.join(storage, String(index)), upper: path.join(storage, String(index), 'upper') },
    }));
    this.folders = roots.toSorted((a, b) => b.root.length - a.root.length);
    this.all = roots.filter(
      (one, n) =>
        !roots.some(
          (other, m) => m !== n && isInside(one.root, other.root) && (one.root !== other.root || m < n),
        ),
    );
    this.links = new Map(
      folders.flatMap(({ fsPath }, index) => {
        const root = roots[index]?.root ?? fsPath;
        return root === fsPath ? [] : [[fsPath, root] as const];
      }),
    );
  }

  /** Where a workspace path is, as an absolute path; `undefined` outside all folders. */
  absolute(workspacePath: string): string | undefined {
    const folder = this.folders.find(({ prefix }) => workspacePath.startsWith(prefix));
    return folder && path.join(folder.root, workspacePath.slice(folder.prefix.length));
  }

  /** The overlay that an absolute path is in, and where in it. */
  placeAt(absolute: string): Place | undefined {
    const layer = this.all.find(({ root }) => isInside(absolute, root));
    return layer && { layer, relative: path.relative(layer.root, absolute) };
  }

  /** The workspace path of a place: relative to the innermost folder. */
  nameOf({ layer, relative }: Place): string {
    const at = path.join(layer.root, relative);
    const folder = this.folders.find(({ root }) => isInside(at, root)) ?? layer;
    return folder.prefix + path.relative(folder.root, at);
  }
}

/** Where something is in the view. */
export interface Place {
  readonly layer: Layer;
  readonly relative: string;
}
