import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { beginningOf } from '../../base/cutText.ts';
import { messageOf, ToolError } from '../../base/errors.ts';
import { foldersAbove } from '../../hold/preview/fileSteps.ts';
import { assertNotStopped, type CommandPlan } from '../commands/commandPlan.ts';
import type { RunSink } from '../commands/commandRuns.ts';
import { areOnDisk, newerIn, newerOnDisk, restored } from './keptFiles.ts';
import { prepareCall } from '../commands/shellCall.ts';
import { addChanges } from './addChanges.ts';
import { cleanEnvironment } from './cleanEnvironment.ts';
import { OWN_FOLDERS } from './bubblewrap.ts';
import { wroteAny } from './copiedGit.ts';
import { FREED, isDiskFull, LOST } from './diskSpace.ts';
import type { Effects } from './effects.ts';
import { removeTree } from './entries.ts';
import { clearSetId, countNewer } from './heldFind.ts';
import { forgetPut, Layers, type Contents } from './layers.ts';
import { PastFiles } from './pastFiles.ts';
import { EndlessError, Namespace } from './namespace.ts';
import { readableOf } from './repositoryAbove.ts';
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
import type { Mount, MountOptions } from './view.ts';

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

/** The mount on Linux: an overlay of each folder at its own path, mounted anew for every command, seen by bubblewrap alone. */
export class OverlayMount implements Mount {
  readonly engine = 'overlay';
  readonly isolated = true;
  readonly storage: string;
  readonly layers: Layers;
  readonly #variables: () => readonly string[];
  readonly #readable: () => readonly string[];
  /** That of the command that runs. */
  #namespace: Namespace | undefined;
  /** Leads to the root of its view, once it has ended. */
  #view = '';
  /** True if only ignored files are in the upper trees. */
  #isClean = true;
  /** The ignored paths that the last command left in the upper trees, with whether each was on disk, too. */
  #kept: ReadonlyMap<Layer, ReadonlyMap<string, boolean>> = new Map();
  /** When the folders were mounted for the last command: changes on disk since then are newer than all kept files. */
  #mountedAt = 0;
  readonly #past = new PastFiles();

  constructor({ folders, storage, variables, readable = () => [] }: MountOptions) {
    this.storage = storage;
    this.#readable = readable;
    this.#variables = variables;
    this.layers = new Layers(folders, storage);
  }

