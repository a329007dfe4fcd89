import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { forEachLimited, TimeSlice } from '../../base/async.ts';
import { beginningOf } from '../../base/cutText.ts';
import { messageOf, messageWithoutPaths, ToolError } from '../../base/errors.ts';
import { foldersAbove } from '../../hold/preview/fileSteps.ts';
import type { PendingContents } from '../../hold/preview/overlay.ts';
import type { FolderRoot } from '../../hold/preview/workspace.ts';
import { assertNotStopped, type CommandPlan } from '../commands/commandPlan.ts';
import type { RunSink } from '../commands/commandRuns.ts';
import type { SandboxEnd, SandboxOfEngine } from '../commands/sandbox.ts';
import { areOnDisk, newerIn, newerOnDisk, removedInSandbox, restored } from './keptFiles.ts';
import { prepareCall, type ShellCall } from '../commands/shellCall.ts';
import { cleanEnvironment } from './cleanEnvironment.ts';
import { OWN_FOLDERS } from './bubblewrap.ts';
import { wroteAny } from './copiedGit.ts';
import { FREED, isDiskFull, LOST, spaceAt, watchSpace, type Space } from './diskSpace.ts';
import { Effects, foundContent } from './effects.ts';
import { removeTree } from './entries.ts';
import { clearSetId, countNewer } from './heldFind.ts';
import { forgetPut, Layers, type Contents } from './layers.ts';
import { PastFiles } from './pastFiles.ts';
import { EndlessError, Namespace } from './namespace.ts';
import { readableOf } from './repositoryAbove.ts';
import type { Bind } from './systemFolders.ts';
import { inTrees, PlainTree } from './plainTree.ts';
import {
  changedAfter,
  changedPaths,
  closeFolders,
  emptyWork,
  keepIgnored,
  keepOnly,
  openAbove,
  putFiles,
  type Layer,
} from './upperTree.ts';

/** How many files are compared concurrently. */
const AT_ONCE = 8;

/** Notes that explain a failure that shows in an output. */
const NOTES: readonly (readonly [sign: RegExp, note: string])[] = [
  [
    /EXDEV|cross-device/i,
    'A folder of the workspace cannot be renamed by one system call in the sandbox (EXDEV): move it with mv.',
  ],
  [
    /EOVERFLOW|Value too large for defined data type/i,
    'Files of another owner or group cannot be changed in the sandbox (EOVERFLOW): use onDisk for them.',
  ],
];

export interface SandboxOptions {
  readonly folders: readonly FolderRoot[];
  /** A folder for its state, on the disk of the workspace if that is possible. It is outside all folders. */
  readonly storage: string;
  /** Variables that commands get although their names look like those of secrets. */
  readonly variables: () => readonly string[];
  /** Absolute paths that commands may read besides the tools of the user. */
  readonly readable?: () => readonly string[];
}

/** The sandbox on Linux: an overlay of each folder at its own path, mounted anew for every command, seen by bubblewrap alone. */
export class OverlaySandbox implements SandboxOfEngine {
  readonly engine = 'overlay';
  readonly isolated = true;
  readonly #storage: string;
  readonly #layers: Layers;
  readonly #variables: () => readonly string[];
  readonly #readable: () => readonly string[];
  readonly #running = new Set<Namespace>();
  /** True if only ignored files are in the upper trees. */
  #isClean = true;
  /** The ignored paths that the last command left in the upper trees, with whether each was on disk, too. */
  #kept: ReadonlyMap<Layer, ReadonlyMap<string, boolean>> = new Map();
  /** When the folders were mounted for the last command: changes on disk since then are newer than all kept files. */
  #mountedAt = 0;
  readonly #past = new PastFiles();

  constructor({ folders, storage, variables, readable = () => [] }: SandboxOptions) {
    this.#storage = storage;
    this.#readable = readable;
    this.#variables = variables;
    this.#layers = new Layers(folders, storage);
  }

