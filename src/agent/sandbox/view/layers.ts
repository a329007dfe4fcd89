import type { Stats } from 'node:fs';
import * as path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { isInside, realPathSync, realPlace } from '../../base/system/realPath.ts';
import { contentOf } from '../../hold/preview/blobs.ts';
import { isText } from '../../hold/preview/fileChange.ts';
import { removedAbove, type PendingContents } from '../../hold/preview/overlay.ts';
import type { FolderRoot } from '../../hold/preview/workspace.ts';
import { addOtherNames } from './hardLinks.ts';
import { inTrees, PlainTree } from './plainTree.ts';
import type { Layer, Put } from './upperTree.ts';

/** In milliseconds. */
const SECOND = 1_000;
/** Longer than a tick of the kernel's clock, and than the time by which a timer may fire early, in milliseconds. */
const TICK = 20;

/** The overlays or copies of a workspace, and how paths in it are named. */
export class Layers {
  /** One for each outermost folder: a folder in another one is a part of that one's overlay or copy. */
  readonly all: readonly Layer[];
  /** All folders, the innermost first. */
  readonly folders: readonly Layer[];
  /** Other paths of the folders, which lead to them. */
  readonly links: ReadonlyMap<string, string>;

  /**
   * @param storage holds the state of each, in a folder named by its number
   * @param upperOf the folder for writes, by default in the state
   */
  constructor(
    folders: readonly FolderRoot[],
    storage: string,
    upperOf: (root: string) => string | undefined = () => undefined,
  ) {
    const roots = folders.map(({ name, fsPath }, index) => {
      const [root, state] = [realPathSync(fsPath), path.join(storage, String(index))];
      const upper = upperOf(root) ?? path.join(state, 'upper');
      return { root, prefix: folders.length > 1 ? `${name}/` : '', state, upper };
    });
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

  /** The absolute path of a workspace path; `undefined` outside all folders. */
  absolute(workspacePath: string): string | undefined {
    const folder = this.folders.find(({ prefix }) => workspacePath.startsWith(prefix));
    return folder && path.join(folder.root, workspacePath.slice(folder.prefix.length));
  }

  /** The layer that an absolute path is in, and the path relative to it. */
  placeAt(absolute: string): Place | undefined {
    const layer = this.all.find(({ root }) => isInside(absolute, root));
    return layer && { layer, relative: withSlashes(path.relative(layer.root, absolute)) };
  }

  /** The workspace path of a place: relative to the innermost folder. */
  nameOf({ layer, relative }: Place): string {
    const at = path.join(layer.root, relative);
    const isInner = (root: string): boolean => root.length > layer.root.length && isInside(at, root);
    const folder = this.folders.find(({ root }) => isInner(root)) ?? layer;
    return folder.prefix + withSlashes(path.relative(folder.root, at));
  }

  /** The pending contents, by the place where a command finds them. */
  async contentsOf(pending: PendingContents): Promise<Contents> {
    const contents: Contents = new Map(this.all.map(layer => [layer, new Map()]));
    const written = new Map(this.all.map(layer => [layer, new Set<string>()]));
    let newest = 0;
    for (const name of pending.paths()) {
      const removed = removedAbove(pending, name);
      const [place, content] = [await this.#placeOf(name, removed), pending.at(name)];
      if (!place || !content) continue;
      const left = content.side && (await contentOf(content.side, pending.blobs));
      const there = removed === undefined ? place : undefined;
      const source = content.from === undefined ? there : await this.#placeOf(content.from);
      const stat = source && (await statAt(source));
      newest = Math.max(newest, stat?.mtimeMs ?? 0);
      const mode = content.mode ?? (stat && stat.mode & 0o777);
      contents.get(place.layer)?.set(place.relative, { name, left, mode });
      if (content.side && isText(content.side)) written.get(place.layer)?.add(place.relative);
    }
    for (const [layer, puts] of contents) {
      const nameOf = (relative: string): string => this.nameOf({ layer, relative });
      await addOtherNames(layer.root, puts, written.get(layer) ?? new Set(), nameOf);
    }
    const wait = untilLaterSecond(newest, Date.now());
    if (wait > 0) await setTimeout(wait);
    return contents;
  }

  /**
   * The place of a workspace path. Links above it are followed, as the command does, if they lead into the workspace.
   * @param removed a folder above it that is removed: a link there leads nowhere any more
   */
  async #placeOf(workspacePath: string, removed = workspacePath): Promise<Place | undefined> {
    const [named, followed] = [workspacePath, removed].map(each => this.absolute(each));
    if (named === undefined || followed === undefined) return undefined;
    const above = path.dirname(followed);
    const at = path.join(await realPlace(above), path.relative(above, named));
    return this.placeAt(at) ?? this.placeAt(named);
  }
}

function withSlashes(relative: string): string {
  return path.sep === '/' ? relative : relative.replaceAll(path.sep, '/');
}

/** The file at a place; `undefined` if there is none. */
async function statAt({ layer, relative }: Place): Promise<Stats | undefined> {
  const stat = await new PlainTree(layer.root).stat(relative).catch(() => undefined);
  return stat?.isFile() ? stat : undefined;
}

/**
 * How long to wait, in milliseconds, until a file that is written has a time of a later second than `newest`: caches know a file
 * by the second of its time and its size, as those of Python do. The kernel gives it the time of its last tick.
 */
export function untilLaterSecond(newest: number, now: number): number {
  const later = (Math.floor(newest / SECOND) + 1) * SECOND + TICK;
  const isFuture = newest > now + TICK;
  return isFuture ? 0 : Math.max(0, later - now);
}

/** The pending contents, by their place. */
export type Contents = ReadonlyMap<Layer, Map<string, Put>>;

/** A place in the view. */
export interface Place {
  readonly layer: Layer;
  readonly relative: string;
}

/**
 * Removes the contents that were put for a command, also below ignored paths that are kept. Follows no link that the command has
 * made.
 * @param ignored the ignored paths
 * @returns those that are left
 */
export async function forgetPut(
  contents: Contents,
  ignored: ReadonlyMap<Layer, readonly string[]>,
): Promise<ReadonlyMap<Layer, readonly string[]>> {
  for (const [{ upper }, puts] of contents)
    await inTrees([upper], async tree => {
      for (const relative of puts.keys()) {
        if (!(await tree.stat(relative))) continue;
        const above = path.posix.dirname(relative);
        const bits = await tree.openUp(above);
        await tree.clear(relative);
        if (bits !== undefined) await tree.setBits(above, bits);
      }
    });
  const left = new Map<Layer, readonly string[]>();
  for (const [layer, paths] of ignored)
    left.set(
      layer,
      paths.filter(each => !contents.get(layer)?.has(each)),
    );
  return left;
}
