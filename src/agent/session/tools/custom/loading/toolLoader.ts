import { readFile } from 'node:fs/promises';
import { inTime } from '../../../../base/async.ts';
import type { Disposable } from '../../../../base/disposable.ts';
import { messageOf } from '../../../../base/errors.ts';
import { CurrentTool } from '../currentTool.ts';
import { createCustomTool, type LoadedTool } from '../customTool.ts';
import { guardExit } from '../exitGuard.ts';
import { createPi, type ToolHost } from '../pi.ts';
import type { CustomToolFactory } from '../../../../../../examples/tools/redline.d.ts';
import { ToolOwner, type OwnerOrigin } from '../toolOwner.ts';
import { importFile } from './importFile.ts';
import type { LoadFault } from './loadProblem.ts';

const TIMEOUT_MS = 10_000;

/** The tools of a file or a factory. */
export interface LoadedTools {
  readonly owner: ToolOwner;
  readonly tools: readonly LoadedTool[];
}

export interface ToolLoaderOptions {
  readonly host: ToolHost;
  /** Called for each new problem of an owner: while it is loaded, or later when its code throws. */
  readonly onProblem: () => void;
  /** How long the import may take, and then the factory, in milliseconds. Default: 10 s. */
  readonly timeoutMs?: number;
}

/** Runs the files and factories that make custom tools. Loading never rejects: faults go to the owner of the tools. */
export class ToolLoader implements Disposable {
  readonly #options: ToolLoaderOptions;
  readonly #currentTool = new CurrentTool();
  readonly #guard: Disposable;

  constructor(options: ToolLoaderOptions) {
    this.#options = options;
    this.#guard = guardExit(this.#currentTool);
  }

  /**
   * The owner of the running code, also in the handler of an uncaught error; `undefined` if it is not a custom tool's.
   */
  get runningOwner(): ToolOwner | undefined {
    return this.#currentTool.owner;
  }

  /**
   * Loads the tools of a file, read from disk again.
   * @param root imports of the file from below this folder are read again, too.
   * @param cwd the `pi.cwd` of its tools.
   */
  async loadFile(file: string, root: string, cwd: string): Promise<LoadedTools> {
    const source = await readFile(file, 'utf8').catch(() => '');
    const owner = this.#ownerOf({ kind: 'file', file, source });
    let module: unknown;
    try {
      module = await this.#inTime(owner, () => importFile(file, root));
    } catch (error) {
      owner.report(lateOr(error, { kind: 'importFailed', message: messageOf(error) }), error);
      return { owner, tools: [] };
    }
    const factory = factoryOf(module);
    if (typeof factory === 'function') return this.#runFactory(owner, factory as CustomToolFactory, cwd);
    owner.report({ kind: factory === undefined ? 'noDefaultExport' : 'noFactory' });
    return { owner, tools: [] };
  }

  /** Loads the tools of another extension's factory. Their faults go to the log only. */
  loadFactory(factory: CustomToolFactory, cwd: string): Promise<LoadedTools> {
    return this.#runFactory(this.#ownerOf({ kind: 'extension' }), factory, cwd);
  }

  dispose(): void {
    this.#guard.dispose();
  }

  async #runFactory(owner: ToolOwner, factory: CustomToolFactory, cwd: string): Promise<LoadedTools> {
    const { host } = this.#options;
    const currentTool = this.#currentTool;
    const environment = { owner, cwd, currentTool, host };
    try {
      const pi = createPi(owner, cwd, currentTool, host);
      const given: unknown = await this.#inTime(owner, async () => factory(pi));
      const tools = (Array.isArray(given) ? given : [given]).flatMap((definition: unknown, index) => {
        try {
          return createCustomTool(definition, environment);
        } catch (error) {
          owner.report({ kind: 'invalidTool', index, message: messageOf(error) });
          return [];
        }
      });
      return { owner, tools };
    } catch (error) {
      owner.report(lateOr(error, { kind: 'factoryThrew', message: messageOf(error) }), error);
      return { owner, tools: [] };
    } finally {
      owner.state = 'loaded';
    }
  }

  #ownerOf(origin: OwnerOrigin): ToolOwner {
    const { host, onProblem } = this.#options;
    return new ToolOwner(origin, host.logger, onProblem);
  }

  /** Runs code of the owner; rejects with a `LateError` if it does not settle in time. */
  #inTime<T>(owner: ToolOwner, work: () => Promise<T>): Promise<T> {
    const { timeoutMs = TIMEOUT_MS } = this.#options;
    const late = (): never => {
      throw new LateError(timeoutMs / 1_000);
    };
    return inTime(timeoutMs, () => this.#currentTool.run(owner, undefined, work), late);
  }
}

/** An import or a factory did not settle in time. */
class LateError extends Error {
  readonly seconds: number;

  constructor(seconds: number) {
    super(`It did not settle within ${seconds} s.`);
    this.seconds = seconds;
  }
}

function lateOr(error: unknown, fault: LoadFault): LoadFault {
  return error instanceof LateError ? { kind: 'timedOut', seconds: error.seconds } : fault;
}

/** The default export of a module; for CommonJS its exports. */
function factoryOf(module: unknown): unknown {
  if (typeof module === 'function') return module;
  if (typeof module !== 'object' || module === null || !('default' in module)) return undefined;
  // A module without a default export may name itself as the default.
  return module.default === module ? undefined : module.default;
}
