import type { Disposable } from '../../base/disposable.ts';
import { detailOf, messageOf } from '../../base/errors.ts';
import { Emitter, type Event } from '../../base/event.ts';
import type { Logger } from '../../base/log.ts';
import type { ToolRegistry } from '../registry.ts';
import { isThrownIn } from './errorPlace.ts';
import type { LoadProblem } from './loadProblem.ts';
import type { CustomToolFactory, CustomToolSessionEvent } from './redline.d.ts';
import type { ToolPlace } from './toolFiles.ts';
import type { LoadedTools, ToolLoader } from './toolLoader.ts';
import type { ToolOwner } from './toolOwner.ts';
import { ToolPlaces } from './toolPlaces.ts';
import { ToolRoster } from './toolRoster.ts';

export interface CustomToolsOptions {
  readonly registry: ToolRegistry;
  /** Where tools may be, in the order in which they take their names; asked anew each time. */
  readonly places: () => readonly ToolPlace[];
  /** The loader; asked for once there is something to load. `onProblem` is to be told of what goes wrong. */
  readonly loader: (onProblem: () => void) => Promise<ToolLoader>;
  /** The session that tools are told of. */
  readonly sessionId: () => string;
  /** Lets a preview expire whose callbacks are gone. */
  readonly expire: (previewId: string) => void;
  readonly logger: Logger;
}

/**
 * Custom tools: those of files, as the disk has them, and those that other extensions brought. A tool that is replaced or
 * removed finishes the calls that are running.
 */
export class CustomTools implements Disposable {
  readonly #options: CustomToolsOptions;
  readonly #places: ToolPlaces;
  readonly #roster: ToolRoster;
  readonly #changed = new Emitter<void>();
  /** From other extensions, in the order in which they came: they stay before those of files. */
  readonly #brought = new Set<LoadedTools>();
  #loading: Promise<ToolLoader> | undefined;
  #loader: ToolLoader | undefined;
  #work: Promise<void> = Promise.resolve();
  #disposed = false;

  /** Tools came or went, or {@link problems} or {@link withheld} changed. */
  readonly onDidChange: Event<void> = this.#changed.event;

  constructor(options: CustomToolsOptions) {
    this.#options = options;
    this.#roster = new ToolRoster(options.registry, options.sessionId);
    this.#places = new ToolPlaces(async (...file) => (await this.#load()).loadFile(...file));
  }

  /** What is wrong with files. */
  get problems(): readonly LoadProblem[] {
    return this.#places.problems;
  }

  /** The folders in which a change may make others of the tools. */
  get folders(): readonly string[] {
    return this.#places.folders;
  }

  /** Files of tools that are not loaded, because they are not to be trusted. */
  get withheld(): readonly string[] {
    return this.#places.withheld;
  }

  /** Loads what has changed on disk. Settles when the registered tools are those on disk. Never rejects. */
  refresh(): Promise<void> {
    return this.#queue(() => this.#update(false));
  }

  /** Loads everything anew. Never rejects. */
  reload(): Promise<void> {
    return this.#queue(() => this.#update(true));
  }

  /**
   * Registers what a factory of another extension makes. Disposing of it removes the tools, and lets those of their previews
   * expire that nobody could apply any more.
   */
  register(factory: CustomToolFactory, cwd: string): Disposable {
    let isGone = false;
    let loaded: LoadedTools | undefined;
    void this.#queue(async () => {
      if (isGone) return;
      const made = await (await this.#load()).loadFactory(factory, cwd);
      if (isGone) return this.#withdraw(made.owner);
      loaded = made;
      this.#brought.add(made);
      this.#apply();
    });
    return {
      dispose: () => {
        isGone = true;
        if (!loaded || !this.#brought.delete(loaded) || this.#disposed) return;
        this.#apply();
        this.#withdraw(loaded.owner);
      },
    };
  }

  /**
   * Reports an error that nobody caught to the tool whose code threw it, if one's did. To be called where such errors are
   * told: what was running then is known there, and else the stack may name a file.
   */
  blame(error: unknown): void {
    const isTheirs = ({ origin }: ToolOwner): boolean =>
      origin.kind === 'file' && isThrownIn(error, origin.file);
    const owners = this.#places.files.map(({ owner }) => owner);
    const thrower = this.#loader?.runningOwner ?? owners.find(isTheirs);
    thrower?.report({ kind: 'threwLater', message: messageOf(error) }, error);
  }

  /** Tells every tool that the session gave way to another one, or ended. */
  tellSession(event: CustomToolSessionEvent): void {
    this.#roster.tell(event);
  }

  dispose(): void {
    this.#disposed = true;
    this.#roster.replace([]);
    this.#changed.dispose();
    const stop = (loader: ToolLoader): void => loader.dispose();
    void this.#loading?.then(stop, () => undefined);
  }

  async #update(everything: boolean): Promise<void> {
    if (await this.#places.update(this.#options.places(), everything)) this.#apply();
  }

  #apply(): void {
    if (this.#disposed) return;
    this.#roster.replace([...this.#brought, ...this.#places.files]);
    this.#changed.fire();
  }

  /** Its extension is gone, and what that began must not stage anything any more. */
  #withdraw(owner: ToolOwner): void {
    owner.state = 'removed';
    for (const id of owner.staged) this.#options.expire(id);
  }

  /** One after the other: what is asked for while something loads sees the disk as it is after that. */
  #queue(work: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(async () => {
      if (this.#disposed) return;
      try {
        await work();
      } catch (error) {
        this.#options.logger.error(`Loading custom tools failed: ${detailOf(error)}`);
      }
    });
    return this.#work;
  }

  #load(): Promise<ToolLoader> {
    const { loader } = this.#options;
    return (this.#loading ??= loader(() => this.#changed.fire()).then(made => (this.#loader = made)));
  }
}
