import type { Disposable } from '../../../base/disposable.ts';
import { detailOf, messageOf } from '../../../base/errors.ts';
import { Emitter, type Event } from '../../../base/event.ts';
import type { Logger } from '../../../base/logger.ts';
import type { ToolRegistry } from '../registry.ts';
import { isThrownIn, type LoadProblem } from './loading/loadProblem.ts';
import type { ToolPlace } from './loading/toolFiles.ts';
import type { LoadedTools, ToolLoader } from './loading/toolLoader.ts';
import { ToolPlaces } from './loading/toolPlaces.ts';
import type { CustomToolFactory, CustomToolSessionEvent } from '../../../../../examples/tools/redline.d.ts';
import { RegisteredTools } from './registeredTools.ts';
import type { ToolOwner } from './toolOwner.ts';

export interface CustomToolsOptions {
  readonly registry: ToolRegistry;
  /**
   * The places of tools, asked for at each update. If two tools have the same name, the one in the earlier place gets
   * it.
   */
  readonly places: () => readonly ToolPlace[];
  /**
   * Creates the loader when there is something to load for the first time. The loader calls `onProblem` for each new
   * problem.
   */
  readonly loader: (onProblem: () => void) => Promise<ToolLoader>;
  /** The id of the current session. */
  readonly sessionId: () => string;
  /** Expires a preview whose callbacks are gone. */
  readonly expire: (previewId: string) => void;
  readonly logger: Logger;
}

/**
 * The custom tools: tools in files, kept in step with the disk, and tools that other extensions register. Calls that are running
 * when their tool is replaced or removed continue to their end.
 */
export class CustomTools implements Disposable {
  readonly #options: CustomToolsOptions;
  readonly #places: ToolPlaces;
  readonly #registered: RegisteredTools;
  readonly #changed = new Emitter<void>();
  /** Tools of other extensions, in the order of registration. They take their names before those of files. */
  readonly #fromExtensions = new Set<LoadedTools>();
  #loading: Promise<ToolLoader> | undefined;
  #loader: ToolLoader | undefined;
  #work: Promise<void> = Promise.resolve();
  #disposed = false;

  /** Tools came or went, or {@link problems} or {@link withheld} changed. */
  readonly onDidChange: Event<void> = this.#changed.event;

  constructor(options: CustomToolsOptions) {
    this.#options = options;
    this.#registered = new RegisteredTools(options.registry, options.sessionId);
    this.#places = new ToolPlaces(async (...file) => (await this.#load()).loadFile(...file));
  }

  /** The problems of all files. */
  get problems(): readonly LoadProblem[] {
    return this.#places.problems;
  }

  /** The folders to watch: a change in them may change the tools. */
  get folders(): readonly string[] {
    return this.#places.folders;
  }

  /** Files of tools that are not loaded because their workspace is not trusted. */
  get withheld(): readonly string[] {
    return this.#places.withheld;
  }

  /** Loads the files that have changed on disk. Settles when the registered tools match the disk. Never rejects. */
  refresh(): Promise<void> {
    return this.#queue(() => this.#update('changed'));
  }

  /** Loads everything again. Never rejects. */
  reload(): Promise<void> {
    return this.#queue(() => this.#update('everything'));
  }

  /**
   * Registers the tools that a factory of another extension makes. Disposing of the result removes them and expires their previews
   * that can no longer be applied.
   */
  register(factory: CustomToolFactory, cwd: string): Disposable {
    let isGone = false;
    let loaded: LoadedTools | undefined;
    void this.#queue(async () => {
      if (isGone) return;
      const made = await (await this.#load()).loadFactory(factory, cwd);
      if (isGone) return this.#withdraw(made.owner);
      loaded = made;
      this.#fromExtensions.add(made);
      this.#apply();
    });
    return {
      dispose: () => {
        isGone = true;
        if (!loaded || !this.#fromExtensions.delete(loaded) || this.#disposed) return;
        this.#apply();
        this.#withdraw(loaded.owner);
      },
    };
  }

  /**
   * Reports an uncaught error to the tool whose code threw it, if it was a tool's. To be called from the handler of such
   * errors, where the async context still tells which tool was running; otherwise the stack may name a tool's file.
   */
  reportUncaught(error: unknown): void {
    const hasThrown = ({ origin }: ToolOwner): boolean =>
      origin.kind === 'file' && isThrownIn(error, origin.file);
    const owners = this.#places.files.map(({ owner }) => owner);
    const thrower = this.#loader?.runningOwner ?? owners.find(hasThrown);
    thrower?.report({ kind: 'threwLater', message: messageOf(error) }, error);
  }

  /** Tells every tool that the session was switched or has ended. */
  sendSessionEvent(event: CustomToolSessionEvent): void {
    this.#registered.sendSessionEvent(event);
  }

  dispose(): void {
    this.#disposed = true;
    this.#registered.replace([]);
    this.#changed.dispose();
    const stop = (loader: ToolLoader): void => loader.dispose();
    void this.#loading?.then(stop, () => undefined);
  }

  async #update(what: 'changed' | 'everything'): Promise<void> {
    if (await this.#places.update(this.#options.places(), what === 'everything')) this.#apply();
  }

  #apply(): void {
    if (this.#disposed) return;
    this.#registered.replace([...this.#fromExtensions, ...this.#places.files]);
    this.#changed.fire();
  }

  /**
   * Ends a tool that its extension has removed: the previews of the tool expire, and code of it that still runs can no
   * longer stage.
   */
  #withdraw(owner: ToolOwner): void {
    owner.state = 'removed';
    for (const id of owner.staged) this.#options.expire(id);
  }

  /** Runs updates one after the other, so that each sees the disk as it is after the one before. */
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
