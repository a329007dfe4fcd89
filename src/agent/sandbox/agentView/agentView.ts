import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { sha256 } from '../../base/hash.ts';
import type { ForeignFile } from '../../hold/external/foreignChange.ts';
import { MAX_FILES, type LeftOut } from '../../hold/external/gathered.ts';
import type { FileContent, FolderRoot } from '../../hold/preview/workspace.ts';
import { Effects, foundContent, type Found } from '../view/effects.ts';
import { Layers, type Place } from '../view/layers.ts';
import { OWN_FOLDERS, type MountedFolder, type TerminalAccess } from '../view/bubblewrap.ts';
import { removeTree } from '../view/entries.ts';
import { clearSetId } from '../view/heldFind.ts';
import { inTrees, PlainTree } from '../view/plainTree.ts';
import { changedPaths, type Layer } from '../view/upperTree.ts';
import { bulkFolders } from './bulk.ts';
import type { CopyLimits } from './frozenFolder.ts';
import { KnownFiles, stampIn } from './knownFiles.ts';
import { STATUS_FILE } from './privateGit.ts';
import { localSettings, stayedAt, type Stayed } from './stayed.ts';
import { gitOf, worktreesOf } from './viewGit.ts';
import { makeLayer, stateSchema, type ViewState } from './viewState.ts';

/** The most entries that are looked at to see whether something was written. */
const MAX_WATCHED = 100_000;

/** The mounts of a view. */
export interface ViewMounts extends Pick<TerminalAccess, 'shown' | 'readable'> {
  readonly storage: string;
  readonly folders: readonly MountedFolder[];
  readonly links: readonly (readonly [link: string, target: string])[];
}

/** The changes in a view since the last accepted collection. */
export interface Collected {
  readonly effects: readonly ForeignFile[];
  readonly leftOut: readonly LeftOut[];
  /** More was changed than can be reviewed at once: then what is in `bulk`, or all of it if that is empty, is only in the view. */
  readonly isTooMuch: boolean;
  /** Workspace paths of folders with more files than can be reviewed at once. */
  readonly bulk: readonly string[];
  /** Workspace paths of what was written although git ignores it. */
  readonly ignored: readonly string[];
  /** Workspace paths in `effects` of settings that git ignores, which may hold secrets. */
  readonly settings: readonly string[];
  /** How many commits were made in the view since it was opened. They stay there. */
  readonly commits: number;
  /** A repository was removed in the view. The real one is as it was. */
  readonly lostGit: boolean;
  /** Workspace paths of files that are not in `effects` yet, since they are still being written. */
  readonly busy: readonly string[];
}

/**
 * A view of the workspace in which a program works for as long as it likes: an overlay, at the workspace's own path, over a copy of
 * the files that git does not ignore. The copy never changes, since an overlay shows stale or mixed content when its lower tree
 * does. Folders that git ignores are overlays of their own over the real ones, and writes to them stay in the view.
 *
 * Another program mounts the view, see `redline-run`; this class works with its files.
 */
export class AgentView {
  readonly storage: string;
  readonly #state: ViewState;
  readonly #layers: Layers;
  readonly #known: KnownFiles;
  /** Paths in the upper trees that git ignores, by layer; found by the last {@link collect}. */
  readonly #ignored = new Map<Layer, ReadonlySet<string>>();
  /** The stamp of each file of the upper trees when it was last looked at. */
  readonly #stamps = new Map<string, string>();
  #view = '';

  private constructor(storage: string, state: ViewState) {
    this.storage = storage;
    this.#state = state;
    this.#layers = new Layers(state.folders, storage);
    this.#known = new KnownFiles(path.join(storage, 'known'));
  }

