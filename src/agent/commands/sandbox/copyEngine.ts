import type { Stats } from 'node:fs';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { forEachLimited, succeeds, TimeSlice } from '../../base/async.ts';
import { messageWithoutPaths, ToolError } from '../../base/errors.ts';
import { isInside } from '../../base/system/realPath.ts';
import type { PendingContents } from '../../preview/overlay.ts';
import { assertNotStopped, type CommandPlan } from '../commandPlan.ts';
import type { RunSink } from '../commandRuns.ts';
import type { Sandbox, SandboxEnd } from '../sandbox.ts';
import { runInShell } from '../shellProcess.ts';
import { cleanEnvironment } from './cleanEnvironment.ts';
import { clear, forget, isStill, note, openCopy, removeOtherFolders, type Copied } from './copiedFolder.ts';
import { gitFiles, ownRepository } from './copiedGit.ts';
import { isDiskFull } from './diskSpace.ts';
import { Effects, foundContent } from './effects.ts';
import { ignoredOf, textOfRules } from './ignored.ts';
import { Layers, type Contents } from './layers.ts';
import { LOST, type SandboxOptions } from './overlayEngine.ts';
import { OwnFolder } from './ownFolder.ts';
import { PathNames } from './pathNames.ts';
import { inTrees, PlainTree } from './plainTree.ts';
import { stampOf, stamps, walk, type Stamp } from './stamps.ts';

/** How many files are copied concurrently. */
const AT_ONCE = 16;

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

const REPLACED =
  'The command put another folder or a link in the place of the workspace folder, so its changes cannot be told. They are lost.';

/** From how many files on the copying is shown. */
const SHOWN_FROM = 1_000;

/** The sandbox everywhere: a copy of the folders elsewhere, kept in step with them. It is not isolated. */
export class CopySandbox implements Sandbox {
  readonly engine = 'copy';
  readonly isolated = false;
  readonly #storage: OwnFolder;
  readonly #layers: Layers;
  readonly #folders: readonly Copied[];
  readonly #variables: () => readonly string[];
  readonly #progress: Progress;

