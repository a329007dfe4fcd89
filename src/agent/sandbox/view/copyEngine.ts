import * as path from 'node:path';
import { forEachLimited, TimeSlice } from '../../base/async.ts';
import { messageWithoutPaths, ToolError } from '../../base/errors.ts';
import { isInside } from '../../base/system/realPath.ts';
import { foldersAbove } from '../../hold/preview/fileSteps.ts';
import { assertNotStopped, type CommandPlan } from '../commands/commandPlan.ts';
import type { RunSink } from '../commands/commandRuns.ts';
import { runInShell } from '../commands/shellProcess.ts';
import { boundFiles, copyFile } from './boundFiles.ts';
import { cleanEnvironment } from './cleanEnvironment.ts';
import { CopiedAbove } from './copiedAbove.ts';
import {
  clear,
  copied,
  foldersGone,
  forget,
  note,
  openCopy,
  removeLeftovers,
  type Copied,
} from './copiedFolder.ts';
import { ownRepository } from './copiedGit.ts';
import { assertFits, isDiskFull, LOST } from './diskSpace.ts';
import { listCopy, type Changed } from './copyListing.ts';
import type { Effects } from './effects.ts';
import { Layers, type Contents } from './layers.ts';
import { OwnFolder } from './ownFolder.ts';
import { CopiedLinks, PathNames } from './pathNames.ts';
import { inTrees, PlainTree } from './plainTree.ts';
import { putFiles, type Layer, type Put } from './upperTree.ts';
import { sizeIn, stampOf, stamps, walk, type CopyLimits, type Stamp } from './stamps.ts';
import type { Changes, Mount, MountOptions } from './view.ts';

/** How many files are copied concurrently. */
const AT_ONCE = 16;

/**
 * Shows progress while `copy` runs, which reports how many files are done.
 * @param total how many there are
 */
export type Progress = (
  total: number,
  copy: (cancelled: AbortSignal, report: (done: number) => void) => Promise<void>,
) => Promise<void>;

const CANCELLED =
  'The user cancelled copying the workspace, which the sandbox needs. Nothing was run. Ask the user before you try again.';

/** Progress is shown for more files than this. */
const SHOWN_FROM = 1_000;

/** The user cancelled a copy. */
export class CancelledError extends Error {
  override readonly name = 'CancelledError';
}

/** Copies files. @throws CancelledError if the user cancels it, and the signal's reason once that is aborted */
export async function copyAll<File>(
  files: readonly File[],
  progress: Progress,
  signal: AbortSignal,
  copy: (file: File) => Promise<void>,
): Promise<void> {
  const all: Parameters<Progress>[1] = async (cancelled, report) => {
    let done = 0;
    await forEachLimited(files, AT_ONCE, async file => {
      signal.throwIfAborted();
      if (cancelled.aborted) throw new CancelledError('cancelled');
      await copy(file);
      report(++done);
    });
  };
  await (files.length > SHOWN_FROM ? progress(files.length, all) : all(signal, () => undefined));
}

interface CopyOptions extends MountOptions {
  readonly progress?: Progress;
  readonly limits?: CopyLimits;
}

/** The mount for every system: a copy of the folders elsewhere, kept in step with them. It is not isolated. */
export class CopyMount implements Mount {
  readonly engine = 'copy';
  readonly isolated = false;
  readonly #storage: OwnFolder;
  readonly layers: Layers;
  readonly #folders: readonly Copied[];
  readonly #above: ReadonlyMap<Layer, CopiedAbove | undefined>;
  readonly #links: CopiedLinks;
  readonly #variables: () => readonly string[];
  readonly #progress: Progress;

