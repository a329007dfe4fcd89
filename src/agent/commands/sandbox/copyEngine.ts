import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { forEachLimited, TimeSlice } from '../../base/async.ts';
import { messageWithoutPaths, ToolError } from '../../base/errors.ts';
import { isInside } from '../../base/system/realPath.ts';
import type { PendingContents } from '../../preview/overlay.ts';
import { assertNotStopped, type CommandPlan } from '../commandPlan.ts';
import type { RunSink } from '../commandRuns.ts';
import type { Sandbox, SandboxEnd } from '../sandbox.ts';
import { runInShell } from '../shellProcess.ts';
import { cleanEnvironment } from './cleanEnvironment.ts';
import { copyOne, removeOtherFolders } from './copiedFiles.ts';
import { gitFiles, ownRepository } from './copiedGit.ts';
import { isDiskFull } from './diskSpace.ts';
import { Effects, foundContent, PlainFolder } from './effects.ts';
import { removeTree } from './entries.ts';
import { ignoredOf, textOfRules } from './ignored.ts';
import { Layers, type Contents } from './layers.ts';
import { LOST, type SandboxOptions } from './overlayEngine.ts';
import { PathNames } from './pathNames.ts';
import { stampAt, stampOf, stampOfCopy, stamps, walk, type Stamp } from './stamps.ts';
import { makeFolders, type Layer } from './upperTree.ts';

/** How many files are copied concurrently. */
const AT_ONCE = 16;

/** A folder of the workspace and its copy. */
interface Copied {
  readonly layer: Layer;
  readonly root: string;
  readonly copy: string;
  /** What each path held on disk when it was copied. */
  readonly source: Map<string, Stamp>;
  /** What each path of the copy held at the end of the last command, and what has been put into it since; `undefined`: not known. */
  put: Map<string, Stamp> | undefined;
  /** Paths of the copy then that are not UTF-8, and cannot be looked at. */
  odd: ReadonlySet<string>;
  /** Nothing of a command is in it, so that files keep the times that they have on disk; else what is copied is newer than all. */
  isFresh: boolean;
  /** Paths that git ignores and commands have changed. */
  readonly ignored: Set<string>;
}

/**
 * Runs the work of copying files while it is shown; `report` is told how many are done.
 * @param total how many there are
 */
export type Progress = (
  total: number,
  copy: (cancelled: AbortSignal, report: (done: number) => void) => Promise<void>,
) => Promise<void>;

const CANCELLED =
  'The user cancelled copying the workspace, which the sandbox needs. Nothing was run. Ask the user before you try again.';

/** From how many files on the copying is shown. */
const SHOWN_FROM = 1_000;

/** The sandbox everywhere: a copy of the folders elsewhere, kept in step with them. It is not isolated. */
export class CopySandbox implements Sandbox {
  readonly engine = 'copy';
  readonly isolated = false;
  readonly #storage: string;
  readonly #layers: Layers;
  readonly #folders: readonly Copied[];
  readonly #variables: () => readonly string[];
  readonly #progress: Progress;

