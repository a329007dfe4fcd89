import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf, messageWithoutPaths, ToolError } from '../../base/errors.ts';
import { bytesOfSide } from '../../preview/fileChange.ts';
import type { PendingContents } from '../../preview/overlay.ts';
import type { FolderRoot } from '../../preview/workspace.ts';
import { assertNotStopped, type CommandPlan } from '../commandPlan.ts';
import type { CommandRun } from '../commandRuns.ts';
import type { Sandbox, SandboxEnd } from '../sandbox.ts';
import { prepareCall } from '../shellCall.ts';
import { cleanEnvironment } from './cleanEnvironment.ts';
import { Effects, foundText, PlainFolder } from './effects.ts';
import { Layers, type Place } from './layers.ts';
import { OWN_FOLDERS } from './bubblewrap.ts';
import { Namespace } from './namespace.ts';
import { allowMoving, changedPaths, makeFolders, removeTree, type Layer } from './upperTree.ts';

/** How often the free space is looked at while a command runs, in milliseconds. */
const WATCH_MS = 500;
/** How much a command may write, and how much of the disk it must leave free, in bytes. */
const MOST_WRITTEN = 4 * 1024 ** 3;
const LEAST_FREE = 256 * 1024 ** 2;
/** The most ignored files that are counted. */
const MOST_COUNTED = 100_000;

/** What explains a failure that an output shows. */
const NOTES: readonly (readonly [sign: RegExp, note: string])[] = [
  [
    /EXDEV|cross-device/i,
    'A folder of the workspace cannot be renamed by one system call in the sandbox (EXDEV): move it with mv.',
  ],
  [
    /EOVERFLOW|Value too large for defined data type/i,
    'Files of another owner or group cannot be changed in the sandbox (EOVERFLOW).',
  ],
];

export interface SandboxOptions {
  readonly folders: readonly FolderRoot[];
  /** A folder for its state, on the disk of the workspace if that is possible. It is outside all folders. */
  readonly storage: string;
  /** Variables that commands get although their names look like those of secrets. */
  readonly variables: () => readonly string[];
}

/** The sandbox on Linux: an overlay of each folder at its own path, mounted anew for every command, seen by bubblewrap alone. */
export class OverlaySandbox implements Sandbox {
  readonly engine = 'overlay';
  readonly isolated = true;
  readonly #storage: string;
  readonly #layers: Layers;
  readonly #variables: () => readonly string[];
  readonly #running = new Set<Namespace>();

  constructor({ folders, storage, variables }: SandboxOptions) {
    this.#storage = storage;
    this.#variables = variables;
    this.#layers = new Layers(folders, storage);
  }

