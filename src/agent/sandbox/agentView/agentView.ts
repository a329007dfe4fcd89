import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { answers, listen } from '../../base/aliveSocket.ts';
import { MAX_FILES } from '../../hold/external/gathered.ts';
import { MAX_FILE_BYTES, type FileContent, type FolderRoot } from '../../hold/preview/workspace.ts';
import { Effects, foundContent, type Found } from '../view/effects.ts';
import { Layers } from '../view/layers.ts';
import { OWN_FOLDERS } from '../view/bubblewrap.ts';
import { clearSetId } from '../view/heldFind.ts';
import { CopiedLinks, PathNames } from '../view/pathNames.ts';
import { inTrees, PlainTree } from '../view/plainTree.ts';
import { changedPaths, type Layer } from '../view/upperTree.ts';
import { bulkFolders } from './bulk.ts';
import type { Collection, NamesToTell, ViewMounts } from './collected.ts';
import { freezeFolder, type Freezing } from './frozenFolder.ts';
import { KnownFiles } from './knownFiles.ts';
import { STATUS_FILE } from './privateGit.ts';
import { allStayed, isWrittenAt, localSettings, type Stayed } from './stayed.ts';
import { gitOf, worktreesOf } from './viewGit.ts';
import {
  areMounted,
  fingerprintOf,
  ifUnchanged,
  isSame,
  modeOf,
  pathsNotIn,
  remembering,
  statusFileOf,
  statusLayer,
  writeStatus,
  writeWatched,
} from './viewFiles.ts';
import {
  copiesFolder,
  copiesOf,
  identitiesOf,
  isOver,
  makeLayer,
  newState,
  readState,
  removeView,
  rootOf,
  stampsOf,
  treeOf,
  writeStamps,
  writtenSince,
  writeState,
  type ViewState,
} from './viewState.ts';
import { claimCopies, makeCopy, type Copying } from './workCopy.ts';

/**
 * A view of the workspace in which a program works for as long as it likes: an overlay, at the workspace's own path, over a copy of
 * the files that git does not ignore. The copy never changes, since an overlay shows stale or mixed content when its lower tree
 * does. Folders that git ignores are overlays of their own over the real ones, and writes to them stay in the view.
 *
 * Where no overlay can be mounted, the program works in a copy of all files elsewhere, which takes the place of the upper tree and of
 * the mounted view.
 *
 * Another program mounts the view, see `redline-run`; this class works with its files.
 */
export class AgentView {
  readonly storage: string;
  readonly #state: ViewState;
  readonly #layers: Layers;
  readonly #known: KnownFiles;
  readonly #links: CopiedLinks;
  /** Paths in the upper trees that git ignores, by layer; found by the last {@link collect}. */
  readonly #ignored = new Map<Layer, ReadonlySet<string>>();
  /** The stamp of each file of the upper trees when it was last looked at. */
  readonly #stamps = new Map<string, string>();
  #view = '';

  private constructor(storage: string, state: ViewState, record?: string) {
    this.storage = storage;
    this.#state = state;
    const copies = copiesOf(state, storage);
    this.#layers = new Layers(state.folders, storage, root => copies.find(each => each.root === root)?.copy);
    this.#links = new CopiedLinks(copies, copies.length > 0 ? this.#layers.links : new Map());
    this.#known = new KnownFiles(path.join(storage, 'known'), record);
  }

