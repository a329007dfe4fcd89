import { readFile } from 'node:fs/promises';
import { messageOf } from '../../base/errors.ts';
import type { Disposable } from '../../base/disposable.ts';
import { customTool, type LoadedTool } from './customTool.ts';
import { guardExit } from './exitGuard.ts';
import { importFile } from './importFile.ts';
import type { LoadFault } from './loadProblem.ts';
import { createPi } from './pi.ts';
import type { CustomToolFactory } from './redline.d.ts';
import type { ToolHost } from './toolHost.ts';
import { ToolOwner, type OwnerOrigin } from './toolOwner.ts';
import { ToolScopes } from './toolScopes.ts';

const PATIENCE_MS = 10_000;

/** What a file or a factory gave. */
export interface LoadedTools {
  readonly owner: ToolOwner;
  readonly tools: readonly LoadedTool[];
}

export interface ToolLoaderOptions {
  readonly host: ToolHost;
  /** An owner has one problem more: while it is loaded, or later when its code misbehaves. */
  readonly onProblem: () => void;
  /** How long an import, and the factory after it, may take, in milliseconds. Default: 10 s. */
  readonly patience?: number;
}

/** Runs the files and factories that make custom tools. Whatever these do, loading them never rejects. */
export class ToolLoader implements Disposable {
  readonly #options: ToolLoaderOptions;
  readonly #scopes = new ToolScopes();
  readonly #guard: Disposable;

  constructor(options: ToolLoaderOptions) {
    this.#options = options;
    this.#guard = guardExit(this.#scopes);
  }

  /** Whose code is running, also where it threw what nobody caught; `undefined` for all code that is no custom tool's. */
  get runningOwner(): ToolOwner | undefined {
    return this.#scopes.owner;
  }

  /**
   * Loads the tools of a file, read anew.
   * @param root the folder that the file's own helpers lie in.
   * @param cwd where its tools work.
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
    if (typeof factory === 'function') return this.#make(owner, factory as CustomToolFactory, cwd);
    owner.report({ kind: factory === undefined ? 'noDefaultExport' : 'noFactory' });
    return { owner, tools: [] };
  }

  /** Loads the tools of a factory that another extension brought; what is wrong with them stands in the log. */
  loadFactory(factory: CustomToolFactory, cwd: string): Promise<LoadedTools> {
    return this.#make(this.#ownerOf({ kind: 'extension' }), factory, cwd);
  }

  dispose(): void {
    this.#guard.dispose();
  }

  async #make(owner: ToolOwner, factory: CustomToolFactory, cwd: string): Promise<LoadedTools> {
    const { host } = this.#options;
    const scopes = this.#scopes;
    const surroundings = { owner, cwd, scopes, host };
    try {
      const pi = createPi(owner, cwd, scopes, host);
      const given: unknown = await this.#inTime(owner, async () => factory(pi));
      const tools = (Array.isArray(given) ? given : [given]).flatMap((definition: unknown, index) => {
        try {
          return customTool(definition, surroundings);
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

  /** Runs code of the owner, and gives up on what does not settle. */
  async #inTime<T>(owner: ToolOwner, work: () => Promise<T>): Promise<T> {
    const { patience = PATIENCE_MS } = this.#options;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new LateError(patience / 1_000)), patience);
    });
    try {
      return await Promise.race([this.#scopes.run(owner, undefined, work), late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** It did not settle in time. */
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

/** The default export, also of a CommonJS module, whose exports are it. */
function factoryOf(module: unknown): unknown {
  if (typeof module === 'function') return module;
  if (typeof module !== 'object' || module === null || !('default' in module)) return undefined;
  // What has no default export of its own may stand in for one.
  return module.default === module ? undefined : module.default;
}