  constructor({ folders, storage, variables, progress }: SandboxOptions & { readonly progress?: Progress }) {
    this.#storage = storage;
    this.#variables = variables;
    this.#progress = progress ?? ((_, copy) => copy(new AbortController().signal, () => undefined));
    this.#layers = new Layers(folders, storage);
    this.#folders = this.#layers.all.map(layer => ({
      ...{ layer, root: layer.root, copy: path.join(layer.state, path.basename(layer.root)) },
      ...{ source: new Map(), put: undefined, odd: new Set(), isFresh: true, ignored: new Set() },
    }));
  }

  async run(plan: CommandPlan, pending: PendingContents, { signal, add }: RunSink): Promise<SandboxEnd> {
    let contents: Contents;
    try {
      contents = await this.#layers.contentsOf(pending);
    } catch (error) {
      throw new ToolError(`The workspace cannot be copied: ${messageWithoutPaths(error)}. Nothing was run.`);
    }
    const notes = await this.#copy(contents, signal);
    const names = new PathNames(
      this.#folders.map(({ root, copy }) => [copy, root]),
      add,
    );
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
    const effects = new Effects();
    let ignored = 0;
    let wroteGit = false;
    const changed = new Map<Copied, readonly string[]>();
    try {
      for (const folder of this.#folders) {
        const listed = await this.#list(folder, contents, effects);
        ignored += listed.ignored;
        wroteGit ||= listed.wroteGit;
        changed.set(folder, listed.changed);
      }
    } catch (error) {
      // What could not be listed must not be in the next copy.
      await this.#drop();
      throw error;
    }
    const isTidy = await this.#tidy(changed);
    const ended = effects.end();
    return {
      ...{ ...end, ...ended, wroteGit, ignored: isTidy ? ignored : 0 },
      notes: [...notes, ...ended.notes, ...(isTidy ? [] : [LOST])],
    };
  }

  async reset(): Promise<void> {
    // Names that are not UTF-8 are in it only if a command has made them, and cannot be removed one by one.
    if (this.#folders.some(({ odd }) => odd.size > 0)) return this.#drop();
    if (!(await this.#tidy(new Map(this.#folders.map(each => [each, [...each.ignored]]))))) return;
    for (const folder of this.#folders.filter(({ put }) => put)) {
      await removeOtherFolders(folder.copy, folder.root, '');
      folder.ignored.clear();
      folder.isFresh = true;
    }
  }

  async dispose(): Promise<void> {
    await removeTree(this.#storage);
  }

  /**
   * Makes the copies what the folders are now, with what is pending. Where the disk is full, they are made anew, without what
   * earlier commands left in them, or removed.
   * @returns what is to be told of that
   */
  async #copy(contents: Contents, signal: AbortSignal): Promise<readonly string[]> {
    const isFirst = this.#folders.every(({ source }) => source.size === 0);
    try {
      for (const folder of this.#folders) await this.#step(folder, contents, signal);
      return [];
    } catch (error) {
      assertNotStopped(signal);
      if (error instanceof ToolError) throw error;
      if (isDiskFull(error)) await this.#drop();
      if (isFirst || !isDiskFull(error))
        throw new ToolError(
          `The workspace cannot be copied: ${messageWithoutPaths(error)}. Nothing was run.`,
        );
      await this.#copy(contents, signal);
      return ['The disk was full, so the copy was made anew, without the ignored files of earlier commands.'];
    }
  }

  async #drop(): Promise<void> {
    await removeTree(this.#storage);
    for (const folder of this.#folders) {
      folder.source.clear();
      folder.ignored.clear();
      folder.put = undefined;
      folder.odd = new Set();
      folder.isFresh = true;
    }
  }

  #copyOf(absolute: string): string {
    for (const { root, copy } of this.#folders)
      if (isInside(absolute, root)) return path.join(copy, path.relative(root, absolute));
    throw new ToolError(`${absolute} is in no folder of the workspace. Nothing was run.`);
  }

  /** Makes the copy what the folder is now, and puts what is pending into it. */
  async #step(folder: Copied, contents: Contents, signal: AbortSignal): Promise<void> {
    const { layer, root, copy, source } = folder;
    const slice = new TimeSlice();
    const now = new Map<string, Stamp>();
    await walk(root, '', (at, stat) => now.set(at, stampOf(stat)) !== undefined);
    const [gone, changed]: [string[], [string, Stamp][]] = [[], []];
    for (const at of source.keys()) {
      await slice.turn();
      if (!now.has(at)) gone.push(at);
    }
    for (const each of now) {
      await slice.turn();
      if (source.get(each[0]) !== each[1]) changed.push(each);
    }
    const before = new PlainFolder(copy);
    await forEachLimited(gone, AT_ONCE, async at => {
      await this.#remove(folder, before, at);
      source.delete(at);
      folder.put?.delete(at);
    });
    await fs.mkdir(copy, { recursive: true });
    const copyChanged: Parameters<Progress>[1] = async (cancelled, report) => {
      let done = 0;
      await forEachLimited(changed, AT_ONCE, async ([at, stamp]) => {
        signal.throwIfAborted();
        if (cancelled.aborted) throw new ToolError(CANCELLED);
        await makeFolders({ root, upper: copy }, path.dirname(at));
        await this.#clear(folder, at);
        await copyOne(root, copy, at, folder.isFresh);
        source.set(at, stamp);
        await note(folder, at);
        report(++done);
      });
    };
    await (changed.length > SHOWN_FROM
      ? this.#progress(changed.length, copyChanged)
      : copyChanged(signal, () => undefined));
    for (const at of now.keys())
      if (/(^|\/)\.git$/.test(at)) {
        await ownRepository(root, copy, at);
        await note(folder, at);
        await walk(copy, at, (each, stat) => folder.put?.set(each, stampOfCopy(stat)) !== null);
      }
    const after = new PlainFolder(copy);
    // What makes room comes first.
    for (const [relative, { left, mode }] of [...(contents.get(layer) ?? [])].sort(
      ([, a], [, b]) => Number(!!a.left) - Number(!!b.left),
    )) {
      const to = path.join(copy, relative);
      if (left) {
        await makeFolders({ root, upper: copy }, path.dirname(relative));
        const stat = await fs.lstat(to).catch(() => undefined);
        if (!stat?.isFile() || 'link' in left) await this.#clear(folder, relative);
        await ('link' in left ? fs.symlink(left.link, to) : fs.writeFile(to, left));
        if (!('link' in left) && mode !== undefined) await fs.chmod(to, mode);
      } else await this.#remove(folder, after, relative);
      await note(folder, relative);
      // It is copied again before the next command.
      source.set(relative, '');
    }
    folder.isFresh = false;
    if (!folder.put) ({ put: folder.put, odd: folder.odd } = await stamps(copy));
  }

  /** Removes what stands at a path of the copy, unless a command has made a link of a folder above it, which may lead anywhere. */
  async #remove(folder: Copied, copy: PlainFolder, relative: string): Promise<void> {
    if (await copy.isFolder(path.dirname(relative))) await this.#clear(folder, relative);
  }

  /** Removes what stands at a path of the copy, which is in folders and below no link. What was in a folder there is not noted any more. */
  async #clear(folder: Copied, relative: string): Promise<void> {
    const at = path.join(folder.copy, relative);
    const stat = await fs.lstat(at).catch(() => undefined);
    if (stat?.isDirectory()) folder.put = undefined;
    if (stat) await removeTree(at);
  }

  /**
   * What differs from before the command.
   * @returns `changed`: without what git ignores
   */
  async #list(
    folder: Copied,
    contents: Contents,
    effects: Effects,
  ): Promise<{ readonly ignored: number; readonly wroteGit: boolean; readonly changed: readonly string[] }> {
    const { layer, root, copy, source, put = new Map<string, Stamp>(), odd } = folder;
    const nameOf = (relative: string): string => this.#layers.nameOf({ layer, relative });
    const slice = new TimeSlice();
    const { put: now, odd: oddNow } = await stamps(copy);
    Object.assign(folder, { put: now, odd: oddNow });
    for (const at of oddNow) if (!odd.has(at)) effects.leaveOut({ path: nameOf(at), why: 'path' });
    const changed: string[] = [];
    for (const at of put.keys()) {
      await slice.turn();
      if (put.get(at) !== now.get(at)) changed.push(at);
    }
    for (const at of now.keys()) {
      await slice.turn();
      if (!put.has(at)) changed.push(at);
    }
    const isGits = gitFiles(folder, new Set([...put.keys(), ...now.keys()]));
    const others = changed.filter(at => !isGits(at));
    await slice.turn();
    const [real, there] = [new PlainFolder(root), new PlainFolder(copy)];
    const rules = new Map<string, string>();
    for (const at of now.keys()) {
      const isOwn = /(^|\/)\.gitignore$/.test(at) && (!source.get(at) || put.get(at) !== now.get(at));
      const found = isOwn ? await there.find(at) : undefined;
      if (found?.kind === 'file')
        rules.set(path.posix.dirname(at), textOfRules(await found.read().catch(() => undefined)));
    }
    const hidden = await ignoredOf(root, others, rules);
    for (const at of hidden) folder.ignored.add(at);
    await forEachLimited(others, AT_ONCE, async at => {
      await slice.turn();
      if (effects.isTooMuch || hidden.has(at)) return;
      const pending = contents.get(layer)?.get(at);
      const name = pending?.name ?? nameOf(at);
      await effects.look(name, async () => {
        const isKept = source.get(at) === (await stampAt(path.join(root, at)));
        const base = pending ? pending.left && foundContent(pending.left, pending.mode) : await real.find(at);
        await effects.add(name, base ?? undefined, await there.find(at), {
          isBaseUnknown: !pending && !isKept && (put.has(at) || (!!base && base.kind !== 'folder')),
        });
      });
    });
    return {
      changed: changed.filter(at => !hidden.has(at)),
      ignored: hidden.size,
      wroteGit: changed.some(at => isGits(at) && path.posix.basename(at) !== 'index'),
    };
  }

  /**
   * Sees to it that what a command changed is as on disk again before the next one: it is copied again then, and what is not on disk
   * takes no more space.
   * @returns false if that failed, and the copy is made anew
   */
  async #tidy(changed: ReadonlyMap<Copied, readonly string[]>): Promise<boolean> {
    try {
      for (const [folder, paths] of changed) {
        const [real, there] = [new PlainFolder(folder.root), new PlainFolder(folder.copy)];
        await forEachLimited(paths, AT_ONCE, async at => {
          folder.source.set(at, '');
          if (!(await real.find(at).catch(() => undefined))) await this.#remove(folder, there, at);
        });
      }
      return true;
    } catch {
      await this.#drop();
      return false;
    }
  }
}

/** Notes what was put at a path of the copy. */
async function note({ copy, put }: Copied, at: string): Promise<void> {
  if (!put) return;
  const stat = await fs.lstat(path.join(copy, at)).catch(() => undefined);
  if (stat && !stat.isDirectory()) put.set(at, stampOfCopy(stat));
  else put.delete(at);
}