  constructor({ folders, storage, variables, progress, limits }: CopyOptions) {
    this.#storage = new OwnFolder(storage);
    this.#variables = variables;
    this.#progress = progress ?? ((_, copy) => copy(new AbortController().signal, () => undefined));
    this.layers = new Layers(folders, storage);
    this.#above = new Map(this.layers.all.map(layer => [layer, CopiedAbove.of(layer, limits)]));
    this.#folders = this.layers.all.map(layer => {
      const { root, state } = layer;
      const above = this.#above.get(layer);
      const copy = above
        ? path.join(above.copy, path.relative(above.root, root))
        : path.join(state, path.basename(root));
      return copied(layer, root, copy);
    });
    this.#links = new CopiedLinks([...this.#folders, ...this.#repositories()], this.layers.links);
  }

  get storage(): string {
    return this.#storage.path;
  }

  async run(plan: CommandPlan, { signal, add }: RunSink): ReturnType<Mount['run']> {
    const names = this.#names(add);
    const end = await runInShell(
      { ...plan, folder: this.#copyOf(plan.folder) },
      { signal, add: chunk => names.add(chunk) },
      {
        ...cleanEnvironment(plan, this.#variables()),
        // Git must find no repository around the copy.
        GIT_CEILING_DIRECTORIES: this.#folders.map(({ layer }) => layer.state).join(path.delimiter),
      },
    );
    names.end();
    return { ...end, notes: [] };
  }

  async changes(contents: Contents, effects: Effects): ReturnType<Mount['changes']> {
    let ignored = 0;
    let wroteGit = false;
    const changed = new Map<Copied, Changed>();
    const removed: string[] = [];
    try {
      for (const folder of this.#folders) {
        const listed = await listCopy(folder, {
          storage: this.#storage,
          layers: this.layers,
          contents,
          effects,
          links: this.#links,
        });
        ignored += listed.ignored;
        wroteGit ||= listed.wroteGit;
        changed.set(folder, listed);
        removed.push(...listed.removed);
      }
      for (const above of this.#repositories())
        if (above.packages.put) changed.set(above.packages, await above.changed(this.#storage));
    } catch (error) {
      // Changes that could not be listed must not be in the next copy.
      await this.#drop();
      throw error;
    }
    const keep: Changes['keep'] = async end => {
      const isTidy = await this.#tidy(changed, true);
      if (end.isFull) await this.reset();
      const told = await Promise.all(this.#repositories().map(above => above.told(changed)));
      return {
        lost: isTidy ? undefined : LOST,
        notes: [...this.#names(() => undefined).told(end.effects), ...told.flat()],
      };
    };
    return { ignored, wroteGit, removed, keep };
  }

  async readIgnored(workspacePath: string): Promise<Uint8Array | undefined> {
    const place = this.layers.placeAt(this.layers.absolute(workspacePath) ?? '');
    const folder = this.#folders.find(({ layer }) => layer === place?.layer);
    if (!place || !folder?.ignored.has(place.relative)) return undefined;
    return new PlainTree(folder.copy, folder.id).read(place.relative);
  }

  async reset(): Promise<void> {
    const changed = new Map<Copied, Changed>();
    for (const folder of this.#folders.filter(({ put }) => put)) {
      const found = await inTrees([await openCopy(folder, this.#storage)], copy => stamps(copy));
      changed.set(folder, { changed: [...folder.ignored], found });
    }
    if (!(await this.#tidy(changed, false))) return;
    for (const folder of changed.keys()) {
      folder.ignored.clear();
      folder.isFresh = true;
    }
  }

  async dispose(): Promise<void> {
    await this.#storage.remove();
  }

  /**
   * Updates the copies to the folders as they are now, with the pending contents. If the disk is full, they are removed and, unless
   * they were new, made again without leftovers of earlier commands.
   * @returns notes on that for the model
   */
  async prepare(contents: Contents, signal: AbortSignal): Promise<readonly string[]> {
    const isFirst = this.#folders.every(({ source }) => source.size === 0);
    try {
      for (const above of this.#repositories()) {
        await above.putManifests(this.#storage);
        if (!(await above.hasPackages())) continue;
        await this.#step(above.packages, contents, signal);
        above.packages.isFresh = true;
      }
      for (const folder of this.#folders) await this.#step(folder, contents, signal);
      return [];
    } catch (error) {
      assertNotStopped(signal);
      if (error instanceof ToolError) throw error;
      if (error instanceof CancelledError) throw new ToolError(CANCELLED);
      if (isDiskFull(error)) await this.#drop();
      if (isFirst || !isDiskFull(error))
        throw new ToolError(
          `The workspace cannot be copied: ${messageWithoutPaths(error)}. Nothing was run.`,
        );
      await this.prepare(contents, signal);
      return ['The disk was full, so the copy was made anew, without the ignored files of earlier commands.'];
    }
  }

  async #drop(): Promise<void> {
    await this.#storage.remove();
    for (const folder of [...this.#folders, ...this.#repositories().map(({ packages }) => packages)])
      forget(folder);
  }

  #repositories(): readonly CopiedAbove[] {
    return [...this.#above.values()].flatMap(above => above ?? []);
  }

  #names(add: (text: string) => void): PathNames {
    return new PathNames(
      [...this.#folders, ...this.#repositories()].map(({ root, copy }) => [copy, root]),
      add,
    );
  }

  #copyOf(absolute: string): string {
    for (const { root, copy } of this.#folders)
      if (isInside(absolute, root)) return path.join(copy, path.relative(root, absolute));
    throw new ToolError(`${absolute} is in no folder of the workspace. Nothing was run.`);
  }

  /** Updates a copy to its folder as it is now, and puts the pending contents into it. */
  async #step(folder: Copied, contents: Contents, signal: AbortSignal): Promise<void> {
    const { layer, root, source } = folder;
    await inTrees([root, await openCopy(folder, this.#storage)], async (real, copy) => {
      const slice = new TimeSlice();
      const now = new Map<string, Stamp>();
      const empty = new Set<string>();
      await walk(real, '', (at, stat) => now.set(at, stampOf(stat)) !== undefined, {
        folder: at => empty.add(at),
      });
      const [gone, changed]: [string[], [string, Stamp][]] = [[], []];
      for (const at of source.keys()) {
        await slice.turn();
        if (!now.has(at)) gone.push(at);
      }
      for (const each of now) {
        await slice.turn();
        for (const above of foldersAbove(each[0])) if (!empty.delete(above)) break;
        if (source.get(each[0]) !== each[1]) changed.push(each);
      }
      const sizes = (stamps: Iterable<Stamp | undefined>): number =>
        [...stamps].reduce((sum, stamp) => sum + (stamp ? sizeIn(stamp) : 0), 0);
      const puts: ReadonlyMap<string, Put> =
        (root === layer.root ? contents.get(layer) : undefined) ?? new Map<string, Put>();
      const pending = [...puts.values()].map(({ left }) => left);
      const more = pending.reduce((sum, left) => sum + (left && 'length' in left ? left.length : 0), 0);
      const freed = sizes([...gone, ...changed.map(([at]) => at)].map(at => source.get(at)));
      await assertFits(this.#storage.path, sizes(changed.map(([, stamp]) => stamp)) - freed + more);
      const folders = await foldersGone(folder, real, gone);
      await forEachLimited(gone, AT_ONCE, async at => {
        await clear(folder, copy, at);
        source.delete(at);
        folder.put?.delete(at);
      });
      for (const at of folders) {
        await clear(folder, copy, at);
        for (const left of folder.ignored) if (left.startsWith(`${at}/`)) folder.ignored.delete(left);
      }
      const bound = await boundFiles(
        root,
        now.keys(),
        changed.map(([at]) => at),
      );
      await copyAll(changed, this.#progress, signal, async ([at, stamp]) => {
        await copy.makeFolders(path.posix.dirname(at), real);
        await clear(folder, copy, at);
        await copyFile(at, stamp, [real, copy], this.#links, {
          isBound: bound.has(at),
          keepsTime: folder.isFresh,
        });
        source.set(at, stamp);
        await note(folder, copy, at);
      });
      for (const at of empty) await copy.makeFolders(at, real);
      for (const at of now.keys())
        if (/(^|\/)\.git$/.test(at)) {
          await ownRepository(root, copy, at);
          await note(folder, copy, at);
          await walk(copy, at, (each, stat) => folder.put?.set(each, stampOf(stat)) !== null);
        }
      // To make room.
      for (const at of puts.keys()) await clear(folder, copy, at);
      await putFiles([copy, real], puts, target => this.#links.inCopy(target));
      for (const at of puts.keys()) {
        await note(folder, copy, at);
        // It is copied again before the next command.
        source.set(at, '');
      }
      folder.isFresh = false;
      if (!folder.put) folder.put = (await stamps(copy)).put;
    });
  }

  /**
   * Marks files that a command changed to be copied again before the next one, and removes those that are not on disk, to free the
   * space.
   * @returns false if that failed: the copy is then made anew
   */
  async #tidy(changed: ReadonlyMap<Copied, Changed>, keepsIgnored: boolean): Promise<boolean> {
    try {
      for (const [folder, { changed: paths, found }] of changed)
        await inTrees([folder.root, new PlainTree(folder.copy, folder.id)], async (real, there) => {
          await forEachLimited(paths, AT_ONCE, async at => {
            folder.source.set(at, '');
            if (!(await real.stat(at).catch(() => undefined))) await clear(folder, there, at);
          });
          folder.odd = await removeLeftovers(
            folder,
            [real, there],
            found,
            keepsIgnored && this.#folders.includes(folder),
          );
        });
      return true;
    } catch {
      await this.#drop();
      return false;
    }
  }
}
