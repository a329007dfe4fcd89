import { spawn, type ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import * as path from 'node:path';
import { listen } from '../../base/aliveSocket.ts';
import { programCall } from '../../base/system/programCall.ts';
import { isInside } from '../../base/system/realPath.ts';
import { withVariables } from '../../base/system/environment.ts';
import { StartedProcesses, type KnownProcesses } from '../../base/system/startedProcesses.ts';
import { passOn } from '../../sandbox/view/firstProcess.ts';
import type { Folders } from '../../sandbox/view/pathNames.ts';

interface CopyOptions {
  readonly copies: readonly Folders[];
  /** See `wallAround`; empty for none. */
  readonly wall: readonly string[];
  readonly program: readonly string[];
  /** The folder of the workspace in whose copy it starts. */
  readonly cwd: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** A program that works in copies of the folders, at this terminal, with a socket that shows that it is alive. */
export class CopyProgram {
  /** Where it answers as long as it runs; `undefined` if it could not be started. */
  readonly entered: Promise<string | undefined>;
  readonly ended: Promise<{ readonly exitCode: number | undefined }>;
  readonly #closed = Promise.withResolvers<void>();
  readonly #processes = new StartedProcesses();
  #child: ChildProcess | undefined;
  #isStopped = false;

  constructor(options: CopyOptions) {
    const ended = Promise.withResolvers<{ readonly exitCode: number | undefined }>();
    this.ended = ended.promise;
    this.entered = this.#start(options, exitCode => ended.resolve({ exitCode }));
  }

  /** Its processes, to end them if this program is killed. */
  known(): Promise<KnownProcesses | undefined> {
    return this.#processes.known();
  }

  /** Passes a signal on to the program, which may go on. On Windows, the system does that by itself. */
  async pass(signal: NodeJS.Signals): Promise<void> {
    if (this.#child?.pid === undefined) this.stop();
    else if (process.platform !== 'win32') await passOn(signal, this.#child.pid);
  }

  /** Ends the program with all that it has started. */
  stop(): void {
    this.#isStopped = true;
    void this.#processes.end('all');
  }

  /** Closes the socket, and waits for the program to end. */
  async release(): Promise<void> {
    this.#closed.resolve();
    await this.ended;
  }

  async #start(options: CopyOptions, end: (code?: number) => void): Promise<string | undefined> {
    const alive = await listen();
    if (!alive || this.#isStopped) {
      alive?.dispose();
      return void end();
    }
    void this.#closed.promise.then(() => alive.dispose());
    const { copies, wall, cwd } = options;
    const { root, copy } = copies.find(each => isInside(cwd, each.root)) ?? { root: cwd, copy: cwd };
    const folder = path.join(copy, path.relative(root, cwd));
    const env = withVariables(options.environment, {
      PWD: folder,
      // Git must find no repository but the copy's own.
      GIT_DIR: null,
      GIT_WORK_TREE: null,
      GIT_INDEX_FILE: null,
      GIT_COMMON_DIR: null,
      GIT_CEILING_DIRECTORIES: copies.map(each => path.dirname(each.copy)).join(path.delimiter),
      ...this.#processes.variables,
    });
    const [name = '', ...args] = [...wall, ...options.program];
    const call = programCall(name, args, folder, env);
    const child = spawn(call.program, call.args, {
      cwd: folder,
      env,
      stdio: 'inherit',
      windowsVerbatimArguments: call.isVerbatim,
    });
    this.#child = child;
    this.#processes.own(child);
    child.once('exit', (code, signal) => {
      // Like a mounted view, the copy goes when the program ends, so nothing may be left that writes in it.
      void this.#processes.end('all').then(() => end(code ?? 128 + (signal ? constants.signals[signal] : 0)));
    });
    return new Promise(resolve => {
      child.once('spawn', () => resolve(alive.address));
      child.once('error', () => {
        end();
        resolve(undefined);
      });
    });
  }
}
