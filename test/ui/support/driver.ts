import { createVSIX } from '@vscode/vsce';
import { readFile } from 'node:fs/promises';
import type * as nodeFs from 'node:fs';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type * as vscode from 'vscode';
import { Workbench, type WorkbenchOptions } from './workbench.mjs';
import { temporaryFolder } from '../../../scripts/lib/cleanup.mjs';
import { limitMs, polled } from '../../../scripts/lib/limits.mjs';
import type { RedlineApi } from '../../../src/views/api.ts';

/** What a function that runs in the extension host gets. It cannot use variables of the test. */
export interface HostTools {
  readonly api: RedlineApi;
  readonly vscode: typeof vscode;
  readonly fs: typeof nodeFs;
  /** Redline's folder in VS Code's storage for the workspace. */
  readonly storage: string;
  /** Values that functions keep between calls; empty when the extension host starts. */
  readonly kept: Record<string, unknown>;
}

interface Address {
  readonly port: number;
  readonly pid: number;
}

/** The longest an extension host may take to start, in milliseconds. */
const READY_MS = 60_000;
/** After this, a window that still has other folders than its workspace names is reloaded. */
const REREAD_MS = 3_000;
const POLL_MS = 25;

/** The driver's package, made once for the tests of a file. */
let driver: Promise<string> | undefined;

/** A {@link Workbench} whose extension host runs functions of a test or a benchmark, and can be killed. */
export class DrivenWorkbench {
  readonly workbench: Workbench;
  #address: Address;

  /** Starts a VS Code for this alone. Tests use `drivenTest`, which is faster. */
  static async open(options: WorkbenchOptions = {}): Promise<DrivenWorkbench> {
    return DrivenWorkbench.of(await Workbench.open(await withDriver(options)));
  }

  /** Waits for the driver in a window that was opened with it: see {@link withDriver}. */
  static async of(workbench: Workbench): Promise<DrivenWorkbench> {
    return new DrivenWorkbench(workbench, await nextAddress(workbench, undefined));
  }

  private constructor(workbench: Workbench, address: Address) {
    this.workbench = workbench;
    this.#address = address;
  }

  /**
   * Runs a function in the extension host. Its source text is sent there, so it can use its arguments only.
   * @throws what it throws, as text; a connection error when the extension host ends before the function.
   */
  async run<A, R>(callee: (tools: HostTools, argument: A) => R | Promise<R>, argument?: A): Promise<R> {
    const response = await fetch(`http://127.0.0.1:${this.#address.port}`, {
      method: 'POST',
      body: JSON.stringify({ code: callee.toString(), argument }),
    });
    const answer = (await response.json()) as { value: R } | { error: string };
    if ('error' in answer) throw new Error(answer.error);
    return answer.value;
  }

  /**
   * Runs a function again and again until it returns a value other than undefined, null and false.
   * @param what the wait is for, for the error when the time is up
   */
  async until<A, R>(
    what: string,
    callee: (tools: HostTools, argument: A) => R | Promise<R>,
    argument?: A,
  ): Promise<Exclude<R, undefined | null | false>> {
    return polled(what, () => this.run(callee, argument));
  }

  /** Kills the extension host, which cannot save anything before. */
  kill(): void {
    process.kill(this.#address.pid, 'SIGKILL');
  }

  /**
   * Waits until a window that has just been opened has the folders that its workspace names. It first opens those that it
   * remembers of its workspace, then reads the workspace's file, and restarts the extension host if they have changed. Sometimes it only
   * remembers what it has read, for the next time; then it is reloaded.
   */
  async untilFolders(wanted: readonly string[]): Promise<void> {
    const deadline = Date.now() + limitMs(READY_MS);
    let reloadAt = Infinity;
    for (;;) {
      try {
        this.#address = await nextAddress(this.workbench, undefined);
        const folders = await this.run(({ vscode }) =>
          (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath),
        );
        if (isDeepStrictEqual(folders, wanted)) return;
        reloadAt = Math.min(reloadAt, Date.now() + REREAD_MS);
      } catch (error) {
        if (Date.now() > deadline) throw error; // else the extension host is being restarted
      }
      if (Date.now() > deadline)
        throw new Error(`Timed out waiting for the window to have the folders ${wanted.join(', ')}.`);
      if (Date.now() > reloadAt) {
        await this.workbench.reload();
        reloadAt = Infinity;
      }
      await delay(POLL_MS);
    }
  }

  /** Reloads the window, with a new extension host on the same storage. */
  async reload(): Promise<void> {
    await this.workbench.reload();
    this.#address = await nextAddress(this.workbench, this.#address.pid);
  }

  /** Ends VS Code, calls `whileClosed` and starts it again on the same storage. */
  async restart(whileClosed?: () => void): Promise<void> {
    await this.workbench.restart(whileClosed);
    this.#address = await nextAddress(this.workbench, this.#address.pid);
  }

  async close(): Promise<void> {
    await this.workbench.close();
  }
}

/** Waits until the driver listens in an extension host other than `oldPid`, and returns its address. */
async function nextAddress({ userDataDir }: Workbench, oldPid: number | undefined): Promise<Address> {
  const file = path.join(userDataDir, 'User', 'globalStorage', 'redline-test.driver', 'address.json');
  const read = async (): Promise<Address | undefined> => {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    const address = text === undefined ? undefined : (JSON.parse(text) as Address);
    return address?.pid === oldPid ? undefined : address;
  };
  return polled('the test driver to start in the extension host', read, READY_MS);
}

/** Options that also install the driver. */
export async function withDriver(options: WorkbenchOptions): Promise<WorkbenchOptions> {
  driver ??= packDriver();
  return { ...options, extensions: [await driver] };
}

async function packDriver(): Promise<string> {
  const packagePath = path.join(temporaryFolder('redline-driver-package-'), 'driver.vsix');
  await createVSIX({
    cwd: path.resolve(import.meta.dirname, '../../support/driver'),
    packagePath,
    dependencies: false,
    allowMissingRepository: true,
    skipLicense: true,
  });
  return packagePath;
}
