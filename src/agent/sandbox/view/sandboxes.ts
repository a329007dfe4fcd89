import * as fs from 'node:fs/promises';
import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import * as path from 'node:path';
import { detailOf } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { FolderRoot } from '../../hold/preview/workspace.ts';
import { isInside } from '../../base/system/realPath.ts';
import type { Sandbox, SandboxEngine, Sandboxes, SandboxStatus } from '../commands/sandbox.ts';
import { CopyMount, type Progress } from './copyEngine.ts';
import { OverlayMount } from './overlayEngine.ts';
import { OwnFolder } from './ownFolder.ts';
import { endAll, runningIn } from './firstProcess.ts';
import { PROBE_STATE, probeOverlay, type NoOverlay } from './probe.ts';
import { measure, type CopyLimits } from './stamps.ts';
import { View } from './view.ts';

export interface SandboxesOptions {
  readonly folders: () => readonly FolderRoot[];
  /** A folder for their state, which this window alone uses. */
  readonly storage: string;
  readonly engine: () => 'auto' | 'overlay' | 'copy' | 'off';
  /** Limits of a copy. */
  readonly limits: () => CopyLimits;
  /** Variables that commands get although their names look like those of secrets. */
  readonly variables: () => readonly string[];
  /** Absolute paths that commands in an isolated sandbox may read besides the tools of the user. */
  readonly readable: () => readonly string[];
  /** Shows that a copy is being made, and lets the user cancel it. */
  readonly progress?: Progress;
  readonly logger: Logger;
}

/** The sandboxes of a window. They also remove the remains of earlier windows from the storage. */
export function createSandboxes(options: SandboxesOptions): Sandboxes {
  return new WindowSandboxes(options);
}

class WindowSandboxes implements Sandboxes {
  readonly #options: SandboxesOptions;
  readonly #storage: OwnFolder;
  /** By session id. */
  readonly #open = new Map<string, Sandbox>();
  /** The folders and settings that the status was found for. */
  #key = '';
  #status: Promise<SandboxStatus> | undefined;
  #swept: Promise<void> | undefined;
  #count = 0;

  constructor(options: SandboxesOptions) {
    this.#options = options;
    this.#storage = new OwnFolder(options.storage);
  }

  async status(): Promise<SandboxStatus> {
    const { folders, engine, limits } = this.#options;
    const key = JSON.stringify([engine(), limits(), folders().map(({ fsPath }) => fsPath)]);
    if (key !== this.#key) {
      this.#key = key;
      this.#status = this.#close().then(() => this.#find());
    }
    return (await this.#status) ?? { engine: undefined, isolated: false };
  }

  async of(sessionId: string): Promise<Sandbox | undefined> {
    const { engine } = await this.status();
    const open = this.#open.get(sessionId);
    if (open || !engine) return open;
    return this.#make(sessionId, engine);
  }

  async fresh(): Promise<Sandbox | undefined> {
    const { engine } = await this.status();
    const { folders, storage, limits } = this.#options;
    const real = realRoots(folders());
    if (!engine || isWithin(storage, real) || !(await measure(real, limits()))) return undefined;
    return this.#make(`fresh ${this.#count + 1}`, 'copy');
  }

  #make(name: string, engine: SandboxEngine): Sandbox {
    const { folders, variables, readable, progress, limits } = this.#options;
    const storage = path.join(this.#options.storage, String(++this.#count));
    const parts = { folders: folders(), storage, variables, readable };
    const mount =
      engine === 'overlay'
        ? new OverlayMount(parts)
        : new CopyMount({ ...parts, progress, limits: limits() });
    const made: View = new View(mount, () => {
      if (this.#open.get(name) === made) this.#open.delete(name);
    });
    this.#open.set(name, made);
    return made;
  }

  async dispose(): Promise<void> {
    await this.#close();
    await this.#storage.remove();
  }

  async #close(): Promise<void> {
    const open = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(open.map(sandbox => sandbox.dispose()));
  }

  async #find(): Promise<SandboxStatus> {
    const { engine, logger } = this.#options;
    const none = { engine: undefined, isolated: false } as const;
    if (engine() === 'off') return { ...none, why: { reason: 'off' } };
    try {
      this.#swept ??= this.#sweep().catch((error: unknown) => {
        this.#swept = undefined;
        throw error;
      });
      await this.#swept;
      return await this.#probe();
    } catch (error) {
      logger.error(`The sandbox cannot be used: ${detailOf(error)}`);
      return { ...none, why: { reason: 'copy' } };
    }
  }

  async #sweep(): Promise<void> {
    const { storage } = this.#options;
    await endLeftOver(storage);
    await this.#storage.remove();
    await fs.mkdir(storage, { recursive: true, mode: 0o700 });
  }

  async #probe(): Promise<SandboxStatus> {
    const { folders, engine, storage, limits, logger } = this.#options;
    const { engine: found, why } = await mountFor(folders(), storage, engine());
    if (why) logger.info(`There is no isolated sandbox: ${why.reason} ${why.detail ?? ''}`);
    if (found === 'copy' && !(await measure(realRoots(folders()), limits())))
      return { engine: undefined, isolated: false, why: { reason: 'tooLarge' } };
    return { engine: found, isolated: found === 'overlay', ...(why ? { why } : {}) };
  }
}