  async prepare(contents: Contents): Promise<readonly string[]> {
    await this.#past.add(contents, this.layers);
    // Leftovers that could not be removed after the last command may be removable by now.
    if (!this.#isClean) await this.#clean(new Map());
    this.#isClean = false;
    const newer: string[] = [];
    for (const [layer, kept] of this.#kept) {
      const old = await newerIn(layer, kept, this.#mountedAt);
      newer.push(...old.map(relative => this.layers.nameOf({ layer, relative })));
      if (kept.size > 0)
        await keepIgnored(layer, [...kept.keys()], contents.get(layer) ?? new Map(), new Set(old));
    }
    await this.#put(contents);
    return newerOnDisk(newer);
  }

  async run(plan: CommandPlan, { signal, add }: RunSink, contents: Contents): ReturnType<Mount['run']> {
    const call = await prepareCall(plan);
    const stop = (): void => this.#namespace?.stop();
    try {
      const readable = await readableOf(this.layers.all, this.#readable());
      // No await stands between this check of the signal and listening to it.
      assertNotStopped(signal);
      this.#mountedAt = Date.now();
      const namespace = (this.#namespace = new Namespace({
        storage: this.storage,
        folders: this.layers.all,
        links: this.layers.links,
        deleted: deletedIn(contents),
        cwd: plan.folder,
        program: [plan.shell, ...call.args],
        // The folders in the view are mounts.
        environment: {
          ...cleanEnvironment(plan, this.#variables()),
          GIT_DISCOVERY_ACROSS_FILESYSTEM: '1',
        },
        searchPath: process.env['PATH'] ?? '',
        readable,
      }));
      signal.addEventListener('abort', stop);
      let output = '';
      const told = new Set<string>();
      for (const stream of [namespace.stdout, namespace.stderr])
        stream.setEncoding('utf8').on('data', (chunk: string) => {
          for (const [sign, note] of NOTES) if (sign.test(chunk)) told.add(note);
          output = beginningOf(output + chunk, 2_000);
          add(chunk);
        });
      const end = await namespace.ended.catch((error: unknown) => {
        if (error instanceof EndlessError)
          throw new ToolError(
            'The command was told to stop, but may still be running. Its changes are lost.',
          );
        throw new ToolError(`The sandbox cannot be entered: ${messageOf(error)}. Nothing was run.`);
      });
      if (end.view === undefined) assertNotStopped(signal);
      if (end.view === undefined)
        throw new ToolError(
          `The sandbox cannot be entered: ${output.trim() || end.errors || 'no reason was given'}. Nothing was run.`,
        );
      this.#view = end.view;
      return { exitCode: end.exitCode, ended: 0, running: [], notes: [...told] };
    } finally {
      signal.removeEventListener('abort', stop);
      await call.remove();
    }
  }

  async changes(contents: Contents, effects: Effects): ReturnType<Mount['changes']> {
    let wroteGit = false;
    const removed: string[] = [];
    const listed = new Map<Layer, readonly string[]>();
    // The upper trees tell where something has changed; the view and the real folders tell how.
    for (const layer of this.layers.all) {
      const nameOf = (relative: string): string => this.layers.nameOf({ layer, relative });
      const merged = path.join(this.#view, layer.root);
      const changed = await changedPaths(layer, merged, effects);
      const puts = contents.get(layer) ?? new Map<string, never>();
      await inTrees([layer.root, merged, layer.upper], async (real, view, upper) => {
        const gone = new Set(await restored(real, view, changed.ignored));
        removed.push(...[...gone].map(nameOf));
        listed.set(
          layer,
          changed.ignored.filter(each => !gone.has(each)),
        );
        wroteGit ||= await wroteAny(upper, changed.git);
        await addChanges(effects, new Set([...puts.keys(), ...changed.paths]), {
          real,
          view,
          puts,
          nameOf,
          isBaseUnknown: each => changedAfter(real, each, this.#mountedAt),
        });
      });
    }
    await this.#namespace?.release();
    const kept = await forgetPut(contents, listed);
    return {
      wroteGit,
      removed,
      ignored: await this.#countIgnored(kept),
      keep: async ({ changed, isTooMuch, isFull }) => {
        const outdated = await this.#past.noteChanged(changed, this.layers, { isTooMuch, ignored: kept });
        const lost = await this.#clean(isFull || outdated !== undefined ? new Map() : kept).catch(() => LOST);
        return { lost: outdated ?? lost, notes: [] };
      },
    };
  }

  async end(): Promise<void> {
    this.#namespace?.stop();
    await this.#namespace?.release();
    this.#namespace = undefined;
    if (!this.#isClean) await this.#clean(new Map()).catch(() => undefined);
  }

  async readIgnored(workspacePath: string): Promise<Uint8Array | undefined> {
    const place = this.layers.placeAt(this.layers.absolute(workspacePath) ?? '');
    return place && (await new PlainTree(place.layer.upper).read(place.relative));
  }

  async reset(): Promise<void> {
    this.#past.clear();
    await this.#clean(new Map());
  }

  dispose(): Promise<void> {
    return removeTree(this.storage);
  }

  /** Puts the pending contents into the upper trees. */
  async #put(contents: Contents): Promise<void> {
    for (const { root, state, upper } of this.layers.all) {
      await fs.mkdir(upper, { recursive: true });
      await emptyWork(path.join(state, 'work'));
      await removeTree(path.join(state, 'lower'));
      await fs.symlink(root, path.join(state, 'lower'));
    }
    for (const name of OWN_FOLDERS) {
      await removeTree(path.join(this.storage, name));
      await fs.mkdir(path.join(this.storage, name));
    }
    for (const name of ['tmp', 'var-tmp', 'shm']) await fs.chmod(path.join(this.storage, name), 0o1777);
    for (const [{ upper, root }, puts] of contents) {
      const kindAt = (relative: string): 'files' | 'gone' => (puts.get(relative)?.left ? 'files' : 'gone');
      const { files = [], gone = [] } = Object.groupBy(puts.keys(), kindAt);
      await inTrees([upper, root], async (tree, real) => {
        await putFiles([tree, real], puts);
        await closeFolders(tree, real, files);
        await openAbove(tree, real, gone);
      });
    }
  }

  /**
   * Removes everything but ignored files from the upper trees, in folders that hide nothing of the real ones, and everything in the
   * view's own folders.
   * @returns why ignored files could not be kept; `undefined` if they were
   * @throws the error of the system if something is left
   */
  async #clean(ignored: ReadonlyMap<Layer, readonly string[]>): Promise<string | undefined> {
    for (const name of OWN_FOLDERS) await removeTree(path.join(this.storage, name));
    let lost: string | undefined;
    const kept = new Map<Layer, ReadonlyMap<string, boolean>>();
    this.#kept = kept;
    for (const layer of this.layers.all)
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

/**
 * The paths that must be removed in the view. A folder in the upper tree hides the file or link in whose place it is. Links are
 * removed before the entries below them.
 */
function deletedIn(contents: Contents): readonly string[] {
  const puts = [...contents].flatMap(([{ root }, all]) =>
    [...all].map(([relative, { left }]) => ({ at: path.join(root, relative), left })),
  );
  const folders = new Set(puts.flatMap(({ at, left }) => (left ? foldersAbove(at) : [])));
  return puts.flatMap(({ at, left }) => (left || folders.has(at) ? [] : at)).sort();
}
