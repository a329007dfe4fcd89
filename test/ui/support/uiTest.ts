import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Workbench, type WorkbenchOptions } from '../../../scripts/headless/workbench.mjs';
import { inRepo } from '../../../scripts/lib/paths.mjs';
import {
  startScriptedServer,
  type Script,
  type ScriptedServer,
  type ScriptedServerOptions,
} from '../../support/scriptedServer.ts';

/** The longest a test may take, in milliseconds. */
const TIMEOUT_MS = 120_000;

/**
 * A test with a VS Code of its own: the packaged extension, a fresh profile and a fresh copy of the example workspace.
 * When it fails, a picture of the window is kept in out/ui-failures, and the extension's log is printed.
 */
export function uiTest(
  name: string,
  options: WorkbenchOptions,
  body: (workbench: Workbench) => Promise<void>,
): void {
  test(name, { timeout: TIMEOUT_MS }, async t => {
    const workbench = await Workbench.open({ pictures: inRepo('out', 'ui-failures'), ...options });
    try {
      await body(workbench);
    } catch (error) {
      t.diagnostic(`picture: ${await workbench.screenshot(name)}`);
      t.diagnostic(workbench.extensionLog());
      throw error;
    } finally {
      await workbench.close();
    }
  });
}

export interface ModelTestOptions {
  readonly server?: ScriptedServerOptions;
  readonly workbench?: WorkbenchOptions;
}

/** A {@link uiTest} whose model follows the script. It also fails if Redline sent an invalid request. */
export function modelTest(
  name: string,
  script: Script,
  body: (workbench: Workbench, server: ScriptedServer) => Promise<void>,
  options: ModelTestOptions = {},
): void {
  test(name, { timeout: TIMEOUT_MS }, async t => {
    const server = await startScriptedServer(script, options.server);
    const { settings, ...others } = options.workbench ?? {};
    const workbench = await Workbench.open({
      pictures: inRepo('out', 'ui-failures'),
      settings: { 'redline.openai.baseUrl': server.baseUrl, 'redline.openai.model': 'scripted', ...settings },
      ...others,
    });
    try {
      await body(workbench, server);
      assert.deepEqual(server.violations, []);
    } catch (error) {
      t.diagnostic(`picture: ${await workbench.screenshot(name)}`);
      t.diagnostic(workbench.extensionLog());
      throw error;
    } finally {
      await workbench.close();
      await server.close();
    }
  });
}