  /**
   * Makes the files that a view is mounted from. If that fails, nothing is left.
   * @param storage a folder that does not exist yet, outside all folders.
   * @throws TooLargeError, or the error of the system
   */
  static async create(
    folders: readonly FolderRoot[],
    storage: string,
    limits: CopyLimits,
  ): Promise<AgentView> {
    await fs.mkdir(storage, { recursive: true });
    try {
      const state: ViewState = {
        ...{ folders: folders.map(({ name, fsPath }) => ({ name, fsPath })), ignored: [] },
        ...{ shown: [], readable: [], foreign: [], unreadable: [] },
      };
      for (const { root, state: at } of new Layers(folders, storage).all)
        await makeLayer(root, at, limits, state);
      for (const name of OWN_FOLDERS) await fs.mkdir(path.join(storage, name));
      for (const name of ['tmp', 'var-tmp', 'shm']) await fs.chmod(path.join(storage, name), 0o1777);
      await fs.mkdir(path.join(storage, 'known'));
      await fs.writeFile(path.join(storage, 'view.json'), JSON.stringify(state), { mode: 0o600 });
      return new AgentView(storage, state);
    } catch (error) {
      await removeTree(storage);
      throw error;
    }
  }

  /** Opens a view that was made before. @throws Error if there is none */
  static async reopen(storage: string): Promise<AgentView> {
    const text = await fs.readFile(path.join(storage, 'view.json'), 'utf8');
    const view = new AgentView(storage, stateSchema.parse(JSON.parse(text)));
    await view.#known.load();
    return view;
  }

