import * as fs from 'node:fs/promises';
import { realpathSync } from 'node:fs';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf, ToolError } from '../../base/errors.ts';
import { bytesOfSide } from '../../preview/fileChange.ts';
import type { PendingContents } from '../../preview/overlay.ts';
import type { FolderRoot } from '../../preview/workspace.ts';
import { assertNotStopped, type CommandPlan } from '../commandPlan.ts';
import type { CommandRun } from '../commandRuns.ts';
import type { Sandbox, SandboxEnd } from '../sandbox.ts';
import { prepareCall } from '../shellCall.ts';
import { cleanEnvironment } from './cleanEnvironment.ts';
import { Effects, findAt, foundText, type Found } from './effects.ts';
import { Namespace, OWN_FOLDERS } from './namespace.ts';
import { allowMoving, changedPaths, makeFolders, removeTree, type Layer } from './upperTree.ts';

/** How often the free space is looked at while a command runs, in milliseconds. */
const WATCH_MS = 500;
/** How much a command may write, and how much of the disk it must leave free, in bytes. */
const MOST_WRITTEN = 4 * 1024 ** 3;
const LEAST_FREE = 256 * 1024 ** 2;
/** The most ignored files that are counted. */
const MOST_COUNTED = 100_000;

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
  readonly #layers: readonly Layer[];
  readonly #links: ReadonlyMap<string, string>;
  readonly #variables: () => readonly string[];
  readonly #running = new Set<Namespace>();

  constructor({ folders, storage, variables }: SandboxOptions) {
    this.#storage = storage;
    this.#variables = variables;
    const roots = folders.map(({ name, fsPath }, index) => ({
      ...{ root: realpathSync.native(fsPath), prefix: folders.length > 1 ? `${name}/` : '' },
      ...{ state: path.join(storage, String(index)), upper: path.join(storage, String(index), 'upper') },
    }));
    // A folder in another one is a part of its overlay.
    this.#layers = roots.filter(one => !roots.some(other => other !== one && isBelow(one.root, other.root)));
    this.#links = new Map(
      folders.flatMap(({ fsPath }, index) => {
        const root = roots[index]?.root ?? fsPath;
        return root === fsPath ? [] : [[fsPath, root] as const];
      }),
    );
  }

  async run(
    plan: CommandPlan,
    pending: PendingContents,
    { signal, add }: Pick<CommandRun, 'signal' | 'add'>,
  ): Promise<SandboxEnd> {
    const contents = new Map(pending.paths().flatMap(each => this.#contentAt(each, pending)));
    const deleted = await this.#put(contents);
    const call = await prepareCall(plan);
    assertNotStopped(signal);
    const mountedAt = Date.now();
    const namespace = new Namespace({
      ...{ storage: this.#storage, folders: this.#layers, links: this.#links, deleted, cwd: plan.folder },
      program: [plan.shell, ...call.args],
      environment: cleanEnvironment(plan, this.#variables()),
    });
    this.#running.add(namespace);
    let output = '';
    for (const stream of [namespace.stdout, namespace.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => {
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
      await namespace.release();
      await this.#clean(ignored);
      const { notes, ...found } = effects.end();
      const wasFull = await full;
      return {
        ...{ exitCode: end.exitCode, ended: 0, running: [] },
        ...found,
        ignored: await this.#countIgnored(),
        wroteGit,
        notes: [
          ...notes,
          ...(wasFull ? ['It was ended because it filled the disk.'] : []),
          ...(/EXDEV|cross-device/i.test(output)
            ? [
                'A folder of the workspace cannot be renamed by one system call in the sandbox (EXDEV): move it with mv.',
              ]
            : []),
          ...(/EOVERFLOW|Value too large for defined data type/i.test(output)
            ? ['Files of another owner or group cannot be changed in the sandbox (EOVERFLOW).']
            : []),
        ],
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

  #layerOf(workspacePath: string): { readonly layer: Layer; readonly relative: string } | undefined {
    const layer = this.#layers.find(({ prefix }) => workspacePath.startsWith(prefix));
    return layer && { layer, relative: workspacePath.slice(layer.prefix.length) };
  }

  /** The bytes that a path holds once what is pending is applied; `null`: no file. */
  #contentAt(at: string, pending: PendingContents): [string, Uint8Array | null][] {
    const content = pending.at(at);
    return content && this.#layerOf(at) ? [[at, content.side && bytesOfSide(content.side)]] : [];
  }

  /** Puts what is pending into the upper trees. @returns what must be removed in the view */
  async #put(contents: ReadonlyMap<string, Uint8Array | null>): Promise<string[]> {
    for (const { root, state, upper } of this.#layers) {
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
    for (const [at, bytes] of contents) {
      const { layer, relative } = this.#layerOf(at) ?? {};
      if (!layer || relative === undefined) continue;
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
    const before = await free();
    for (;;) {
      await delay(WATCH_MS, undefined, { signal: ended, ref: false }).catch(() => undefined);
      if (ended.aborted) return false;
      const now = await free();
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
    contents: ReadonlyMap<string, Uint8Array | null>,
    mountedAt: number,
    effects: Effects,
  ): Promise<ReadonlyMap<Layer, readonly string[]>> {
    const ignored = new Map<Layer, readonly string[]>();
    for (const layer of this.#layers) {
      const merged = path.join(view, layer.root);
      const changed = await changedPaths(layer, merged, effects);
      ignored.set(layer, changed.ignored);
      const pending = [...contents.keys()].filter(at => this.#layerOf(at)?.layer === layer);
      const relative = pending.map(at => at.slice(layer.prefix.length));
      for (const each of new Set([...changed.paths, ...relative])) {
        if (effects.isTooMuch) break;
        const at = layer.prefix + each;
        const theirs = await findAt(path.join(merged, each));
        const put = contents.get(at);
        const real = await fs.lstat(path.join(layer.root, each)).catch(() => undefined);
        let base: Found | undefined;
        if (put === undefined) base = await findAt(path.join(layer.root, each));
        else if (put) base = foundText(put, real?.isFile() ? real.mode & 0o777 : undefined);
        const isBaseUnknown = put === undefined && real !== undefined && real.ctimeMs >= mountedAt;
        await effects.add(at, base, theirs, isBaseUnknown);
      }
    }
    return ignored;
  }

  /** Whether it changed more in `.git` than what git notes for itself whenever it looks at the files. */
  async #wroteGit(): Promise<boolean> {
    for (const { upper } of this.#layers) {
      const names = await fs.readdir(path.join(upper, '.git')).catch(() => []);
      if (names.some(name => name !== 'index')) return true;
    }
    return false;
  }

  /** Leaves nothing in the upper trees but what git ignores, in folders that hide nothing of the real ones. */
  async #clean(ignored: ReadonlyMap<Layer, readonly string[]>): Promise<void> {
    for (const layer of this.#layers) {
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

  async #countIgnored(): Promise<number> {
    let count = 0;
    const walk = async (folder: string): Promise<void> => {
      for (const entry of await fs.readdir(folder, { withFileTypes: true }).catch(() => [])) {
        if (count >= MOST_COUNTED) return;
        if (entry.isDirectory()) await walk(path.join(folder, entry.name));
        else if (entry.isFile() || entry.isSymbolicLink()) count++;
      }
    };
    for (const { upper } of this.#layers) await walk(upper);
    return count;
  }
}

function isBelow(inner: string, outer: string): boolean {
  return inner.startsWith(outer === '/' ? '/' : `${outer}/`) && inner !== outer;
}