  constructor({ folders, storage, variables, progress }: SandboxOptions & { readonly progress?: Progress }) {
    this.#storage = new OwnFolder(storage);
    this.#variables = variables;
    this.#progress = progress ?? ((_, copy) => copy(new AbortController().signal, () => undefined));
    this.#layers = new Layers(folders, storage);
    this.#folders = this.#layers.all.map(layer => ({
      ...{ layer, root: layer.root, copy: path.join(layer.state, path.basename(layer.root)) },
      ...{
        id: undefined,
        source: new Map(),
        put: undefined,
        odd: new Set(),
        isFresh: true,
        ignored: new Set(),
      },
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

  async readIgnored(workspacePath: string): Promise<Uint8Array | undefined> {
    const place = this.#layers.placeAt(this.#layers.absolute(workspacePath) ?? '');
    const folder = this.#folders.find(({ layer }) => layer === place?.layer);
    if (!place || !folder?.ignored.has(place.relative)) return undefined;
    return new PlainTree(folder.copy, folder.id).read(place.relative);
  }

  async reset(): Promise<void> {
    // Names that are not UTF-8 are in it only if a command has made them, and cannot be removed one by one.
    if (this.#folders.some(({ odd }) => odd.size > 0)) return this.#drop();
    if (!(await this.#tidy(new Map(this.#folders.map(each => [each, [...each.ignored]]))))) return;
    for (const folder of this.#folders.filter(({ put }) => put)) {
      await inTrees([await openCopy(folder, this.#storage), folder.root], (...trees) =>
        removeOtherFolders(...trees),
      );
      folder.ignored.clear();
      folder.isFresh = true;
    }
  }

  async dispose(): Promise<void> {
    await this.#storage.remove();
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
    await this.#storage.remove();
    for (const folder of this.#folders) forget(folder);
  }

  #copyOf(absolute: string): string {
    for (const { root, copy } of this.#folders)
      if (isInside(absolute, root)) return path.join(copy, path.relative(root, absolute));
    throw new ToolError(`${absolute} is in no folder of the workspace. Nothing was run.`);
  }

  /** Makes the copy what the folder is now, and puts what is pending into it. */
  async #step(folder: Copied, contents: Contents, signal: AbortSignal): Promise<void> {
    const { layer, root, source } = folder;
    await inTrees([root, await openCopy(folder, this.#storage)], async (real, copy) => {
      const slice = new TimeSlice();
      const now = new Map<string, Stamp>();
      await walk(real, '', (at, stat) => now.set(at, stampOf(stat)) !== undefined);
      const [gone, changed]: [string[], [string, Stamp][]] = [[], []];
      for (const at of source.keys()) {
        await slice.turn();
        if (!now.has(at)) gone.push(at);
      }
      for (const each of now) {
        await slice.turn();
        if (source.get(each[0]) !== each[1]) changed.push(each);
      }
      await forEachLimited(gone, AT_ONCE, async at => {
        await clear(folder, copy, at);
        source.delete(at);
        folder.put?.delete(at);
      });
      const copyChanged: Parameters<Progress>[1] = async (cancelled, report) => {
        let done = 0;
        await forEachLimited(changed, AT_ONCE, async ([at, stamp]) => {
          signal.throwIfAborted();
          if (cancelled.aborted) throw new ToolError(CANCELLED);
          await copy.makeFolders(path.posix.dirname(at), real);
          await clear(folder, copy, at);
          await copy.copy(at, real, { keepsTime: folder.isFresh });
          source.set(at, stamp);
          await note(folder, copy, at);
          report(++done);
        });
      };
      await (changed.length > SHOWN_FROM
        ? this.#progress(changed.length, copyChanged)
        : copyChanged(signal, () => undefined));
      for (const at of now.keys())
        if (/(^|\/)\.git$/.test(at)) {
          await ownRepository(root, copy, at);
          await note(folder, copy, at);
          await walk(copy, at, (each, stat) => folder.put?.set(each, stampOf(stat)) !== null);
        }
      // What makes room comes first.
      for (const [relative, { left, mode, sameAs }] of [...(contents.get(layer) ?? [])].sort(
        ([, a], [, b]) => Number(!!a.left) + Number(!!a.sameAs) - Number(!!b.left) - Number(!!b.sameAs),
      )) {
        const there = left ? await copy.stat(relative) : undefined;
        if (left) await copy.makeFolders(path.posix.dirname(relative), real);
        await clear(folder, copy, relative);
        if (left && sameAs !== undefined) await copy.link(sameAs, relative);
        else if (left)
          await copy.write(relative, left, mode ?? (there?.isFile() ? there.mode & 0o777 : undefined));
        await note(folder, copy, relative);
        // It is copied again before the next command.
        source.set(relative, '');
      }
      folder.isFresh = false;
      if (!folder.put) ({ put: folder.put, odd: folder.odd } = await stamps(copy));
    });
  }

  /**
   * What differs from before the command.
   * @returns `changed`: without what git ignores
   */
  async #list(folder: Copied, contents: Contents, effects: Effects): Promise<Listed> {
    const isThere = await succeeds(fs.lstat(folder.copy));
    if (isThere && !(await isStill(folder))) throw new ToolError(REPLACED);
    const { put = new Map<string, Stamp>(), odd } = folder;
    const before = { put, odd, source: new Map(folder.source) };
    // Where the folder itself was removed, so was all that was in it.
    const copy = await openCopy(folder, this.#storage);
    return inTrees([folder.root, copy], (...trees) =>
      this.#compare(folder, before, trees, contents, effects),
    );
  }

  async #compare(
    folder: Copied,
    {
      put,
      odd,
      source,
    }: Required<Pick<Copied, 'source' | 'odd'>> & { readonly put: ReadonlyMap<string, Stamp> },
    [real, there]: readonly [real: PlainTree, copy: PlainTree],
    contents: Contents,
    effects: Effects,
  ): Promise<Listed> {
    const { layer, root } = folder;
    const nameOf = (relative: string): string => this.#layers.nameOf({ layer, relative });
    const slice = new TimeSlice();
    const { put: now, odd: oddNow } = await stamps(there);
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
    const isGits = await gitFiles([real, there], new Set([...put.keys(), ...now.keys()]));
    const others = changed.filter(at => !isGits(at));
    await slice.turn();
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
      if (pending?.sameAs !== undefined && (await there.isSame(at, pending.sameAs))) return;
      const name = pending?.name ?? nameOf(at);
      await effects.look(name, async () => {
        const isKept = source.get(at) === stampIn(await real.stat(at).catch(() => undefined));
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
        await inTrees([folder.root, new PlainTree(folder.copy, folder.id)], (real, there) =>
          forEachLimited(paths, AT_ONCE, async at => {
            folder.source.set(at, '');
            if (!(await real.stat(at).catch(() => undefined))) await clear(folder, there, at);
          }),
        );
      }
      return true;
    } catch {
      await this.#drop();
      return false;
    }
  }
}

/** What a command changed in a copy. */
interface Listed {
  readonly ignored: number;
  readonly wroteGit: boolean;
  /** Without what git ignores. */
  readonly changed: readonly string[];
}

function stampIn(stat: Stats | undefined): Stamp | undefined {
  return stat && stampOf(stat);
}