  async run(plan: CommandPlan, pending: PendingContents, { signal, add }: RunSink): Promise<SandboxEnd> {
    assertNotStopped(signal);
    const { contents, deleted, call, space, newer, readable } = await this.#prepare(plan, pending, signal);
    // No await stands between the last check of the signal and listening to it.
    const mountedAt = (this.#mountedAt = Date.now());
    const namespace = new Namespace({
      ...{
        storage: this.#storage,
        folders: this.#layers.all,
        links: this.#layers.links,
        deleted,
        cwd: plan.folder,
      },
      program: [plan.shell, ...call.args],
      // The folders in the view are mounts.
      environment: {
        ...cleanEnvironment(plan, this.#variables()),
        GIT_DISCOVERY_ACROSS_FILESYSTEM: '1',
      },
      ...{ searchPath: process.env['PATH'] ?? '', readable },
    });
    this.#running.add(namespace);
    let output = '';
    const told = new Set<string>();
    for (const stream of [namespace.stdout, namespace.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        for (const [sign, note] of NOTES) if (sign.test(chunk)) told.add(note);
        output = beginningOf(output + chunk, 2_000);
        add(chunk);
      });
    const stop = (): void => namespace.stop();
    signal.addEventListener('abort', stop, { once: true });
    const watching = new AbortController();
    const full = watchSpace(this.#storage, space, () => namespace.stop(), watching.signal);
    try {
      const end = await namespace.ended.catch((error: unknown) => {
        if (error instanceof EndlessError)
          throw new ToolError(
            'The command was told to stop, but may still be running. Its changes are lost.',
          );
        throw new ToolError(`The sandbox cannot be entered: ${messageOf(error)}. Nothing was run.`);
      });
      watching.abort();
      if (end.view === undefined) assertNotStopped(signal);
      if (end.view === undefined)
        throw new ToolError(
          `The sandbox cannot be entered: ${output.trim() || end.errors || 'no reason was given'}. Nothing was run.`,
        );
      const effects = new Effects();
      const { wroteGit, ...listed } = await this.#list(end.view, contents, mountedAt, effects);
      await namespace.release();
      const fullness = await full;
      const ignored = await forgetPut(contents, listed.ignored);
      const count = await this.#countIgnored(ignored);
      const { notes, ...ended } = effects.end();
      const { isTooMuch } = effects;
      const outdated = await this.#past.noteChanged(ended.changed, this.#layers, { isTooMuch, ignored });
      const kept = (fullness ?? outdated) === undefined ? ignored : new Map<Layer, never>();
      const lost = await this.#clean(kept).catch(() => LOST);
      const removed = fullness === undefined ? (outdated ?? lost) : FREED;
      return {
        ...{ exitCode: end.exitCode, ended: 0, running: [] },
        ...ended,
        ignored: removed === undefined ? count : 0,
        wroteGit,
        notes: [
          ...newerOnDisk(newer),
          ...removedInSandbox(listed.removed),
          ...notes,
          ...(fullness === undefined ? [] : [fullness]),
          ...(removed === undefined ? [] : [removed]),
          ...told,
        ],
      };
    } finally {
      watching.abort();
      signal.removeEventListener('abort', stop);
      namespace.stop();
      await namespace.release();
      this.#running.delete(namespace);
      // Changes that could not be listed must not be in the next view.
      if (!this.#isClean) await this.#clean(new Map()).catch(() => undefined);
      await call.remove();
    }
  }

  /** Prepares the view for a command. @throws ToolError if that fails, or if it is stopped meanwhile */
  async #prepare(plan: CommandPlan, pending: PendingContents, signal: AbortSignal): Promise<Prepared> {
    let call: ShellCall | undefined;
    try {
      const contents = await this.#layers.contentsOf(pending);
      await this.#past.add(contents, this.#layers);
      // Leftovers that could not be removed after the last command may be removable by now.
      if (!this.#isClean) await this.#clean(new Map());
      const newer: string[] = [];
      for (const [layer, kept] of this.#kept) {
        const old = await newerIn(layer, kept, this.#mountedAt);
        newer.push(...old.map(relative => this.#layers.nameOf({ layer, relative })));
        if (kept.size > 0)
          await keepIgnored(layer, [...kept.keys()], contents.get(layer) ?? new Map(), new Set(old));
      }
      const deleted = await this.#put(contents);
      call = await prepareCall(plan);
      const space = await spaceAt(this.#storage);
      const readable = await readableOf(this.#layers.all, this.#readable());
      assertNotStopped(signal);
      return { contents, deleted, call, space, newer, readable };
    } catch (error) {
      await call?.remove();
      await this.#clean(new Map()).catch(() => undefined);
      if (error instanceof ToolError) throw error;
      throw new ToolError(`The sandbox cannot be made: ${messageWithoutPaths(error)}. Nothing was run.`);
    }
  }

  async readIgnored(workspacePath: string): Promise<Uint8Array | undefined> {
    const place = this.#layers.placeAt(this.#layers.absolute(workspacePath) ?? '');
    return place && (await new PlainTree(place.layer.upper).read(place.relative));
  }

  async reset(): Promise<void> {
    this.#past.clear();
    await this.#clean(new Map());
  }

  async dispose(): Promise<void> {
    for (const namespace of this.#running) {
      namespace.stop();
      await namespace.release();
    }
    await removeTree(this.#storage);
  }

  /** Puts the pending contents into the upper trees. @returns the paths that must be removed in the view */
  async #put(contents: Contents): Promise<string[]> {
    this.#isClean = false;
    for (const { root, state, upper } of this.#layers.all) {
      await fs.mkdir(upper, { recursive: true });
      await emptyWork(path.join(state, 'work'));
      await removeTree(path.join(state, 'lower'));
      await fs.symlink(root, path.join(state, 'lower'));
    }
    for (const name of OWN_FOLDERS) {
      await removeTree(path.join(this.#storage, name));
      await fs.mkdir(path.join(this.#storage, name));
    }
    for (const name of ['tmp', 'var-tmp', 'shm']) await fs.chmod(path.join(this.#storage, name), 0o1777);
    const [deleted, folders] = [new Set<string>(), new Set<string>()];
    for (const [{ upper, root }, puts] of contents) {
      const kindAt = (relative: string): 'files' | 'gone' => (puts.get(relative)?.left ? 'files' : 'gone');
      const { files = [], gone = [] } = Object.groupBy(puts.keys(), kindAt);
      for (const relative of gone) deleted.add(path.join(root, relative));
      for (const above of files.flatMap(foldersAbove)) folders.add(path.join(root, above));
      await inTrees([upper, root], async (tree, real) => {
        await putFiles([tree, real], puts);
        await closeFolders(tree, real, files);
        await openAbove(tree, real, gone);
      });
    }
    // A folder in the upper tree hides the file or link in whose place it is. Links are removed before the entries below them.
    return [...deleted].filter(at => !folders.has(at)).sort();
  }

  /**
   * Collects what the command changed: the upper trees tell where, the view and the real folders what.
   * @returns the ignored paths, by layer, and workspace paths of ignored files that the command has removed
   */
  async #list(
    view: string,
    contents: Contents,
    mountedAt: number,
    effects: Effects,
  ): Promise<{
    readonly ignored: ReadonlyMap<Layer, readonly string[]>;
    readonly removed: readonly string[];
    readonly wroteGit: boolean;
  }> {
    const slice = new TimeSlice();
    let wroteGit = false;
    const removed: string[] = [];
    const ignored = new Map<Layer, readonly string[]>();
    for (const layer of this.#layers.all) {
      const merged = path.join(view, layer.root);
      const changed = await changedPaths(layer, merged, effects);
      const gone = new Set(
        await inTrees([layer.root, merged], (...trees) => restored(...trees, changed.ignored)),
      );
      removed.push(...[...gone].map(relative => this.#layers.nameOf({ layer, relative })));
      const left = changed.ignored.filter(each => !gone.has(each));
      ignored.set(layer, left);
      wroteGit ||= await inTrees([layer.upper], upper => wroteAny(upper, changed.git));
      const pending = contents.get(layer) ?? new Map<string, never>();
      // For this process, links in the view lead outside.
      await inTrees([layer.root, merged], (real, inView) =>
        forEachLimited([...new Set([...pending.keys(), ...changed.paths])], AT_ONCE, async each => {
          await slice.turn();
          const put = pending.get(each);
          const name = put?.name ?? this.#layers.nameOf({ layer, relative: each });
          if (effects.isTooMuch) return effects.addUnseen(name);
          if (put?.sameAs !== undefined && (await inView.isSame(each, put.sameAs))) return;
          await effects.look(name, async () => {
            const theirs = await inView.find(each);
            const base = put ? put.left && foundContent(put.left, put.mode) : await real.find(each);
            const isBaseUnknown = !put && (await changedAfter(real, each, mountedAt));
            await effects.add(name, base ?? undefined, theirs, { isBaseUnknown });
          });
        }),
      );
    }
    return { ignored, removed, wroteGit };
  }

  /**
   * Removes everything but ignored files from the upper trees, in folders that hide nothing of the real ones, and everything in the
   * view's own folders.
   * @returns why ignored files could not be kept; `undefined` if they were
   * @throws the error of the system if something is left
   */
  async #clean(ignored: ReadonlyMap<Layer, readonly string[]>): Promise<string | undefined> {
    for (const name of OWN_FOLDERS) await removeTree(path.join(this.#storage, name));
    let lost: string | undefined;
    const kept = new Map<Layer, ReadonlyMap<string, boolean>>();
    this.#kept = kept;
    for (const layer of this.#layers.all)
      try {
        const left = ignored.get(layer) ?? [];
        if (left.length > 0) await clearSetId(layer.upper, left);
        await keepOnly(layer, left);
        kept.set(layer, await areOnDisk(layer, left));
      } catch (error) {
        lost = isDiskFull(error) ? FREED : LOST;
        await removeTree(layer.upper);
      }
    this.#isClean = true;
    return lost;
  }

  /** How many of the ignored files the command has changed, as far as there is time to count. */
  async #countIgnored(ignored: ReadonlyMap<Layer, readonly string[]>): Promise<number> {
    let count = 0;
    for (const [{ upper, state }, paths] of ignored)
      if (paths.length > 0) count += await countNewer(upper, paths, path.join(state, 'lower'));
    return count;
  }
}

/** The prepared view and the other values that a command needs. */
interface Prepared {
  readonly contents: Contents;
  /** Paths that must be removed in the view. */
  readonly deleted: readonly string[];
  readonly call: ShellCall;
  readonly space: Space;
  /** Workspace paths of kept files that are newer on disk. */
  readonly newer: readonly string[];
  readonly readable: readonly Bind[];
}