  /**
   * Makes the files that a view is mounted from, or its copies. If that fails, nothing is left.
   * @param storage a folder that does not exist yet, outside all folders.
   * @param copying how the copies are made; nothing for an overlay
   * @param record as in {@link reopen}
   * @throws TooLargeError, CancelledError, or the error of the system
   */
  static async create(
    folders: readonly FolderRoot[],
    storage: string,
    limits: Freezing,
    copying?: Copying,
    record?: string,
  ): Promise<AgentView> {
    await fs.mkdir(storage, { recursive: true });
    const maker = await listen();
    const copies = copying && (await claimCopies(path.dirname(storage)));
    const state = newState(folders, copies, maker?.address);
    const view = new AgentView(storage, state, record);
    try {
      // From now on a window that finds it half made can remove it.
      await writeState(storage, state);
      for (const name of ['known', ...(copying ? [] : OWN_FOLDERS)]) await fs.mkdir(path.join(storage, name));
      for (const layer of view.#layers.all) await view.#makeLayer(layer, limits, copying);
      for (const name of copying ? [] : ['tmp', 'var-tmp', 'shm'])
        await fs.chmod(path.join(storage, name), 0o1777);
      delete state.maker;
      state.identities = await identitiesOf(state, storage);
      await writeStamps(storage, view.#stamps);
      await writeState(storage, state);
      return view;
    } catch (error) {
      await view.remove();
      throw error;
    } finally {
      maker?.dispose();
    }
  }

  /**
   * Opens a view that was made before.
   * @param record names the record of accepted changes; all others are collected again.
   * @throws Error if there is none
   */
  static async reopen(storage: string, record?: string): Promise<AgentView> {
    const view = new AgentView(storage, await readState(storage), record);
    await view.#known.load();
    for (const [at, stamp] of await stampsOf(storage)) view.#stamps.set(at, stamp);
    return view;
  }

  /** Lets its record join that of the windows that store their previews: this window's are stored now. */
  joinRecord(): Promise<void> {
    return this.#known.join();
  }

  /** Whether it is still being made, perhaps by another window. */
  async isBeingMade(): Promise<boolean> {
    const { maker } = this.#state;
    return maker !== undefined && (await answers(maker)) === true;
  }

  get mounts(): ViewMounts {
    const { ignored, shown, readable } = this.#state;
    return {
      storage: this.storage,
      folders: [...this.#layers.all.map(({ root, state }) => ({ root, state })), ...ignored],
      links: [...this.#layers.links],
      shown,
      readable,
      copies: copiesOf(this.#state, this.storage),
    };
  }

  /** The folder that holds the writes of the program. */
  get written(): string {
    return copiesFolder(this.#state, this.storage) ?? this.storage;
  }

  /** Ignored folders whose files the program cannot change, since some belong to another owner or group. */
  get foreign(): readonly string[] {
    return this.#state.foreign;
  }

  /** Files and folders that are not in the view, since Redline cannot read them or their names are not UTF-8. */
  get unreadable(): readonly string[] {
    return this.#state.unreadable;
  }

  /**
   * Looks at the files in the mounted view from now on.
   * @param view leads to the root of the view, see `Namespace.entered`; for a copy, the socket on which its program answers.
   * @returns false if the view is not mounted there: then nothing has changed. Always true for a copy, which is not checked.
   */
  async enter(view: string): Promise<boolean> {
    if (this.#state.copies === undefined && !(await this.isMounted(view))) return false;
    this.#view = view;
    return true;
  }

  /**
   * Whether the view is mounted there: reads and writes there do not reach the workspace itself. A copy counts as mounted as long
   * as its program answers there.
   */
  async isMounted(view: string): Promise<boolean> {
    return this.#state.copies === undefined
      ? areMounted(this.#layers.all, view)
      : (await answers(view)) === true;
  }

  /** A fingerprint that changes with each write. Callers poll it: the upper trees send no events. */
  fingerprint(): Promise<string> {
    return fingerprintOf(
      this.#layers.all.map(layer => [layer, treeOf(this.#state, layer.upper)]),
      (layer, at) => this.#ignored.get(layer)?.has(at) === true,
    );
  }

  /**
   * Collects the changes since the last {@link Collection.accept}. The program may go on writing meanwhile.
   * @param restMs files that were written less than this many milliseconds ago are left for later.
   * @param isEnd the program has ended: settings that git ignores are collected, too.
   */
  async collect(restMs = 0, isEnd = false): Promise<Collection> {
    const effects = new Effects();
    const looked = new Map<string, { readonly stamp: string; readonly theirs: Found | undefined }>();
    const unreadable = new Map<string, string>();
    const names: NamesToTell = { busy: [], bulk: [], ignored: [], offered: [], settings: [] };
    const restedAt = Date.now() - restMs;
    const since = await writtenSince(this.#state, this.storage);
    for (const layer of this.#layers.all) {
      const own = (await statusLayer(this.#layers.all)) === layer ? STATUS_FILE : undefined;
      const merged = this.#seen(layer);
      const lower = path.join(layer.state, 'lower');
      const changed = await changedPaths(layer, merged, effects, lower);
      const known = this.#known.below(layer.root);
      await inTrees(
        [treeOf(this.#state, layer.upper), lower, treeOf(this.#state, merged)],
        async (upper, frozen, inView) => {
          const nameOf = (relative: string): string => this.#layers.nameOf({ layer, relative });
          const git = this.#state.copies === undefined ? changed.git : await pathsNotIn(frozen, changed.git);
          const worktrees = await worktreesOf(git, inView, rootOf(this.#state, layer));
          for (const each of worktrees) effects.leaveOut({ path: nameOf(each), why: 'worktree' });
          const local = await localSettings(changed.ignored, frozen, inView);
          names.settings.push(...local.map(nameOf));
          const staying = changed.ignored.filter(each => !local.includes(each));
          for (const each of staying)
            if (await isWrittenAt(upper, each, since)) names.ignored.push(nameOf(each));
          const later = isEnd ? [] : local.filter(each => !known.includes(each));
          for (const each of later)
            if (await isWrittenAt(upper, each, since)) names.offered.push(nameOf(each));
          this.#ignored.set(layer, new Set([...staying, ...later]));
          const written: { each: string; at: string; stamp: string; changedAt: number }[] = [];
          for (const each of new Set([...changed.paths, ...known, ...(isEnd ? local : [])])) {
            if (each === own || worktrees.some(folder => each.startsWith(`${folder}/`))) continue;
            const at = path.join(layer.root, each);
            const { stamp, changedAt } = await upper.stamp(each);
            if (this.#stamps.get(at) !== stamp) written.push({ each, at, stamp, changedAt });
          }
          const paths = written.map(({ each }) => each);
          const large = bulkFolders(paths, MAX_FILES);
          names.bulk.push(...large.map(nameOf));
          for (const { each, at, stamp, changedAt } of written) {
            if (effects.isTooMuch) break;
            if (large.some(folder => each.startsWith(`${folder}/`))) continue;
            const name = nameOf(each);
            if (restMs > 0 && changedAt > restedAt) {
              names.busy.push(name);
              continue;
            }
            const isLooked = await effects.look(name, async () => {
              const theirs = await this.#find(inView, each);
              // It may have been moved into a folder that is left for later.
              if (!theirs && large.length > 0) return;
              if (theirs?.kind === 'file' && theirs.size <= MAX_FILE_BYTES) await theirs.read();
              // A half-written file is nobody's proposal.
              if (!isEnd && (await upper.stamp(each)).stamp !== stamp) return void names.busy.push(name);
              const base = this.#known.has(at) ? this.#known.find(at) : await frozen.find(each);
              await effects.add(name, base, theirs);
              looked.set(at, { stamp, theirs });
            });
            if (!isLooked) unreadable.set(at, stamp);
          }
        },
      );
    }
    const isNone = effects.isTooMuch;
    const { effects: files, leftOut } = effects.end();
    const places = copiesOf(this.#state, this.storage).map(({ root, copy }) => [copy, root] as const);
    const accept: Collection['accept'] = async stage => {
      const found = [...looked].map(([at, { theirs }]) => [at, theirs] as const);
      await this.#known.record(found, stage);
      for (const [at, { stamp }] of looked) this.#stamps.set(at, stamp);
      for (const [at, stamp] of unreadable) this.#stamps.set(at, stamp);
    };
    return {
      effects: files,
      leftOut,
      ...names,
      notes: new PathNames(places, () => undefined).told(files),
      ...(await gitOf(this.#layers.all, layer => treeOf(this.#state, this.#seen(layer)))),
      isTooMuch: isNone || names.bulk.length > 0,
      accept: isNone ? stage => stage() : accept,
    };
  }

  /**
   * Updates a file to its decided content, unless the program has changed it since the last look.
   * @param content `null`: no file
   * @param mode the permission bits of a file; by default it keeps its own.
   * @param tries how often it is tried again if the program writes it at that moment: perhaps as it was
   * @returns whether the file holds that now
   */
  async put(workspacePath: string, content: FileContent | null, mode?: number, tries = 3): Promise<boolean> {
    const place = this.#layers.placeAt(this.#layers.absolute(workspacePath) ?? '');
    if (!place) return false;
    const { layer, relative } = place;
    const at = path.join(layer.root, relative);
    const tree = treeOf(this.#state, this.#seen(layer));
    const { stamp } = await tree.stamp(relative);
    const now = await this.#find(tree, relative);
    const before = this.#known.has(at)
      ? this.#known.find(at)
      : await new PlainTree(path.join(layer.state, 'lower')).find(relative);
    // A folder in which nothing is left has been removed.
    const expected = before?.kind === 'folder' ? undefined : before;
    if (!(await isSame(now, expected))) return false;
    const bits = mode ?? modeOf(now);
    const wanted = content ? foundContent(content, bits) : undefined;
    const left = content && 'link' in content ? { link: await this.#links.inCopy(content.link) } : content;
    const isThere = await isSame(now, wanted);
    if (isThere && before === expected) return true;
    const isPut = await ifUnchanged(
      this.#known.record([[at, wanted]], async () => {
        if (!isThere) await writeWatched(tree, relative, left, bits, stamp);
      }),
    );
    if (isPut) this.#stamps.delete(at);
    return isPut || (tries > 0 && this.put(workspacePath, content, mode, tries - 1));
  }

  /** Puts a text where the program can read it, see {@link statusFile}. */
  tell(text: string): Promise<void> {
    return writeStatus(text, this.#state, this.storage, this.#layers.all, layer => this.#seen(layer));
  }

  /** The file in which the program reads what it is told. */
  statusFile(): ReturnType<typeof statusFileOf> {
    return statusFileOf(this.#state, this.storage, this.#layers.all);
  }

  /** Clears the set-user-ID and set-group-ID bits of files written in the view. No program may be at work in it. */
  async clearSetId(): Promise<void> {
    // In a copy, the program has no more rights than the user.
    if (this.#state.copies !== undefined) return;
    const uppers = this.mounts.folders.map(({ state }) =>
      path.relative(this.storage, path.join(state, 'upper')),
    );
    await clearSetId(this.storage, [...uppers, ...OWN_FOLDERS]);
  }

  /** Ignored files that the program wrote, as the last {@link collect} found them. */
  async stayed(): Promise<readonly Stayed[]> {
    const all = this.#layers.all.flatMap(layer => {
      const nameOf = (relative: string): string => this.#layers.nameOf({ layer, relative });
      const tree = treeOf(this.#state, layer.upper);
      const inLayer = [...(this.#ignored.get(layer) ?? [])].map(each => [tree, each, nameOf(each)] as const);
      const own = this.#state.ignored
        .filter(({ root }) => root.startsWith(`${layer.root}/`))
        .map(({ root, state }) => [path.join(state, 'upper'), path.relative(layer.root, root)] as const)
        .map(([at, relative]) => [treeOf(this.#state, at), '', nameOf(relative)] as const);
      return [...inLayer, ...own];
    });
    return allStayed(all, await writtenSince(this.#state, this.storage));
  }

  /** Removes all that belongs to the view, after a note that it is over: so no leftovers pass for a program's work. */
  remove(): Promise<void> {
    return removeView(this.storage, this.#state);
  }

  /** Whether its removal has begun, or its copies have gone: then nothing in it is a program's work. */
  isOver(): Promise<boolean> {
    return isOver(this.#state, this.storage);
  }

  /** The path at which Redline finds a folder of the workspace as the program sees it. */
  #seen(layer: Layer): string {
    return this.#state.copies === undefined ? path.join(this.#view, layer.root) : layer.upper;
  }

  /** The entry at a path, as it would be in the workspace. */
  async #find(tree: PlainTree, relative: string): Promise<Found | undefined> {
    return remembering(this.#links.entryInWorkspace(await tree.find(relative)));
  }

  async #makeLayer(layer: Layer, limits: Freezing, copying: Copying | undefined): Promise<void> {
    if (!copying) return makeLayer(layer, limits, this.#state);
    await fs.mkdir(layer.state);
    const frozen = await freezeFolder(layer.root, path.join(layer.state, 'lower'), limits);
    const stamps = await makeCopy(layer, frozen, this.#links, limits, copying);
    for (const [at, stamp] of stamps) this.#stamps.set(at, stamp);
    this.#state.unreadable.push(...frozen.unreadable);
    // Reading a file that was large from the start would take long, and it stays in the copy anyway.
    this.#ignored.set(layer, new Set(frozen.ignored));
  }
}