/** How a view can be made, and why it is no overlay; or why there is none. */
export type MountFor =
  | { readonly engine: SandboxEngine; readonly why?: NoOverlay }
  | { readonly engine: undefined; readonly why: NoOverlay };

/**
 * @param storage of the views; it exists
 * @param engine which mounts the user allows; `off` concerns commands only
 */
export async function mountFor(
  folders: readonly FolderRoot[],
  storage: string,
  engine: ReturnType<SandboxesOptions['engine']>,
): Promise<MountFor> {
  if (folders.length === 0) return { engine: undefined, why: { reason: 'noFolder' } };
  const why = engine === 'copy' ? undefined : await whyNoOverlay(folders, storage);
  if (engine !== 'copy' && !why) return { engine: 'overlay' };
  // A copy would hold itself.
  if (isWithin(storage, realRoots(folders))) return { engine: undefined, why: why ?? { reason: 'copy' } };
  if (!why) return { engine: 'copy' };
  return engine === 'overlay' ? { engine: undefined, why } : { engine: 'copy', why };
}

/** Tries an isolated overlay of these folders. Returns why there can be none; `undefined` if there can. @param storage exists */
export async function whyNoOverlay(
  folders: readonly FolderRoot[],
  storage: string,
): Promise<NoOverlay | undefined> {
  const real = realRoots(folders);
  const home = realpathSync.native(homedir());
  if (real.some(root => isInside(home, root)))
    return { reason: 'leaks', detail: 'the home folder is in the workspace' };
  if (isWithin(storage, real))
    return { reason: 'mount', detail: 'the storage of the sandbox is in the workspace' };
  return probeOverlay(storage, folders);
}

function realRoots(folders: readonly FolderRoot[]): readonly string[] {
  return folders.map(({ fsPath }) => realpathSync.native(fsPath));
}

function isWithin(storage: string, roots: readonly string[]): boolean {
  const state = realpathSync.native(storage);
  return roots.some(root => isInside(state, root));
}

/**
 * Ends commands of an earlier window that was killed a moment ago: none may still be in the storage when that is removed.
 * @param storage that of the sandboxes, which this window alone uses
 */
async function endLeftOver(storage: string): Promise<void> {
  for (const name of await fs.readdir(storage).catch(() => []))
    for (const each of [name, path.join(name, PROBE_STATE)]) {
      const first = await runningIn(path.join(storage, each));
      if (first && !(await endAll(first))) throw new Error('A command of an earlier window cannot be ended.');
    }
}