  get mounts(): ViewMounts {
    const { ignored, shown, readable } = this.#state;
    return {
      storage: this.storage,
      folders: [...this.#layers.all.map(({ root, state }) => ({ root, state })), ...ignored],
      links: [...this.#layers.links],
      ...{ shown, readable },
    };
  }

  /** Ignored folders whose files the program cannot change, since some belong to another owner or group. */
  get foreign(): readonly string[] {
    return this.#state.foreign;
  }

  /** Files and folders that are not in the view, since they may not be read or their names are not UTF-8. */
  get unreadable(): readonly string[] {
    return this.#state.unreadable;
  }

  /**
   * Looks at the files in the mounted view from now on.
   * @param view leads to the root of the view, see `Namespace.entered`.
   * @returns whether the view is mounted there; else nothing has changed
   */
  async enter(view: string): Promise<boolean> {
    if (!(await this.isMounted(view))) return false;
    this.#view = view;
    return true;
  }

  /** Whether the view is mounted there: what is read and written there is then not the workspace itself. */
  async isMounted(view: string): Promise<boolean> {
    for (const { root } of this.#layers.all) {
      const [real, seen] = await Promise.all(
        [root, path.join(view, root)].map(at => fs.lstat(at).catch(() => undefined)),
      );
      if (!real || !seen || real.dev === seen.dev) return false;
    }
    return true;
  }

  /** A fingerprint that changes if something was written. It has to be polled: the upper trees send no events. */
  async fingerprint(): Promise<string> {
    let [count, size, latest, ids] = [0, 0n, 0n, 0n];
    const walk = async (layer: Layer, tree: PlainTree, relative: string): Promise<void> => {
      for await (const part of tree.parts(relative))
        for (const { name } of part) {
          const at = relative === '' ? name : `${relative}/${name}`;
          if (at === '.git' || isStatus(at) || this.#ignored.get(layer)?.has(at)) continue;
          if (++count > MAX_WATCHED) return;
          const stat = await tree.at(at, each => fs.lstat(each, { bigint: true }));
          if (!stat) continue;
          if (stat.ctimeNs > latest) latest = stat.ctimeNs;
          size += stat.size;
          ids += stat.ino;
          if (stat.isDirectory()) await walk(layer, tree, at).catch(() => undefined);
        }
    };
    for (const layer of this.#layers.all) await inTrees([layer.upper], tree => walk(layer, tree, ''));
    return [count, size, latest, ids].join(' ');
  }

  /**
   * Collects the changes since the last {@link Collection.accept}. The program may go on writing meanwhile.
   * @param restMs files that were written in the last so many milliseconds are left for later.
   * @param isEnd the program has ended: settings that git ignores are collected, too.
   */
  async collect(restMs = 0, isEnd = false): Promise<Collection> {
    const effects = new Effects();
    const looked = new Map<string, { readonly stamp: string; readonly theirs: Found | undefined }>();
    const unreadable = new Map<string, string>();
    const busy: string[] = [];
    const bulk: string[] = [];
    const ignored: string[] = [];
    const settings: string[] = [];
    const restedAt = Date.now() - restMs;
    for (const layer of this.#layers.all) {
      const merged = path.join(this.#view, layer.root);
      const lower = path.join(layer.state, 'lower');
      const changed = await changedPaths(layer, merged, effects, lower);
      const known = this.#known.below(layer.root);
      await inTrees([layer.upper, lower, merged], async (upper, frozen, inView) => {
        const nameOf = (relative: string): string => this.#layers.nameOf({ layer, relative });
        const worktrees = await worktreesOf(changed.git, inView);
        for (const each of worktrees) effects.leaveOut({ path: nameOf(each), why: 'worktree' });
        const local = isEnd ? await localSettings(changed.ignored, frozen, inView) : [];
        settings.push(...local.map(nameOf));
        const left = changed.ignored.filter(each => !local.includes(each));
        ignored.push(...left.map(nameOf));
        this.#ignored.set(layer, new Set(left));
        const written: { each: string; at: string; stamp: string; changedAt: number }[] = [];
        for (const each of new Set([...changed.paths, ...known, ...local])) {
          if (isStatus(each) || worktrees.some(folder => each.startsWith(`${folder}/`))) continue;
          const at = path.join(layer.root, each);
          const { stamp, changedAt } = await stampIn(upper, each);
          if (this.#stamps.get(at) !== stamp) written.push({ each, at, stamp, changedAt });
        }
        const large = bulkFolders(
          written.map(({ each }) => each),
          MAX_FILES,
        );
        bulk.push(...large.map(nameOf));
        for (const { each, at, stamp, changedAt } of written) {
          if (effects.isTooMuch) break;
          if (large.some(folder => each.startsWith(`${folder}/`))) continue;
          const name = nameOf(each);
          if (restMs > 0 && changedAt > restedAt) {
            busy.push(name);
            continue;
          }
          const isLooked = await effects.look(name, async () => {
            const found = await inView.find(each);
            const theirs = found?.kind === 'file' ? remembering(found) : found;
            // It may have been moved into what is left for later.
            if (!theirs && large.length > 0) return;
            const base = this.#known.has(at) ? this.#known.find(at) : await frozen.find(each);
            await effects.add(name, base, theirs);
            looked.set(at, { stamp, theirs });
          });
          if (!isLooked) unreadable.set(at, stamp);
        }
      });
    }
    const isNone = effects.isTooMuch;
    const { effects: files, leftOut } = effects.end();
    const accept = async (): Promise<void> => {
      for (const [at, { stamp, theirs }] of looked) {
        await this.#known.set(at, theirs);
        this.#stamps.set(at, stamp);
      }
      for (const [at, stamp] of unreadable) this.#stamps.set(at, stamp);
      await this.#known.save();
    };
    return {
      ...{
        effects: files,
        leftOut,
        busy,
        bulk,
        ignored,
        settings,
        ...(await gitOf(this.#layers.all, this.#view)),
      },
      isTooMuch: isNone || bulk.length > 0,
      accept: isNone ? async () => undefined : accept,
    };
  }

  /**
   * Updates a file to what was decided, unless the program has changed it since it was last looked at.
   * @param content `null`: no file
   * @param mode the permission bits of a file; by default it keeps its own.
   * @returns whether the file holds that now
   */
  async put(workspacePath: string, content: FileContent | null, mode?: number): Promise<boolean> {
    const place = this.#placeOf(workspacePath);
    if (!place) return false;
    const { layer, relative } = place;
    const at = path.join(layer.root, relative);
    const tree = new PlainTree(path.join(this.#view, layer.root));
    const now = await tree.find(relative);
    const before = this.#known.has(at)
      ? this.#known.find(at)
      : await new PlainTree(path.join(layer.state, 'lower')).find(relative);
    // A folder in which nothing is left has been removed.
    const expected = before?.kind === 'folder' ? undefined : before;
    if (!(await isSame(now, expected))) return false;
    const bits = mode ?? modeOf(now);
    const wanted = content ? foundContent(content, bits) : undefined;
    if (!(await isSame(now, wanted)))
      await (content ? writeWatched(tree, relative, content, bits) : tree.remove(relative));
    await this.#known.set(at, wanted);
    await this.#known.save();
    this.#stamps.delete(at);
    return true;
  }

  /** Puts a text where the program can read it: into the first folder, or into its home folder if a file of that name is there. */
  async tell(text: string): Promise<void> {
    const [layer] = this.#layers.all;
    const isTaken = layer && (await new PlainTree(path.join(layer.state, 'lower')).find(STATUS_FILE));
    const folder = layer && !isTaken ? path.join(this.#view, layer.root) : path.join(this.storage, 'home');
    await writeWatched(new PlainTree(folder), STATUS_FILE, Buffer.from(text), 0o644);
  }

  /** Clears the set-user-ID and set-group-ID bits of files written in the view. No program may be at work in it. */
  async clearSetId(): Promise<void> {
    const uppers = this.mounts.folders.map(({ state }) =>
      path.relative(this.storage, path.join(state, 'upper')),
    );
    await clearSetId(this.storage, [...uppers, ...OWN_FOLDERS]);
  }

  /** What was written although git ignores it, found by the last {@link collect}. */
  async stayed(): Promise<readonly Stayed[]> {
    const all = this.#layers.all.flatMap(layer => {
      const inLayer = [...(this.#ignored.get(layer) ?? [])].map(
        each => [layer, each, layer.upper, each] as const,
      );
      const own = this.#state.ignored
        .filter(({ root }) => root.startsWith(`${layer.root}/`))
        .map(({ root, state }) => {
          return [layer, path.relative(layer.root, root), path.join(state, 'upper'), ''] as const;
        });
      return [...inLayer, ...own];
    });
    const found = all.map(([layer, relative, upper, at]) =>
      stayedAt(upper, at, this.#layers.nameOf({ layer, relative })),
    );
    return (await Promise.all(found)).flat().sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  async remove(): Promise<void> {
    await removeTree(this.storage);
  }

  #placeOf(workspacePath: string): Place | undefined {
    const at = this.#layers.absolute(workspacePath);
    return at === undefined ? undefined : this.#layers.placeAt(at);
  }
}

/** The collected changes, and the way to accept them. */
export interface Collection extends Collected {
  /** Marks the files as known. Until then, the same changes are collected again. */
  accept(): Promise<void>;
}

/**
 * Writes a file so that programs that watch the view see it only complete, and no other name: the draft is in `.git`, if there is
 * one.
 */
async function writeWatched(
  tree: PlainTree,
  relative: string,
  content: FileContent,
  bits: number,
): Promise<void> {
  const hasGit = (await tree.find('.git'))?.kind === 'folder';
  await tree.write(relative, content, bits, undefined, hasGit ? '.git' : undefined);
}

function isStatus(relative: string): boolean {
  return relative === STATUS_FILE;
}

function modeOf(found: Found | undefined): number {
  return found?.kind === 'file' ? found.mode : 0o666 & ~process.umask();
}

async function isSame(a: Found | undefined, b: Found | undefined): Promise<boolean> {
  if (a?.kind !== b?.kind) return false;
  if (a?.kind === 'link' && b?.kind === 'link') return a.target === b.target;
  if (a?.kind !== 'file' || b?.kind !== 'file') return true;
  return a.size === b.size && a.mode === b.mode && sha256(await a.read()) === sha256(await b.read());
}

/** The same file, but read only once. */
function remembering(found: Extract<Found, { kind: 'file' }>): Found {
  let bytes: Promise<Uint8Array> | undefined;
  return { ...found, read: () => (bytes ??= found.read()) };
}
