import { homedir } from 'node:os';
import { messageWithoutPaths, ToolError } from '../../base/errors.ts';
import type { FolderRoot } from '../../hold/preview/workspace.ts';
import { assertNotStopped, type CommandEnd, type CommandPlan } from '../commands/commandPlan.ts';
import type { RunSink } from '../commands/commandRuns.ts';
import type { Sandbox, SandboxEnd, SandboxKind } from '../commands/sandbox.ts';
import { FREED, spaceAt, watchSpace } from './diskSpace.ts';
import { Effects } from './effects.ts';
import { removedInSandbox } from './keptFiles.ts';
import type { Contents, Layers } from './layers.ts';
import { MissingFiles } from './missing.ts';

export interface MountOptions {
  readonly folders: readonly FolderRoot[];
  /** A folder for its state, on the disk of the workspace if that is possible. It is outside all folders. */
  readonly storage: string;
  /** Variables that commands get although their names look like those of secrets. */
  readonly variables: () => readonly string[];
  /** Absolute paths that commands may read besides the tools of the user. */
  readonly readable?: () => readonly string[];
}

/** How the files of a view get to a command, and its changes back: by an overlay or a copy. */
export interface Mount extends SandboxKind, Pick<Sandbox, 'readIgnored' | 'reset'> {
  readonly layers: Layers;
  readonly storage: string;
  /**
   * Brings the view in step with the disk, and puts the pending contents into it.
   * @returns sentences for the model
   */
  prepare(contents: Contents, signal: AbortSignal): Promise<readonly string[]>;
  /** Runs a command in the prepared view. @returns also sentences for the model */
  run(plan: CommandPlan, sink: RunSink, contents: Contents): Promise<CommandEnd & Pick<SandboxEnd, 'notes'>>;
  /** Adds the changes of the command to `effects`. */
  changes(contents: Contents, effects: Effects): Promise<Changes>;
  /** Lets go of a command, even of one that failed: changes that were not listed are not in the next view. Never rejects. */
  end?(): Promise<void>;
  /** Removes all that it holds, once no command runs. */
  dispose(): Promise<void>;
}

/** Facts about a command's changes that are no effects. */
export interface Changes extends Pick<SandboxEnd, 'ignored' | 'wroteGit'> {
  /** Workspace paths of ignored files that the command has removed. */
  readonly removed: readonly string[];
  /**
   * Removes all but ignored files from the view, and these, too, if the disk is full.
   * @returns why ignored files could not be kept, and sentences for the model
   */
  keep(
    end: Pick<SandboxEnd, 'effects' | 'changed'> & { readonly isTooMuch: boolean; readonly isFull: boolean },
  ): Promise<{ readonly lost: string | undefined; readonly notes: readonly string[] }>;
}

/** A view of the workspace with pending previews, in which commands run one after the other. */
export class View implements Sandbox {
  readonly engine: Mount['engine'];
  readonly isolated: boolean;
  readonly #mount: Mount;
  readonly #onDispose: () => void;
  readonly #disposal = new AbortController();
  #last: Promise<unknown> = Promise.resolve();
  #running = 0;

  constructor(mount: Mount, onDispose: () => void = () => undefined) {
    this.engine = mount.engine;
    this.isolated = mount.isolated;
    this.#mount = mount;
    this.#onDispose = onDispose;
  }

  get isBusy(): boolean {
    return this.#running > 0;
  }

  run(...[plan, pending, { signal, add }]: Parameters<Sandbox['run']>): Promise<SandboxEnd> {
    const either = AbortSignal.any([signal, this.#disposal.signal]);
    this.#running++;
    const running = this.#last.then(() => this.#run(plan, pending, { signal: either, add }));
    const ended = running.finally(() => this.#running--);
    this.#last = ended.catch(() => undefined);
    return ended;
  }

  async #run(...[plan, pending, { signal, add }]: Parameters<Sandbox['run']>): Promise<SandboxEnd> {
    assertNotStopped(signal);
    const mount = this.#mount;
    const { layers, storage } = mount;
    const folders = [...layers.folders.map(({ root }) => root), ...layers.links.keys()];
    const missing = new MissingFiles({ home: homedir(), searchPath: process.env['PATH'] ?? '', folders });
    const [full, ended] = [new AbortController(), new AbortController()];
    try {
      const contents = await orNothing(layers.contentsOf(pending));
      const before = await orNothing(mount.prepare(contents, signal));
      const space = await orNothing(spaceAt(storage));
      const watched = watchSpace(storage, space, () => full.abort(), ended.signal);
      const sink = {
        signal: AbortSignal.any([signal, full.signal]),
        add: (chunk: string): void => {
          missing.add(chunk);
          add(chunk);
        },
      };
      const { notes: told, ...end } = await orNothing(mount.run(plan, sink, contents));
      ended.abort();
      const fullness = await watched;
      const effects = new Effects();
      const { removed, ignored, wroteGit, keep } = await mount.changes(contents, effects);
      const { notes, ...left } = effects.end();
      const { isTooMuch } = effects;
      const kept = await keep({ ...left, isTooMuch, isFull: fullness !== undefined });
      const lost = fullness === undefined ? kept.lost : FREED;
      // A copy hides nothing.
      const found = await missing.found(mount.isolated ? end.exitCode : undefined);
      return {
        ...end,
        ...left,
        wroteGit,
        missing: found.missing,
        ignored: lost === undefined ? ignored : 0,
        notes: [
          ...[fullness, lost].flatMap(each => each ?? []),
          ...[...before, ...kept.notes, ...removedInSandbox(removed), ...notes, ...told, ...found.notes],
        ],
      };
    } finally {
      ended.abort();
      await mount.end?.();
    }
  }

  async readIgnored(workspacePath: string): Promise<Uint8Array | undefined> {
    await this.#last;
    return this.#mount.readIgnored(workspacePath);
  }

  reset(): Promise<void> {
    const ended = this.#last.then(() => this.#mount.reset());
    this.#last = ended.catch(() => undefined);
    return ended;
  }

  async dispose(): Promise<void> {
    this.#disposal.abort();
    await this.#last;
    await this.#mount.dispose();
    this.#onDispose();
  }
}

/** @throws ToolError if that fails, so that no command has run */
async function orNothing<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ToolError) throw error;
    throw new ToolError(`The sandbox cannot be made: ${messageWithoutPaths(error)}. Nothing was run.`);
  }
}