  async run(
    plan: CommandPlan,
    pending: PendingContents,
    { signal, add }: Pick<CommandRun, 'signal' | 'add'>,
  ): Promise<SandboxEnd> {
    assertNotStopped(signal);
    const contents = await this.#contentsOf(pending);
    const deleted = await this.#put(contents).catch(async (error: unknown) => {
      await this.#clean(new Map()).catch(() => undefined);
      throw new ToolError(`The sandbox cannot be made: ${messageWithoutPaths(error)}. Nothing was run.`);
    });
    const call = await prepareCall(plan);
    const mountedAt = Date.now();
    const namespace = new Namespace({
      ...{
        storage: this.#storage,
        folders: this.#layers.all,
        links: this.#layers.links,
        deleted,
        cwd: plan.folder,
      },
      program: [plan.shell, ...call.args],
      environment: cleanEnvironment(plan, this.#variables()),
    });
    this.#running.add(namespace);
    let output = '';
    const told = new Set<string>();
    for (const stream of [namespace.stdout, namespace.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        for (const [sign, note] of NOTES) if (sign.test(chunk)) told.add(note);
        output = (output + chunk).slice(0, 2_000);
        add(chunk);
      });
    const stop = (): void => namespace.stop();
    signal.addEventListener('abort', stop, { once: true });
    const watching = new AbortController();
    const full = this.#watchSpace(namespace, watching.signal);
    let effects: Effects | undefined;
    let end: Awaited<Namespace['ended']>;
    try {
      end = await namespace.ended.catch((error: unknown) => {
        throw new ToolError(`The sandbox cannot be entered: ${messageOf(error)}. Nothing was run.`);
      });
      watching.abort();
      if (end.view === undefined)
        throw new ToolError(
          `The sandbox cannot be entered: ${output.trim() || 'no reason was given'}. Nothing was run.`,
        );
      effects = new Effects();
      const ignored = await this.#list(end.view, contents, mountedAt, effects);
      const wroteGit = await this.#wroteGit();
      const count = await this.#countIgnored(ignored, mountedAt);
      await namespace.release();
      await this.#clean(ignored);
      const { notes, ...found } = effects.end();
      const wasFull = await full;
      return {
        ...{ exitCode: end.exitCode, ended: 0, running: [] },
        ...found,
        ignored: count,
        wroteGit,
        notes: [...notes, ...(wasFull ? ['It was ended because it filled the disk.'] : []), ...told],
      };
    } finally {
      watching.abort();
      signal.removeEventListener('abort', stop);
      namespace.stop();
      await namespace.release();
      this.#running.delete(namespace);
      // What could not be listed must not be in the next view.
      if (!effects) await this.#clean(new Map());
      await call.remove();
    }
  }

  async dispose(): Promise<void> {
    for (const namespace of this.#running) {
      namespace.stop();
      await namespace.release();
    }
    await removeTree(this.#storage);
  }

  /** Where a workspace path is. Links above it lead to where the command finds it, if that is in the workspace. */
  async #placeOf(workspacePath: string): Promise<Place | undefined> {
    const named = this.#layers.absolute(workspacePath);
    if (named === undefined) return undefined;
    const above = await fs.realpath(path.dirname(named)).catch(() => path.dirname(named));
    return this.#layers.placeAt(path.join(above, path.basename(named))) ?? this.#layers.placeAt(named);
  }

  async #contentsOf(pending: PendingContents): Promise<Contents> {
    const contents: Contents = new Map(this.#layers.all.map(layer => [layer, new Map()]));
    for (const name of pending.paths()) {
      const [place, content] = [await this.#placeOf(name), pending.at(name)];
      if (!place || !content) continue;
      const bytes = content.side && bytesOfSide(content.side);
      contents.get(place.layer)?.set(place.relative, { name, bytes });
    }
    return contents;
  }

  /** Puts what is pending into the upper trees. @returns what must be removed in the view */
  async #put(contents: Contents): Promise<string[]> {
    for (const { root, state, upper } of this.#layers.all) {
      await fs.mkdir(upper, { recursive: true });
      for (const name of ['work', 'lower']) await removeTree(path.join(state, name));
      await fs.mkdir(path.join(state, 'work'));
      await fs.symlink(root, path.join(state, 'lower'));
    }
    for (const name of OWN_FOLDERS) {
      await removeTree(path.join(this.#storage, name));
      await fs.mkdir(path.join(this.#storage, name));
    }
    for (const name of ['tmp', 'var-tmp', 'shm']) await fs.chmod(path.join(this.#storage, name), 0o1777);
    const deleted: string[] = [];
    const all = [...contents].flatMap(([layer, each]) => [...each].map(one => [layer, ...one] as const));
    for (const [layer, relative, { bytes }] of all) {
      if (bytes === null) {
        deleted.push(path.join(layer.root, relative));
        continue;
      }
      await makeFolders(layer, path.dirname(relative));
      const to = path.join(layer.upper, relative);
      await removeTree(to);
      const stat = await fs.lstat(path.join(layer.root, relative)).catch(() => undefined);
      await fs.writeFile(to, bytes, { flag: 'wx' });
      if (stat?.isFile()) await fs.chmod(to, stat.mode & 0o777);
    }
    return deleted;
  }

  /** Ends a command that fills the disk. @returns whether it did */
  async #watchSpace(namespace: Namespace, ended: AbortSignal): Promise<boolean> {
    const free = async (): Promise<number> => {
      const { bavail, bsize } = await fs.statfs(this.#storage);
      return bavail * bsize;
    };
    const before = await free().catch(() => 0);
    for (;;) {
      await delay(WATCH_MS, undefined, { signal: ended, ref: false }).catch(() => undefined);
      if (ended.aborted) return false;
      const now = await free().catch(() => before);
      if (before - now < MOST_WRITTEN && (now > LEAST_FREE || now >= before)) continue;
      namespace.stop();
      return true;
    }
  }

  /**
   * Collects what the command changed: the upper trees tell where, the view and the real folders what.
   * @returns what git ignores, by layer
   */
  async #list(
    view: string,
    contents: Contents,
    mountedAt: number,
    effects: Effects,
  ): Promise<ReadonlyMap<Layer, readonly string[]>> {
    const ignored = new Map<Layer, readonly string[]>();
    for (const layer of this.#layers.all) {
      const merged = path.join(view, layer.root);
      const changed = await changedPaths(layer, merged, effects);
      ignored.set(layer, changed.ignored);
      const pending = contents.get(layer) ?? new Map<string, never>();
      // Links in the view lead, for this process, to what is outside.
      const [real, inView] = [new PlainFolder(layer.root), new PlainFolder(merged)];
      for (const each of new Set([...changed.paths, ...pending.keys()])) {
        if (effects.isTooMuch) break;
        const theirs = await inView.find(each);
        const put = pending.get(each);
        const disk = await real.find(each);
        const base = put
          ? put.bytes && foundText(put.bytes, disk?.kind === 'file' ? disk.mode : undefined)
          : disk;
        const isUnknown = !put && (await changedAfter(layer.root, each, mountedAt));
        await effects.add(
          put?.name ?? this.#layers.nameOf({ layer, relative: each }),
          base ?? undefined,
          theirs,
          isUnknown,
        );
      }
    }
    return ignored;
  }

  /** Whether it changed more in `.git` than what git notes for itself whenever it looks at the files. */
  async #wroteGit(): Promise<boolean> {
    for (const { upper } of this.#layers.all) {
      const names = await fs.readdir(path.join(upper, '.git')).catch(() => []);
      if (names.some(name => name !== 'index')) return true;
    }
    return false;
  }

  /** Leaves nothing in the upper trees but what git ignores, in folders that hide nothing of the real ones. */
  async #clean(ignored: ReadonlyMap<Layer, readonly string[]>): Promise<void> {
    for (const layer of this.#layers.all) {
      const kept = { ...layer, upper: `${layer.upper}.kept` };
      await removeTree(kept.upper);
      await fs.mkdir(kept.upper, { recursive: true });
      for (const each of ignored.get(layer) ?? []) {
        await makeFolders(kept, path.dirname(each));
        await allowMoving(path.join(layer.upper, each));
        await fs.rename(path.join(layer.upper, each), path.join(kept.upper, each));
      }
      await removeTree(layer.upper);
      await fs.rename(kept.upper, layer.upper);
    }
  }

  /** How many of the ignored files the command has changed. */
  async #countIgnored(ignored: ReadonlyMap<Layer, readonly string[]>, mountedAt: number): Promise<number> {
    let [count, looked] = [0, 0];
    const walk = async (at: string): Promise<void> => {
      if (++looked > MOST_COUNTED) return;
      const stat = await fs.lstat(at).catch(() => undefined);
      if (!stat?.isDirectory()) return void (stat && stat.ctimeMs >= mountedAt && count++);
      for (const name of await fs.readdir(at).catch(() => [])) await walk(path.join(at, name));
    };
    for (const [{ upper }, paths] of ignored) for (const each of paths) await walk(path.join(upper, each));
    return count;
  }
}

/** What is pending, by its place; `null` for no file. */
type Contents = ReadonlyMap<Layer, Map<string, { readonly name: string; readonly bytes: Uint8Array | null }>>;

/** Whether something at a path was changed on disk since then. Where nothing is, its folder tells: something may have been. */
async function changedAfter(root: string, relative: string, since: number): Promise<boolean> {
  for (let at = relative; ; at = path.dirname(at)) {
    const stat = await fs.lstat(path.join(root, at)).catch(() => undefined);
    if (stat) return stat.ctimeMs >= since;
    if (at === '.') return true;
  }
}
