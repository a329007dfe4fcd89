import { createVSIX } from '@vscode/vsce';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type * as nodeFs from 'node:fs';
import { test } from 'node:test';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type * as vscode from 'vscode';
import { inRepo } from '../../../scripts/lib/paths.mjs';
import { Workbench, type WorkbenchOptions } from '../../../scripts/lib/workbench.mjs';
import type { RedlineApi } from '../../../src/views/api.ts';

/** What a function that runs in the extension host is given; it sees nothing else of the test. */
export interface HostTools {
  readonly api: RedlineApi;
  readonly vscode: typeof vscode;
  readonly fs: typeof nodeFs;
  /** Redline's folder in the workspace's storage. */
  readonly storage: string;
  /** Empty when the extension host starts; kept between calls. */
  readonly kept: Record<string, unknown>;
}

interface Address {
  readonly port: number;
  readonly pid: number;
}

/** The longest a test may take, in milliseconds: a busy machine starts VS Code in half a minute. */
const TEST_MS = 240_000;
/** How long an extension host may take to be ready, in milliseconds. */
const READY_MS = 60_000;
const STEP_MS = 20_000;
const POLL_MS = 25;

/** A {@link Workbench} whose extension host runs functions of the test, and can be killed. */
export class DrivenWorkbench {
  readonly workbench: Workbench;
  readonly #folder: string;
  #address: Address;

  static async open(options: WorkbenchOptions = {}): Promise<DrivenWorkbench> {
    const folder = await mkdtemp(path.join(tmpdir(), 'redline-driver-'));
    const driver = path.join(folder, 'driver.vsix');
    await createVSIX({
      cwd: path.resolve(import.meta.dirname, '../../support/driver'),
      packagePath: driver,
      dependencies: false,
      allowMissingRepository: true,
      skipLicense: true,
    });
    const env = { ...options.env, REDLINE_DRIVER_FILE: path.join(folder, 'driver.json') };
    const workbench = await Workbench.open({ ...options, env, extensions: [driver] });
    return new DrivenWorkbench(workbench, folder, await nextAddress(folder, undefined));
  }

  private constructor(workbench: Workbench, folder: string, address: Address) {
    this.workbench = workbench;
    this.#folder = folder;
    this.#address = address;
  }

  /**
   * Runs a function in the extension host. It is sent as text: it sees its arguments and nothing of the test.
   * @throws what it throws, as text; an error of the connection when the extension host ends before it does.
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
   * Asks until the answer is not undefined or null, for a while.
   * @param what names it in the error when the time is over
   */
  async until<A, R>(
    what: string,
    callee: (tools: HostTools, argument: A) => R | Promise<R>,
    argument?: A,
  ): Promise<NonNullable<R>> {
    const deadline = Date.now() + STEP_MS;
    for (;;) {
      const value = await this.run(callee, argument);
      if (value !== undefined && value !== null) return value;
      if (Date.now() > deadline) throw new Error(`Timed out waiting for ${what}.`);
      await delay(POLL_MS);
    }
  }

  /** Kills the extension host, with no chance to save anything. */
  kill(): void {
    process.kill(this.#address.pid, 'SIGKILL');
  }

  /** A new window with a new extension host, on the same storage. */
  async reload(): Promise<void> {
    await this.workbench.reload();
    this.#address = await nextAddress(this.#folder, this.#address.pid);
  }

  /** VS Code ended and started anew, on the same storage. */
  async restart(): Promise<void> {
    await this.workbench.restart();
    this.#address = await nextAddress(this.#folder, this.#address.pid);
  }

  async close(): Promise<void> {
    await this.workbench.close();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/**
 * A test with a {@link DrivenWorkbench} of its own. When it fails, a picture of the window and the extension's log are
 * kept in out/ui-failures.
 */
export function drivenTest(
  name: string,
  options: WorkbenchOptions,
  body: (driven: DrivenWorkbench) => Promise<void>,
): void {
  test(name, { timeout: TEST_MS }, async t => {
    const driven = await DrivenWorkbench.open({ pictures: inRepo('out', 'ui-failures'), ...options });
    try {
      await body(driven);
    } catch (error) {
      t.diagnostic(`picture: ${await driven.workbench.screenshot(name)}`);
      t.diagnostic(driven.workbench.extensionLog());
      throw error;
    } finally {
      await driven.close();
    }
  });
}

/** Where the driver of an extension host other than `oldPid` listens, once it does. */
async function nextAddress(folder: string, oldPid: number | undefined): Promise<Address> {
  const deadline = Date.now() + READY_MS;
  for (;;) {
    const text = await readFile(path.join(folder, 'driver.json'), 'utf8').catch(() => undefined);
    const address = text === undefined ? undefined : (JSON.parse(text) as Address);
    if (address && address.pid !== oldPid) return address;
    if (Date.now() > deadline) throw new Error('The test driver did not start in the extension host.');
    await delay(POLL_MS);
  }
}
